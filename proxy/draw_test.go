package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// unlimited streams without an output limit. Its prompt has 8 tokens, and a stream begins with 4,096 of output.
const unlimited = `{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hi"}]}`

const firstStep = 4096

// word is one token of output in an event of its own.
const word = `data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":7,"model":"gpt-4o-mini-2024","choices":[{"index":0,"delta":{"content":" one"},"finish_reason":null}]}` + "\n\n"

// endedBy is how a stream of words ends that a budget has ended.
func endedBy(budget string) string {
	return `data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":7,"model":"gpt-4o-mini-2024","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}],` +
		`"tokenfare":{"ended":"budget","budget":` + strconv.Quote(budget) + `}}` + "\n\ndata: [DONE]\n\n"
}

const properEnd = `data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":7,"model":"gpt-4o-mini-2024","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
	"data: [DONE]\n\n"

// teller is an upstream that says words.
type teller struct {
	words int
	pace  time.Duration // between two words; 0: none
	cut   bool          // the transfer breaks off behind the last one
	usage string

	said atomic.Int64
}

func (s *teller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for range s.words {
		if s.pace > 0 {
			time.Sleep(s.pace)
		}
		if _, err := io.WriteString(w, word); err != nil || r.Context().Err() != nil {
			return
		}
		if s.pace > 0 {
			w.(http.Flusher).Flush()
		}
		s.said.Add(1)
	}
	w.(http.Flusher).Flush()
	if s.cut {
		panic(http.ErrAbortHandler)
	}
	if s.usage != "" {
		fmt.Fprintf(w, `data: {"id":"chatcmpl-7","object":"chat.completion.chunk","choices":[],"usage":%s}`+"\n\n", s.usage)
	}
	io.WriteString(w, properEnd)
}

// sofar is how many words it has said.
func (s *teller) sofar() int { return int(s.said.Load()) }

// spend takes from a budget of alice what somebody else might have.
func (v *virtual) spend(sentence string, n int64) {
	v.t.Helper()
	l := limits(v.t, sentence)[0]
	var rule limiter.Rule
	switch v.states()["key alice: "+l.ID()].Limit {
	case 0:
		v.t.Fatalf("there is no budget %q", sentence)
	default:
		rule = limiter.TokenBucket{Size: l.Capacity(), Refill: l.Amount, Every: l.Every}
	}
	if err := v.limiter.Inc(v.t.Context(), []limiter.Charge{{Budget: v.limiter.Budget("key alice: "+l.ID(), rule), N: n}}); err != nil {
		v.t.Fatal(err)
	}
}

// TestADrainedBucketDelaysAStream, and does not end it.
func TestADrainedBucketDelaysAStream(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "200k tokens per minute"), (&teller{words: 20_000}).ServeHTTP)
		v.spend("200k tokens per minute", 200_000-8-firstStep)
		got := v.chat(unlimited)
		if got.err != nil || got.body != strings.Repeat(word, 20_000)+properEnd {
			t.Fatalf("%d, %v; %d of 20000 words; the end: %.300q", got.status, got.err, strings.Count(got.body, " one"), got.body[max(0, len(got.body)-300):])
		}
		// 3,333 tokens come back a second, and what is drawn but not said is less than two steps.
		if least, most := (20_000-firstStep)*time.Minute/200_000, (20_000+firstStep)*time.Minute/200_000; got.whole < least || got.whole > most {
			t.Errorf("it took %s, want %s to %s", got.whole, least, most)
		}
		if asked := sentBody(t, v.sent()[0]); asked["max_completion_tokens"] != nil || got.header.Get("x-tokenfare-output-limit") != "" || got.header.Get("x-tokenfare-reserved") != "4104" {
			t.Errorf("the upstream was asked for %v; headers %v", asked, got.header)
		}
		time.Sleep(time.Second)
		x := v.store.only(t)
		if x.End.Ending != "complete_unreported" || x.End.Usage.Output != 20_000 || len(x.Draws) < 3 || len(x.Draws) > 40 {
			t.Errorf("ended as %s with %d tokens in %d draws", x.End.Ending, x.End.Usage.Output, len(x.Draws))
		}
		if waits := v.metric("tokenfare_draw_wait_seconds"); waits < 1 || v.metric("tokenfare_draws_total") != float64(len(x.Draws)) {
			t.Errorf("%v waits, %v draws counted of %d", waits, v.metric("tokenfare_draws_total"), len(x.Draws))
		}
		v.datedRight(x)
	})
}

func sentBody(t *testing.T, r *http.Request) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.NewDecoder(r.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAnEmptyBudgetEndsAStreamInProtocol: to the token, in the stream's own name, and the upstream's work with it.
func TestAnEmptyBudgetEndsAStreamInProtocol(t *testing.T) {
	for _, sentence := range []string{"10000 tokens in total", "9992 output tokens each month", "$0.0059964 each day", "10k tokens in any day", "10k tokens per day, burst 10k", "9992 output tokens per request"} {
		t.Run(sentence, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				up := &teller{words: 12_000, pace: time.Millisecond}
				v := newVirtual(t, alice(t, sentence, "100 requests each day"), up.ServeHTTP)
				got := v.chat(unlimited)
				words := strings.Count(got.body, " one")
				if want := strings.Repeat(word, words) + endedBy("key alice: "+sentence); got.err != nil || got.body != want {
					t.Fatalf("%v; %d words; the end: %.400q", got.err, words, got.body[max(0, len(got.body)-400):])
				}
				if words < 9991 || words > 9992+30*10_000/86_400+1 { // what refills while it waits
					t.Errorf("%d words passed, want all that the budget holds", words)
				}
				time.Sleep(time.Second)
				if n := up.sofar(); n > words+200 {
					t.Errorf("the upstream went on to %d words", n)
				}
				x := v.store.only(t)
				if x.End.Ending != "ended_budget" || x.End.Basis != ledger.Counted || x.End.Usage.Output != int64(words) || x.End.Usage.Input != 8 {
					t.Errorf("ended as %s, %s, with %+v", x.End.Ending, x.End.Basis, x.End.Usage)
				}
				settled := charged(x.End.Charges)
				for name, s := range v.states() {
					if s.Used > s.Limit || !strings.Contains(name, " per ") && settled[name] != s.Used {
						t.Errorf("%s: %+v, and the end row says %d", name, s, settled[name])
					}
				}
				v.datedRight(x)
				v.costsWhatItsPriceSays(x)
				if lines := v.log.lines(`"ended_by":"key alice`); len(lines) != 1 {
					t.Errorf("the log has %d lines about it", len(lines))
				}
			})
		})
	}
}

// TestAnEndedStreamTellsItsUsageToWhoAsked.
func TestAnEndedStreamTellsItsUsageToWhoAsked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "2000 tokens in total"), (&teller{words: 5000}).ServeHTTP)
		got := v.chat(strings.Replace(unlimited, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1))
		want := strings.Repeat(word, 1992) + strings.Replace(endedBy("key alice: 2000 tokens in total"), `}],"tokenfare"`, `}],"usage":null,"tokenfare"`, 1)
		want = strings.Replace(want, "data: [DONE]", `data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":7,"model":"gpt-4o-mini-2024","choices":[],`+
			`"usage":{"prompt_tokens":8,"completion_tokens":1992,"total_tokens":2000}}`+"\n\ndata: [DONE]", 1)
		if got.body != want || got.err != nil {
			t.Errorf("%v (-want +got):\n%s", got.err, cmp.Diff(want[len(want)-900:], got.body[max(0, len(got.body)-900):]))
		}
	})
}

// TestAResponseEndsIncomplete.
func TestAResponseEndsIncomplete(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, `event: response.created`+"\n"+`data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_7","object":"response","created_at":7,"status":"in_progress","model":"m","output":[]}}`+"\n\n")
			for i := range 5000 {
				fmt.Fprintf(w, `event: response.output_text.delta`+"\n"+`data: {"type":"response.output_text.delta","sequence_number":%d,"item_id":"i","output_index":0,"content_index":0,"delta":" one"}`+"\n\n", i+1)
			}
		})
		got := v.post(t.Context(), wire.Responses, `{"model":"gpt-4o-mini","stream":true,"input":"Hi"}`)
		events := strings.Split(strings.TrimSpace(got.body), "\n\n")
		last := events[len(events)-1]
		time.Sleep(time.Second)
		x := v.store.only(t)
		words := strings.Count(got.body, `"delta":" one"`)
		var said struct {
			Type     string
			Sequence int `json:"sequence_number"`
			Response struct {
				ID, Status string
				Details    struct{ Reason string } `json:"incomplete_details"`
				Usage      struct {
					Input  int64 `json:"input_tokens"`
					Output int64 `json:"output_tokens"`
				}
			}
			Tokenfare struct{ Ended, Budget string }
		}
		name, data, _ := strings.Cut(last, "\ndata: ")
		if err := json.Unmarshal([]byte(data), &said); err != nil || name != "event: response.incomplete" || said.Type != "response.incomplete" {
			t.Fatalf("%v; the last event: %s", err, last)
		}
		if said.Sequence != words+1 || said.Response.ID != "resp_7" || said.Response.Status != "incomplete" || said.Response.Details.Reason != "max_output_tokens" ||
			said.Tokenfare.Ended != "budget" || said.Tokenfare.Budget != "key alice: 1000 tokens in total" {
			t.Errorf("%+v", said)
		}
		if said.Response.Usage.Output != int64(words) || said.Response.Usage.Input != x.End.Usage.Input || x.End.Usage.Output != int64(words) || int64(words)+x.End.Usage.Input != 1000 {
			t.Errorf("usage %+v, charged %+v for %d words", said.Response.Usage, x.End.Usage, words)
		}
	})
}

// TestThreatHiddenReasoning: a model thinks as long as it may, says one word, and its caller leaves before the usage comes. What it may
// think is what is reserved, and all of that is charged, though nobody has seen any of it.
func TestThreatHiddenReasoning(t *testing.T) {
	for _, c := range []struct {
		name, limit string
		reserved    int64 // the prompt's 8 tokens included
	}{
		{"no more than fits the budget", "12k tokens in total", 12_000},
		{"the default", "30k tokens in total", 8 + 16_384},
		{"a quarter of what is left", "200k tokens in total", 8 + (200_000-8)/4},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, alice(t, c.limit), (&teller{words: 1, cut: true}).ServeHTTP)
				got := v.chat(`{"model":"o4-mini","stream":true,"messages":[{"role":"user","content":"Hi"}]}`)
				if got.header.Get("x-tokenfare-reserved") != strconv.FormatInt(c.reserved, 10) {
					t.Errorf("%d %v", got.status, got.header)
				}
				if most := sentBody(t, v.sent()[0])["max_completion_tokens"]; most != float64(c.reserved-8) {
					t.Errorf("the model may make %v tokens", most)
				}
				time.Sleep(time.Second)
				x := v.store.only(t)
				if x.End.Ending != "broken" || x.End.Basis != ledger.Unreported || len(x.Draws) != 0 || v.states()["key alice: tokens in total"].Used != c.reserved {
					t.Errorf("ended as %s, %s, with %+v, %d draws", x.End.Ending, x.End.Basis, x.End.Usage, len(x.Draws))
				}
				v.costsWhatItsPriceSays(x)
			})
		})
	}
}

// TestAStreamDoesNotStallOnTheLedger: draws are written while the stream goes on.
func TestAStreamDoesNotStallOnTheLedger(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "1m tokens in total"), (&teller{words: 20_000, pace: time.Millisecond}).ServeHTTP)
		v.store.be(time.Second, nil)
		got := v.chat(unlimited)
		if got.err != nil || !strings.HasSuffix(got.body, properEnd) || got.whole > 20_000*time.Millisecond+time.Second {
			t.Errorf("%v after %s", got.err, got.whole)
		}
	})
}

// TestACrashIsChargedWhatWasDrawn: at every instant the rows say what is held.
func TestACrashIsChargedWhatWasDrawn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, everyBudget(t), (&teller{words: 20_000, pace: time.Millisecond}).ServeHTTP)
		done := make(chan reply)
		go func() { done <- v.chat(unlimited) }()
		for range 15 {
			time.Sleep(time.Second + 500*time.Microsecond)
			rows := v.store.rows(t)
			open := v.server.OpenCalls()
			if len(rows) != 1 || len(open) != 1 {
				t.Fatalf("%d rows, %d open calls", len(rows), len(open))
			}
			crashed, held := charged(rows[0].Crash().Charges), map[string]int64{}
			for _, h := range open[0].Holds {
				held[h.Budget] += h.Amount
			}
			for name, n := range held {
				if !strings.Contains(name, "at once") && crashed[name] != n {
					t.Errorf("%s: %d is held, and a crash would charge %d", name, n, crashed[name])
				}
			}
		}
		if got := <-done; got.err != nil || !strings.HasSuffix(got.body, properEnd) {
			t.Errorf("%v %.200q", got.err, got.body[max(0, len(got.body)-200):])
		}
		time.Sleep(time.Second)
		x := v.store.only(t)
		settled := charged(x.End.Charges)
		for _, name := range v.spendsOf() {
			if used := v.states()[name].Used; settled[name] != used && !strings.Contains(name, " per ") {
				t.Errorf("%s: the end row says %d, the limiter has counted %d", name, settled[name], used)
			}
		}
		v.datedRight(x)
	})
}

// TestWhatIsNotDurableDoesNotPass: a ledger that fails breaks the answer off.
func TestWhatIsNotDurableDoesNotPass(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "1m tokens in total"), (&teller{words: 10_000, pace: time.Millisecond}).ServeHTTP)
		go func() {
			time.Sleep(time.Second)
			v.store.be(0, errDisk)
		}()
		got := v.chat(unlimited)
		if words := strings.Count(got.body, " one"); got.err == nil || words != firstStep || strings.Contains(got.body, "tokenfare") {
			t.Errorf("%v, %d words", got.err, words)
		}
		v.store.be(0, nil)
		time.Sleep(10 * time.Second)
		if x := v.store.only(t); x.End.Ending != "broken_stream" || v.states()["key alice: tokens in total"].Used != charged(x.End.Charges)["key alice: tokens in total"] {
			t.Errorf("ended as %s, charged %v", x.End.Ending, x.End.Charges)
		}
	})
}

// TestOverrunIsPaidBackBeforeAnythingElse: hidden reasoning goes beyond what was drawn, and the next wait is as long as that takes.
func TestOverrunIsPaidBackBeforeAnythingElse(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "60k tokens per minute"), (&teller{words: 100, usage: `{"prompt_tokens":8,"completion_tokens":99992,"total_tokens":100000,"completion_tokens_details":{"reasoning_tokens":99892}}`}).ServeHTTP)
		began := time.Now()
		if got := v.chat(`{"model":"o4-mini","stream":true,"messages":[{"role":"user","content":"Hi"}]}`); got.err != nil || got.status != 200 {
			t.Fatal(got.err)
		}
		refused := v.chat(hi) // 58 tokens
		ms, err := strconv.Atoi(refused.header.Get("retry-after-ms"))
		if want := (40_000 + 58) * time.Millisecond; err != nil || refused.status != 429 || time.Since(began)+time.Duration(ms)*time.Millisecond != want {
			t.Fatalf("%d, %v: wait %d ms after %s, want %s", refused.status, err, ms, time.Since(began), want)
		}
		time.Sleep(time.Duration(ms)*time.Millisecond - 2*time.Millisecond)
		if got := v.chat(hi); got.status != 429 {
			t.Errorf("2 ms early: %d", got.status)
		}
		time.Sleep(2 * time.Millisecond)
		if got := v.chat(hi); got.status != 200 {
			t.Errorf("at the time it was told: %d %s", got.status, got.body)
		}
	})
}
