package ledgertest

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// hostile are texts that databases dislike.
var hostile = []string{
	"", "\x00", "a\x00b", "\xff\xfe", "half a rune \xe2\x82", "\xed\xa0\x80", "'; DROP TABLE begins; --", "?", "$1", "\\", "\"", "😀👩‍👩‍👧", "\u202e", "\u0000\uffff",
	strings.Repeat("x", 10_000), strings.Repeat("\x00", 10_000), strings.Repeat("\xff", 10_000), strings.Repeat("😀", 2_500), strings.Repeat("é", 127) + "x€",
}

// incompressible is 10 kB that no database makes small.
func incompressible(seed uint32) string {
	b := make([]byte, 10_000)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = "abcdefghijklmnopqrstuvwxyz,0123456789-_ABCDEFGHIJKLMNOPQRSTUVWXY"[seed>>26]
	}
	return string(b)
}

// writing runs a Writer over a store until stop is called, which returns what Run did.
func writing(t testing.TB, s ledger.Store, o ledger.Options) (w *ledger.Writer, crashed int, stop func() error) {
	t.Helper()
	o.Patience = time.Minute // a disk that others use, too, may take long
	w, crashed, err := ledger.Open(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	return w, crashed, func() error {
		cancel()
		return <-ended
	}
}

// durable waits for a row.
func durable(t testing.TB, ticket ledger.Ticket) {
	t.Helper()
	if err := ticket.Wait(t.Context()); err != nil {
		t.Fatalf("wait for a row: %v", err)
	}
}

// No text stops a writer, wherever it stands.
func hostileTexts(t *testing.T, _ Harness, l Ledger) {
	store := l.Open(t)
	defer store.Close()
	w, _, stop := writing(t, store, ledger.Options{RollEvery: time.Millisecond})
	texts := append([]string{incompressible(1), incompressible(2)}, hostile...)
	for i, text := range texts {
		b := full[ledger.Begin](int64(1000 * i))
		b.Exchange = w.IDs().Next()
		b.Series = ledger.Series{Key: text, Groups: text, Endpoint: text, Upstream: text}
		b.Model, b.Label, b.Price = text, text, text
		b.Charges[0].Budget = ledger.Budget{Name: text, Unit: text}
		series, charges := b.Series, b.Charges
		durable(t, w.Begin(b))
		d := full[ledger.Draw](1)
		d.Exchange, d.Charges = b.Exchange, []ledger.Charge{{Budget: ledger.Budget{Name: text + "2", Unit: text}, N: 1}}
		durable(t, w.Draw(d))
		w.Refused(text, text, text)
		w.Price(ledger.PriceCard{Version: text, Card: text})
		durable(t, w.Notify(ledger.Notice{Budget: text, At: text}))
		durable(t, w.End(&ledger.End{
			Exchange: b.Exchange, Ending: text, Basis: text, Served: text, UpstreamID: text, Charges: append([]ledger.Charge(nil), charges...), Cost: 1,
		}))
		durable(t, w.Correct([]*ledger.Correction{{
			Exchange: b.Exchange, Series: series, Model: text, Served: text, Label: text, Basis: text, Was: text, Reason: text,
			Charges: []ledger.Charge{{Budget: ledger.Budget{Name: text + "3", Unit: text}, N: 1}}, Cost: 1,
		}}))
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	got := glance(t, store, view.everything)
	if s := total(got); len(got.Ended) != len(texts) || len(got.Corrections) != len(texts) || s.Requests != int64(len(texts)) || s.Cost != cost.NanoUSD(2*len(texts)) {
		t.Errorf("%d exchanges, %d corrections, sums %+v; want %d of each", len(got.Ended), len(got.Corrections), s, len(texts))
	}
}

// No figure stops a writer, nor pruning, nor reading, however often it comes.
func extremeFigures(t *testing.T, _ Harness, l Ledger) {
	store := l.Open(t)
	defer store.Close()
	w, _, stop := writing(t, store, ledger.Options{RollEvery: time.Millisecond})
	for _, n := range []int64{math.MaxInt64, math.MinInt64, -1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64} {
		u := cost.Usage{
			Input: n, CachedInput: n, CacheWrite: n, AudioInput: n, ImageInput: n, CachedAudio: n, CachedImage: n, Output: n, Reasoning: n,
			AudioOutput: n, ImageOutput: n, Images: n, Milliseconds: n, Characters: n, Fees: cost.NanoUSD(n), Tier: math.MaxUint8,
		}
		b := call("key", "budget", n)
		b.Exchange, b.Most, b.Reserved, b.Retry = w.IDs().Next(), u, cost.NanoUSD(n), int(n)
		b.Charges[0].Late = n
		b.Estimate = cost.Estimate{
			Input: n, MaxOutput: n, Beyond: n, Basis: math.MaxUint8, Pictures: n, Milliseconds: n, Characters: n,
			HostedCalls: n, HostedFee: cost.NanoUSD(n), HostedTokens: n, Fees: cost.NanoUSD(n),
		}
		for p := range b.Estimate.ByPart {
			b.Estimate.ByPart[p], b.Estimate.BasisOf[p] = n, math.MaxUint8
		}
		durable(t, w.Begin(b))
		durable(t, w.Draw(&ledger.Draw{Exchange: b.Exchange, Step: int(n), More: u, Reserved: cost.NanoUSD(n), Charges: []ledger.Charge{{Budget: tokens("budget"), N: n, Late: n}}}))
		durable(t, w.End(&ledger.End{
			Exchange: b.Exchange, Status: int(n), Usage: u, Cost: cost.NanoUSD(n), Took: time.Duration(n), FirstToken: time.Duration(n),
			Charges: []ledger.Charge{{Budget: tokens("budget"), N: n, Late: n}},
		}))
		durable(t, w.Correct([]*ledger.Correction{{Exchange: b.Exchange, Usage: u, Cost: cost.NanoUSD(n), Charges: []ledger.Charge{{Budget: tokens("budget"), N: n}}}}))
		durable(t, w.Notify(ledger.Notice{Budget: "budget", Period: n}))
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if got := glance(t, store, view.everything); len(got.Ended) != 7 || len(got.Corrections) != 7 {
		t.Errorf("%d exchanges, %d corrections, want 7", len(got.Ended), len(got.Corrections))
	}
}

// Sums that do not fit in 64 bits stay at the largest that does, and nothing stops: no commit, no pruning, no reading.
func sumsThatDoNotFit(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	at := time.Now().Add(-120 * 24 * time.Hour)
	for i := range 8 {
		n := int64(math.MaxInt64 / 2)
		if i >= 4 {
			n = -n
		}
		name := map[bool]string{true: "much", false: "little"}[n > 0]
		slot := at.Add(time.Duration(i) * 2 * ledger.SlotLength)
		b := c.begin(call(name, name, 1), slot)
		e := answer(b, n, n)
		e.Cost = cost.NanoUSD(n)
		c.end(e, slot.Add(time.Second))
		c.rollUp()
		r := amend(b, e, n)
		r.Cost = cost.NanoUSD(n)
		c.correct(r, time.Now())
		c.rollUp()
	}
	check := func(when string) {
		t.Helper()
		v := look(t, c.store)
		defer v.close()
		v.hours(apart)
		for h, s := range v.hours(ledger.HourQuery{From: ever.from, To: ever.to, Series: true}) {
			want := map[string]int64{"much": math.MaxInt64, "little": -math.MaxInt64}[h.Series.Key]
			if s.Input/8 != want/8 || int64(s.Cost)/8 != want/8 || s.Requests != 4 { // some stop one or two before
				t.Errorf("%s: sums of %q are %+v", when, h.Series.Key, s)
			}
		}
		v.slots(ever.from, ever.to)
		v.spends(ledger.Want{Budget: "much"}, ledger.Want{Budget: "little", Detail: ledger.BySlot})
	}
	check("rolled up")
	for c.prune(time.Now(), 3) > 0 {
		check("pruned")
	}
	check("summed up")
}
