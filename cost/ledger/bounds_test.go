package ledger_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// bad are texts that some database refuses, or that are too long.
var bad = []string{"\x00", "a\x00b", "\xff", "\xed\xa0\x80", strings.Repeat("x", 10_000), strings.Repeat("\x00", 10_000), strings.Repeat("a\xff", 5_000), strings.Repeat("€", 5_000)}

// spoil puts a text into every string of a row.
func spoil(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		for _, field := range v.Fields() {
			spoil(field, text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i), text)
		}
	}
}

// texts calls f for every string in a value, with the name of its field.
func texts(v reflect.Value, name string, f func(name, text string)) {
	switch v.Kind() {
	case reflect.String:
		f(name, v.String())
	case reflect.Pointer:
		if !v.IsNil() {
			texts(v.Elem(), name, f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				texts(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name, f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts(v.Index(i), name, f)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			texts(k, name, f)
		}
	}
}

// Every text of a batch is one that every database takes, and is of bounded length but where it comes from the configuration.
func TestTextsAreMadeGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{})
		for _, text := range bad {
			b := begun(w, "key", 1)
			e, c, d := ended(b, 1), corrected(b, 1), &ledger.Draw{Exchange: b.Exchange, Step: 1, Charges: []ledger.Charge{{}}}
			n, p := ledger.Notice{}, ledger.PriceCard{}
			b.Charges = append([]ledger.Charge(nil), b.Charges...)
			for _, row := range []any{b, d, e, c, &n, &p} {
				spoil(reflect.ValueOf(row).Elem(), text)
			}
			w.Begin(b)
			w.Draw(d)
			w.End(e)
			w.Correct([]*ledger.Correction{c})
			w.Notify(n)
			w.Price(p)
			w.Refused(text, text, text)
		}
		stopped(t, stop)
		m.balanced()
		m.look(func() {
			for _, c := range m.committed {
				texts(reflect.ValueOf(c.batch), "batch", func(name, text string) {
					long := name == "Series.Groups" || name == "PriceCard.Card"
					if !utf8.ValidString(text) || strings.Contains(text, "\x00") || len(text) > 256 && !long {
						t.Errorf("%s is %.20q…, %d bytes", name, text, len(text))
					}
				})
			}
		})
	})
}

// Budgets whose names are too long stay apart, and are found by the name the ledger has for them.
func TestLongNamesOfBudgetsStayApart(t *testing.T) {
	long := strings.Repeat("a key with a long name ", 20)
	one, other := ledger.BudgetName(long+"200k tokens per minute"), ledger.BudgetName(long+"$5 each day")
	if one == other || len(one) > 256 || len(other) > 256 || !strings.HasPrefix(one, "a key with a long name") {
		t.Errorf("%q, %q", one, other)
	}
	for _, name := range []string{"key alice: 200k tokens per minute", "", strings.Repeat("x", 256), one} {
		if got := ledger.BudgetName(name); got != name {
			t.Errorf("%q becomes %q", name, got)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{})
		for _, name := range []string{long + "1", long + "2"} {
			b := begun(w, name, 3)
			w.Begin(b)
			w.End(ended(b, 3))
		}
		stopped(t, stop)
		m.look(func() {
			for s := range m.slots {
				if s.Budget.Name != ledger.BudgetName(long+"1") && s.Budget.Name != ledger.BudgetName(long+"2") || len(m.slots) != 2 {
					t.Errorf("slots %v", m.slots)
				}
			}
		})
	})
}

// No figure is so large that a few thousand of them do not fit in 64 bits.
func TestFiguresAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{})
		for _, n := range []int64{math.MaxInt64, math.MinInt64} {
			b := begun(w, "key", n)
			b.Estimate = cost.Estimate{MaxOutput: n, Beyond: n, HostedFee: cost.NanoUSD(n), Fees: cost.NanoUSD(n)}
			w.Begin(b)
			w.Draw(&ledger.Draw{Exchange: b.Exchange, Step: 1, More: cost.Usage{Output: n, Fees: cost.NanoUSD(n)}, Reserved: cost.NanoUSD(n)})
			w.End(ended(b, n))
			w.Correct([]*ledger.Correction{corrected(b, n)})
		}
		stopped(t, stop)
		m.balanced()
		m.look(func() {
			for _, c := range m.committed {
				for _, b := range c.batch.Begins {
					e := b.Estimate
					for _, n := range []int64{b.Most.Input, int64(b.Reserved), b.Charges[0].N, e.MaxOutput, e.Beyond, int64(e.HostedFee), int64(e.Fees)} {
						if n > 1<<50 || n < -1<<50 {
							t.Errorf("a begin row says %d", n)
						}
					}
				}
				for _, e := range c.batch.Ends {
					if n := e.Usage.Input; n > 1<<50 || n < -1<<50 || int64(e.Cost) != n || e.Charges[0].N != n {
						t.Errorf("an end row says %+v", e)
					}
				}
			}
		})
	})
}
