package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// talk is a proxy in front of an upstream with one conversation, conv_1, that takes a second for what is put into it.
type talk struct {
	*virtual
	probing atomic.Bool // the upstream refuses what it is asked
	gone    atomic.Bool // there is no upstream
}

// newTalk answers items, and what is said in the conversation, by handlers of the test's.
func newTalk(t *testing.T, items, responses http.HandlerFunc, edit ...func(*settings)) *talk {
	t.Helper()
	c := &talk{}
	c.virtual = newVirtual(t, alice(t, "1m tokens in total"), func(w http.ResponseWriter, r *http.Request) {
		switch {
		case c.probing.Load():
			answerWith(400, refusal)(w, r)
		case strings.HasSuffix(r.URL.Path, "/items"):
			time.Sleep(time.Second)
			items(w, r)
		case strings.HasSuffix(r.URL.Path, "/responses"):
			time.Sleep(time.Second)
			responses(w, r)
		default:
			w.Header().Set("Connection", "close")
			answerWith(200, `{"id":"conv_1","object":"conversation"}`)(w, r)
		}
	}, append(edit, func(s *settings) {
		s.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if c.gone.Load() {
				return nil, errors.New("nobody is there")
			}
			return c.network.Dial(ctx, network, address)
		}
	})...)
	if got := c.post(t.Context(), "/v1/conversations", `{}`); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return c
}

const (
	someItems  = wire.Endpoint("/v1/conversations/conv_1/items")
	refusal    = `{"error":{"message":"no","type":"x","param":null,"code":null}}`
	itemsAdded = `{"object":"list","data":[{"id":"msg_1","type":"message"}]}`
)

// holds is how many tokens are reserved for what is in the conversation.
func (c *talk) holds(t *testing.T) int64 {
	t.Helper()
	c.probing.Store(true)
	defer c.probing.Store(false)
	bare := c.post(t.Context(), wire.Responses, strings.Replace(saying("go"), `"conversation":"conv_1",`, `"store":false,`, 1)).reserved(t)
	return c.post(t.Context(), wire.Responses, saying("go")).reserved(t) - bare
}

// asked is how many calls the upstream got.
func (c *talk) asked() (n int) {
	for _, r := range c.sent() {
		if strings.HasSuffix(r.URL.Path, "/responses") {
			n++
		}
	}
	return n
}

// saying is a call in the conversation.
func saying(text string) string {
	return `{"model":"gpt-4o-mini","max_output_tokens":50,"conversation":"conv_1","input":"` + text + `"}`
}

func words(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }

// putting is an item of so many words.
func putting(n int) string {
	return `{"items":[{"type":"message","role":"user","content":"` + words(n) + `"}]}`
}

// saidOf is an answer in the conversation that reports so much usage.
func saidOf(input, output int64) http.HandlerFunc {
	return answerWith(200, fmt.Sprintf(`{"id":"resp_1","object":"response","output":[],"usage":{"input_tokens":%d,"output_tokens":%d,"total_tokens":%d}}`, input, output, input+output))
}

// fates are what may become of what is sent.
var fates = []struct {
	name   string
	answer http.HandlerFunc // nil: it is answered well, but nobody waits for that
	counts bool             // the upstream may have stored it
}{
	{"left", nil, true},
	{"failed", answerWith(500, refusal), true},
	{"no room for anybody", answerWith(503, refusal), true},
	{"redirected", answerWith(302, ""), true},
	{"hung up", hangUp, true},
	{"refused", answerWith(400, refusal), false},
	{"our key refused", answerWith(401, refusal), false},
	{"too many", answerWith(429, refusal), false},
}

// TestItemsCountBeforeTheyAreAnswered, and whatever becomes of them, unless the upstream has refused them.
func TestItemsCountBeforeTheyAreAnswered(t *testing.T) {
	whole := answerWith(200, itemsAdded)
	countsWhateverBecomes(t, whole, func(t *testing.T, answer http.HandlerFunc) *talk { return newTalk(t, answer, saidOf(10, 5)) }, someItems, putting(3000), 3000)
}

// TestWhatIsSaidInAConversationCountsBeforeItIsAnswered, with the longest answer to it, and whatever becomes of it.
func TestWhatIsSaidInAConversationCountsBeforeItIsAnswered(t *testing.T) {
	added := answerWith(200, itemsAdded)
	countsWhateverBecomes(t, saidOf(3010, 5), func(t *testing.T, answer http.HandlerFunc) *talk { return newTalk(t, added, answer) }, wire.Responses, saying(words(3000)), 3050)
}

// countsWhateverBecomes sends something into a conversation for each of the fates, whose answer is whole where its client has left. At least so many tokens
// are to be reserved of it before it is answered, and afterwards, unless the upstream has refused it.
func countsWhateverBecomes(t *testing.T, whole http.HandlerFunc, begin func(*testing.T, http.HandlerFunc) *talk, path wire.Endpoint, body string, least int64) {
	for _, f := range fates {
		t.Run(f.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				ctx, answer := t.Context(), f.answer
				if answer == nil {
					left, leave := context.WithTimeout(t.Context(), 300*time.Millisecond)
					defer leave()
					ctx, answer = left, whole
				}
				c := begin(t, answer)
				var sent sync.WaitGroup
				sent.Go(func() { c.post(ctx, path, body) })
				time.Sleep(200 * time.Millisecond)
				if n := c.holds(t); n < least {
					t.Errorf("before it is answered %d tokens are reserved, not %d", n, least)
				}
				sent.Wait()
				time.Sleep(time.Second)
				if n := c.holds(t); n < least && f.counts || n != 0 && !f.counts {
					t.Errorf("after that %d tokens are reserved, not %d", n, least)
				}
			})
		})
	}
}

// TestWhatNeverLeftIsNotInAConversation: the upstream cannot be reached, or the ledger cannot be written.
func TestWhatNeverLeftIsNotInAConversation(t *testing.T) {
	for name, c := range map[string]struct {
		gone    bool
		failing error
	}{"unreachable": {gone: true}, "unrecorded": {failing: errDisk}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newTalk(t, answerWith(200, itemsAdded), saidOf(10, 5))
				v.gone.Store(c.gone)
				sent := len(v.sent())
				for path, body := range map[wire.Endpoint]string{someItems: putting(3000), wire.Responses: saying(words(3000))} {
					v.store.be(0, c.failing)
					if got := v.post(t.Context(), path, body); got.status < 500 {
						t.Errorf("%s: %d %v %s", path, got.status, got.err, got.body)
					}
					v.store.be(0, nil)
					time.Sleep(time.Minute)
				}
				if n := len(v.sent()) - sent; n != 0 {
					t.Errorf("%d requests were sent", n)
				}
				v.gone.Store(false)
				if n := v.holds(t); n != 0 {
					t.Errorf("%d tokens are reserved for what was never sent", n)
				}
			})
		})
	}
}

// TestAConversationHasWhatWasReported, once its calls have ended well, and no more, be they one after the other.
func TestAConversationHasWhatWasReported(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var input atomic.Int64
		c := newTalk(t, answerWith(200, itemsAdded), func(w http.ResponseWriter, r *http.Request) { saidOf(input.Load(), 7)(w, r) })
		for turn := range int64(5) {
			input.Store(turn*27 + 20)
			if got := c.post(t.Context(), wire.Responses, saying(words(16))); got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if n := c.holds(t); n != (turn+1)*27 {
				t.Errorf("after %d calls the conversation has %d tokens, want %d", turn+1, n, (turn+1)*27)
			}
		}
	})
}

// TestCallsAtOnceInAConversationAllCount: each that begins later is reserved with all that began before, and none is lost when they end.
func TestCallsAtOnceInAConversationAllCount(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var first atomic.Bool
		c := newTalk(t, answerWith(200, itemsAdded), func(w http.ResponseWriter, r *http.Request) {
			if first.CompareAndSwap(false, true) {
				time.Sleep(10 * time.Second) // the upstream reads what was there when each began to be answered
			}
			saidOf(1010, 5)(w, r)
		})
		var all sync.WaitGroup
		for i := range int64(5) {
			all.Go(func() {
				got := c.post(t.Context(), wire.Responses, saying(words(1000)))
				if n := got.reserved(t); got.status != http.StatusOK || n < 1050*(i+1) {
					t.Errorf("call %d: %d, %d tokens were reserved", i, got.status, n)
				}
			})
			time.Sleep(100 * time.Millisecond)
		}
		all.Wait()
		if n := c.holds(t); n < 5*1005 {
			t.Errorf("five calls have put 1005 tokens each into the conversation, and %d are reserved for it", n)
		}
	})
}

// TestALongAnswerCountsAsItIsPaidFor: what a stream draws beyond its first bound may be in its conversation, too.
func TestALongAnswerCountsAsItIsPaidFor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newTalk(t, answerWith(200, itemsAdded), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range 20000 {
				_, _ = fmt.Fprintf(w, `data: {"type":"response.output_text.delta","sequence_number":%d,"delta":" one"}`+"\n\n", i)
			}
			_ = http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Second)
		})
		var said sync.WaitGroup
		said.Go(func() {
			c.post(t.Context(), wire.Responses, `{"model":"gpt-4o-mini","stream":true,"conversation":"conv_1","input":"Hi"}`)
		})
		time.Sleep(5 * time.Second)
		if n := c.holds(t); n < 20000 {
			t.Errorf("while 20000 words are being said %d tokens are reserved for the conversation", n)
		}
		said.Wait()
		if n := c.holds(t); n < 20000 {
			t.Errorf("once they are said %d tokens are reserved for the conversation", n)
		}
	})
}
