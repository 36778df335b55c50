package proxy_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy"
)

// TestALabelIsForTheLedgerAlone: it passes into the row, and nowhere else.
func TestALabelIsForTheLedgerAlone(t *testing.T) {
	for _, label := range []string{"project-77", "Kunde Müller & Söhne, 日本", strings.Repeat("ü", 64), "x"} {
		t.Run(label, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, alice(t, "1000 tokens in total"), answerWith(http.StatusOK, plainAnswer(9, 4)))
				got := v.chat(hi, "X-Tokenfare-Label", label)
				if got.status != http.StatusOK {
					t.Fatalf("%d %s", got.status, got.body)
				}
				time.Sleep(time.Minute)
				if x := v.store.only(t); x.Begin.Label != label {
					t.Errorf("the row's label is %q", x.Begin.Label)
				}
				for name, values := range v.sent()[0].Header {
					if strings.Contains(strings.ToLower(name), "label") || strings.Contains(strings.Join(values, " "), label) && len(label) > 1 {
						t.Errorf("the upstream got %s: %q", name, values)
					}
				}
				if body, _ := io.ReadAll(v.sent()[0].Body); strings.Contains(string(body), "project-77") {
					t.Errorf("the upstream got %s", body)
				}
				if len(label) > 1 && strings.Contains(v.log.String(), label) {
					t.Errorf("the log has the label: %s", v.log)
				}
				families, err := v.registry.Gather()
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range families {
					if len(label) > 1 && strings.Contains(f.String(), label) {
						t.Errorf("metric %s has the label", f.GetName())
					}
				}
			})
		})
	}
}

// TestALabelThatIsNoneIsRefused: before anything is read, reserved or sent.
func TestALabelThatIsNoneIsRefused(t *testing.T) {
	for name, label := range map[string]string{
		"65 characters": strings.Repeat("x", 65), "65 of two bytes": strings.Repeat("ü", 65), "a tab": "a\tb", "a control character of Unicode": "a\u0085b", "no UTF-8": "a\xffb",
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, alice(t, "1000 tokens in total"), answerWith(http.StatusOK, plainAnswer(9, 4)))
				got := v.chat(hi, "X-Tokenfare-Label", label)
				message, kind, param, code := got.errorOf(t)
				if got.status != http.StatusBadRequest || kind != "invalid_request_error" || code != "invalid_label" || param != "X-Tokenfare-Label" {
					t.Errorf("%d %s", got.status, got.body)
				}
				if strings.Contains(message, label) || !strings.Contains(message, "64 characters") {
					t.Errorf("message %q", message)
				}
				time.Sleep(time.Minute)
				if len(v.sent())+len(v.store.rows(t)) > 0 {
					t.Error("the call went on")
				}
			})
		})
	}
}

// TestRetriesAreCounted: as the official clients say them; anything else is none.
func TestRetriesAreCounted(t *testing.T) {
	for says, want := range map[string]int{"": 0, "0": 0, "1": 1, "2": 2, "255": 255, "256": 0, "-1": 0, "many": 0, "1e9": 0} {
		inBubble(t, func(t *testing.T) {
			v := newVirtual(t, alice(t, "1000 tokens in total"), answerWith(http.StatusOK, plainAnswer(9, 4)))
			v.chat(hi, "X-Stainless-Retry-Count", says)
			time.Sleep(time.Minute)
			if x := v.store.only(t); x.Begin.Retry != want {
				t.Errorf("%q: retry %d, want %d", says, x.Begin.Retry, want)
			}
		})
	}
}

// TestTheServedModelIsRecordedWhereItIsAnother than was asked for, by the caller's name for it or by the upstream's.
func TestTheServedModelIsRecordedWhereItIsAnother(t *testing.T) {
	for _, c := range []struct{ as, answers, served string }{
		{"", "gpt-4o-mini", ""},
		{"", "gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18"},
		{"small-one", "small-one", ""},
		{"small-one", "gpt-4o-mini", ""},
		{"small-one", "other", "other"},
		{"", "", ""},
		{"", strings.Repeat("x", 5000), strings.Repeat("x", 256)},
	} {
		inBubble(t, func(t *testing.T) {
			spec := alice(t, "1000 tokens in total")
			spec.Models = []proxy.ModelSpec{{Pattern: "gpt-4o-mini", Upstream: "up", As: c.as, CountsAs: "gpt-4o-mini"}}
			body := strings.Replace(plainAnswer(9, 4), `"model":"gpt-4o-mini"`, `"model":`+strconv.Quote(c.answers), 1)
			v := newVirtual(t, spec, answerWith(http.StatusOK, body))
			if got := v.chat(hi); got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
			time.Sleep(time.Minute)
			if x := v.store.only(t); x.End.Served != c.served && !(len(c.answers) > 256 && len(x.End.Served) <= 256) || x.Begin.Model != "gpt-4o-mini" {
				t.Errorf("as %q, answers %.20q: served %.40q, want %.20q", c.as, c.answers, x.End.Served, c.served)
			}
		})
	}
}

// TestABeginRowSaysWhoAsksForWhat: the whole of it.
func TestABeginRowSaysWhoAsksForWhat(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spec := everyBudget(t)
		spec.Groups = append(spec.Groups, proxy.GroupSpec{Name: "all", Keys: []string{"*"}}, proxy.GroupSpec{Name: "house", Groups: []string{"research"}})
		v := newVirtual(t, spec, after(time.Second, chunks("one two three", usage(9, 4, 13), false)))
		began := time.Now()
		v.chat(streamed, "X-Tokenfare-Label", "job 7", "X-Stainless-Retry-Count", "1")
		time.Sleep(time.Minute)
		x := v.store.only(t)
		b := x.Begin
		if want := (ledger.Series{Key: "alice", Groups: "all,house,research", Endpoint: "/v1/chat/completions", Upstream: "up"}); b.Series != want {
			t.Errorf("series %+v, want %+v", b.Series, want)
		}
		if b.Model != "gpt-4o-mini" || b.Label != "job 7" || b.Retry != 1 || !b.Stream || b.Most.Input != 8 || b.Most.Output != 50 || b.Estimate.Input != 8 || b.Estimate.MaxOutput != 50 {
			t.Errorf("%+v", b)
		}
		if b.Reserved != 8*150+50*600 || x.End.Cost != 9*150+4*600 {
			t.Errorf("reserved %s, cost %s", b.Reserved, x.End.Cost)
		}
		if at := b.Exchange.Time(); at.Before(began.Truncate(time.Microsecond)) || at.After(began.Add(time.Millisecond)) {
			t.Errorf("began at %s, and the row says %s", began, at)
		}
		if x.End.Took != time.Second || x.End.FirstToken != time.Second || x.End.Seq.Time().Sub(b.Exchange.Time()).Round(time.Millisecond) != time.Second {
			t.Errorf("took %s, first token after %s, ended at %s", x.End.Took, x.End.FirstToken, x.End.Seq.Time())
		}
	})
}

// TestEachPriceIsRecordedOnce: under a name that says all of it, so that another price has another name.
func TestEachPriceIsRecordedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "100000 tokens in total"), answerWith(http.StatusOK, plainAnswer(9, 4)))
		for _, model := range []string{"gpt-4o-mini", "gpt-4o-mini-2024-07-18", "gpt-4o", "gpt-4o-mini", "nobody-knows-this-one"} {
			if got := v.chat(strings.Replace(hi, "gpt-4o-mini", model, 1)); got.status != http.StatusOK {
				t.Fatalf("%s: %d %s", model, got.status, got.body)
			}
		}
		time.Sleep(time.Minute)
		rows := v.store.rows(t)
		if len(rows) != 5 || len(v.store.prices) != 2 {
			t.Fatalf("%d exchanges, %d prices", len(rows), len(v.store.prices))
		}
		if rows[0].Begin.Price != rows[1].Begin.Price || rows[0].Begin.Price != rows[3].Begin.Price || rows[0].Begin.Price == rows[2].Begin.Price || rows[4].Begin.Price != "" {
			t.Errorf("versions %q %q %q %q %q", rows[0].Begin.Price, rows[1].Begin.Price, rows[2].Begin.Price, rows[3].Begin.Price, rows[4].Begin.Price)
		}
		for _, x := range rows[:4] {
			v.costsWhatItsPriceSays(x)
		}
	})
}

// TestRefusalsAreCountedByTheHour: by key, model and code; what no budget refused is not among them.
func TestRefusalsAreCountedByTheHour(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "120 tokens in total", "60 tokens in any hour on gpt-4o", "1m tokens per request", "3 requests in total on o4-mini"), answerWith(http.StatusOK, plainAnswer(8, 50)))
		first := ledger.HourOf(time.Now())
		ask := func(model string, most, status int) {
			t.Helper()
			body := strings.Replace(strings.Replace(hi, "gpt-4o-mini", model, 1), `"max_tokens":50`, `"max_tokens":`+strconv.Itoa(most), 1)
			if got := v.chat(body); got.status != status {
				t.Errorf("%s, %d tokens: %d %s", model, most, got.status, got.body)
			}
		}
		ask("gpt-4o", 50, 200)
		ask("gpt-4o", 50, 429)        // rate_limit_exceeded
		ask("gpt-4o", 55, 400)        // never fits
		ask("gpt-4o-mini", 1000, 400) // never fits
		ask("gpt-4o-mini", 1000, 400) // again
		ask("gpt-4o-mini", -1, 400)   // no budget's doing
		ask("gpt-4o-mini", 50, 200)   //
		ask("gpt-4o-mini", 50, 429)   // insufficient_quota
		v.chat("{")                   // no budget's doing
		time.Sleep(2 * time.Hour)     // to another hour
		ask("gpt-4o-mini", 50, 429)   //
		ask("gpt-4o-mini", 51, 429)   //
		time.Sleep(time.Minute)
		second := first + 7200
		want := map[ledger.Refusal]int64{
			{Hour: first, Key: "alice", Model: "gpt-4o", Code: "rate_limit_exceeded"}:         1,
			{Hour: first, Key: "alice", Model: "gpt-4o", Code: "request_exceeds_budget"}:      1,
			{Hour: first, Key: "alice", Model: "gpt-4o-mini", Code: "request_exceeds_budget"}: 2,
			{Hour: first, Key: "alice", Model: "gpt-4o-mini", Code: "insufficient_quota"}:     1,
			{Hour: second, Key: "alice", Model: "gpt-4o-mini", Code: "insufficient_quota"}:    2,
		}
		v.store.mu.Lock()
		defer v.store.mu.Unlock()
		if diff := cmp.Diff(want, v.store.refused); diff != "" {
			t.Errorf("refusals (-want +got):\n%s", diff)
		}
	})
}

// TestOneIDNamesARequest: in its answer where that is ours, in the log, in the limiter's list and in the ledger.
func TestOneIDNamesARequest(t *testing.T) {
	for _, c := range []struct {
		name     string
		body     string
		upstream http.HandlerFunc
		ours     bool // the answer has our id, not the upstream's
		rows     int
	}{
		{"an answer", hi, answerWith(http.StatusOK, plainAnswer(9, 4)), true, 1},
		{"a stream", streamed, chunks("one", "", false), true, 1},
		{"an upstream with ids of its own", hi, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Id", "req_upstream")
			answerWith(http.StatusOK, plainAnswer(9, 4))(w, r)
		}, false, 1},
		{"an error of the upstream", hi, answerWith(500, `{"error":{"message":"no","type":"x","param":null,"code":null}}`), true, 1},
		{"no upstream", hi, hangUp, true, 1},
		{"a refusal", strings.Replace(hi, "50", "5000", 1), hangUp, true, 0},
		{"a mistake", "{", hangUp, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var v *virtual
				open := ""
				v = newVirtual(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
					for _, call := range v.server.OpenCalls() {
						open = call.ID
					}
					c.upstream(w, r)
				})
				got := v.chat(c.body)
				synctest.Wait()
				time.Sleep(time.Minute)
				lines := v.log.lines(`"msg":"request"`)
				var line struct {
					ID       string `json:"id"`
					Upstream string `json:"upstream_request_id"`
				}
				if len(lines) != 1 || json.Unmarshal([]byte(lines[0]), &line) != nil {
					t.Fatalf("the log: %v", lines)
				}
				id, err := ledger.ParseID(line.ID)
				if err != nil {
					t.Fatal(err)
				}
				if answered := got.header.Get("X-Request-Id"); c.ours != (answered == line.ID) || !c.ours && (answered != "req_upstream" || line.Upstream != answered) {
					t.Errorf("the answer has id %q, the log %q and %q", answered, line.ID, line.Upstream)
				}
				rows := v.store.rows(t)
				if len(rows) != c.rows {
					t.Fatalf("%d rows, want %d", len(rows), c.rows)
				}
				for _, x := range rows {
					if x.Begin.Exchange != id || open != line.ID || x.End.UpstreamID != line.Upstream {
						t.Errorf("the ledger has id %v and %q, the limiter %q, the log %q and %q", x.Begin.Exchange, x.End.UpstreamID, open, line.ID, line.Upstream)
					}
				}
			})
		})
	}
}
