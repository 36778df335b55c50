package proxy_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
)

// drawnLimits are budgets of all kinds, of which a stream can use up each.
var drawnLimits = []string{
	"9k tokens in total", "30k tokens each day", "12k output tokens in any hour", "20k tokens per minute, burst 30k", "3k output tokens per minute",
	"$0.01 each month", "$0.005 in total", "8k tokens in any minute", "2500 tokens per second, burst 5k", "6k output tokens per request", "40 requests in total",
}

// phrases are texts whose tokens in the vocabulary of gpt-4o-mini do not depend on what is beside them.
var phrases = []string{" one", " one two", " three four five", " a longer piece of text with more words in it", " wörter", " ,", " 日本語", strings.Repeat(" word", 40)}

// rambler is an upstream that says phrases at random. It reports what it has said, or nothing.
type rambler struct {
	mu  sync.Mutex
	rng *rand.Rand // guarded by mu
}

func (s *rambler) pick(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.IntN(n)
}

func (s *rambler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	said, pace := strings.Builder{}, time.Duration(s.pick(3))*time.Millisecond
	for range 1 + s.pick(1500) {
		text := phrases[s.pick(len(phrases))]
		said.WriteString(text)
		if _, err := fmt.Fprintf(w, `data: {"id":"c","created":7,"model":"m","choices":[{"index":%d,"delta":{"content":%q},"finish_reason":null}]}`+"\n\n", s.pick(2), text); err != nil {
			return
		}
		if pace > 0 {
			w.(http.Flusher).Flush()
			time.Sleep(pace)
		}
	}
	if s.pick(8) == 0 {
		panic(http.ErrAbortHandler)
	}
	if s.pick(2) == 0 {
		n := int(tokensOf(said.String()))
		fmt.Fprintf(w, `data: {"choices":[],"usage":%s}`+"\n\n", usage(8, n, 8+n))
	}
	io.WriteString(w, "data: [DONE]\n\n")
}

func tokensOf(text string) int64 {
	return estimator.Count(cost.Model{Encoding: "o200k_base"}, text)
}

// watchedWriter holds every byte of an answer against the rows that are durable when it leaves.
type watchedWriter struct {
	http.ResponseWriter
	v    *virtual
	text strings.Builder
	rest string // of an event that has not left whole
}

func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *watchedWriter) Write(p []byte) (int, error) {
	whole := w.rest + string(p)
	end := strings.LastIndexByte(whole, '\n') + 1
	whole, w.rest = whole[:end], whole[end:] // half a word may be more tokens than all of it
	for _, piece := range strings.Split(whole, `"content":"`)[1:] {
		text, _, _ := strings.Cut(piece, `"`)
		w.text.WriteString(text)
	}
	if said := tokensOf(w.text.String()); said > 0 {
		if durable := w.v.durableOutput(w.Header().Get("X-Request-Id")); said > durable {
			w.v.t.Errorf("%d tokens have left, and %d are durable in the ledger", said, durable)
		}
	}
	w.v.withinBudgets()
	return w.ResponseWriter.Write(p)
}

// durableOutput is how much output the rows of an exchange cover that are durable now.
func (v *virtual) durableOutput(id string) (n int64) {
	v.store.mu.Lock()
	defer v.store.mu.Unlock()
	for _, b := range v.store.begins {
		if b.Exchange.String() == id {
			n += b.Most.Output
		}
	}
	for _, d := range v.store.draws {
		if d.Exchange.String() == id {
			n += d.More.Output
		}
	}
	return n
}

// withinBudgets checks that no budget has counted more than it holds.
func (v *virtual) withinBudgets() {
	for name, s := range v.states() {
		if s.Used+s.Held > s.Limit {
			v.t.Errorf("%s has counted %d and %d held of %d", name, s.Used, s.Held, s.Limit)
		}
	}
}

// TestStreamsNeverSayMoreThanIsPaidFor plays many streams at once on random budgets, with a ledger that is slow now and then, and
// clients that leave: at every byte that leaves, its tokens are reserved or drawn and durable, and no budget is over.
func TestStreamsNeverSayMoreThanIsPaidFor(t *testing.T) {
	seeds := 16
	if testing.Short() {
		seeds = 6
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 7))
				sentences := []string{"2m tokens each week"}
				for _, i := range rng.Perm(len(drawnLimits))[:1+rng.IntN(4)] {
					sentences = append(sentences, drawnLimits[i])
				}
				spec := alice(t, sentences...)
				spec.Keys[0].Output = []proxy.Output{proxy.DrawOutput, proxy.FitOutput}[rng.IntN(2)]
				spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up", DefaultOutput: []int64{0, 1, 7, 100, 1000}[rng.IntN(5)]}}
				var v *virtual
				v = newVirtual(t, spec, (&rambler{rng: rand.New(rand.NewPCG(seed, 8))}).ServeHTTP, func(s *settings) {
					s.options.DrawTimeout = time.Duration(rng.IntN(20)) * time.Second
					s.front = func(h http.Handler) http.Handler {
						return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&watchedWriter{ResponseWriter: w, v: v}, r) })
					}
				})
				v.store.be(time.Duration(rng.IntN(3))*5*time.Millisecond, nil)
				var clients sync.WaitGroup
				for range 1 + rng.IntN(12) {
					calls, starts, stays := 1+rng.IntN(3), time.Duration(rng.IntN(3000))*time.Millisecond, time.Duration(rng.IntN(200))*time.Second
					clients.Go(func() {
						time.Sleep(starts)
						for range calls {
							ctx, leave := context.WithCancel(t.Context())
							if stays > 100*time.Second { // else it stays to the end
								ctx, leave = context.WithTimeout(ctx, stays-100*time.Second)
							}
							got := v.chatUntil(ctx, unlimited)
							leave()
							checkEnd(t, got)
						}
					})
				}
				clients.Wait()
				synctest.Wait()
				v.withinBudgets()
				time.Sleep(time.Second)
				v.booksAgree(t)
			})
		})
	}
}

// checkEnd looks at how an answer ended: broken, refused, or in the protocol.
func checkEnd(t *testing.T, got reply) {
	t.Helper()
	switch {
	case got.err != nil || got.status == 429 || got.status == 400:
	case got.status != 200 || !strings.HasSuffix(got.body, "\n\ndata: [DONE]\n\n"):
		t.Errorf("%d; the end: %.300q", got.status, got.body[max(0, len(got.body)-300):])
	case strings.Contains(got.body, `"tokenfare"`) && strings.Count(got.body, `"tokenfare":{"ended":"budget","budget":"key alice: `) != 1:
		t.Errorf("an ending that says too much: %.500q", got.body[max(0, len(got.body)-500):])
	}
}

// booksAgree checks that what the rows charge is what the limiter has counted, and that they are charged no more than was taken.
func (v *virtual) booksAgree(t *testing.T) {
	t.Helper()
	sums := map[string]int64{}
	for _, x := range v.store.rows(t) {
		if x.End == nil {
			t.Errorf("%v has not ended", x.Begin.Exchange)
			continue
		}
		most, drawn := charged(x.Begin.Charges), int64(0)
		for _, d := range x.Draws {
			for name, n := range charged(d.Charges) {
				most[name] += n
			}
			drawn += d.More.Output
		}
		if n := int64(len(x.Draws)); n > 16+drawn/8 { // 256 tokens are the smallest step, and a 32nd the smallest part of one
			t.Errorf("%d draws for %d tokens", n, drawn)
		}
		for name, n := range charged(x.End.Charges) {
			sums[name] += n
			if n > most[name] {
				t.Errorf("%s: an exchange that ended as %s is charged %d, and had taken %d", name, x.End.Ending, n, most[name])
			}
		}
	}
	for name, s := range v.states() {
		if got := sums[name]; got != s.Used && (strings.Contains(name, " in total") || strings.Contains(name, " each ")) {
			t.Errorf("%s: the rows say %d, the limiter has counted %d", name, got, s.Used)
		}
	}
}
