package simulated

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// chat answers one chat completion. Whole or streamed, an answer takes the same time: a model writes one token after another
// either way.
func (u *upstream) chat(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	req, bad := readChat(w, r, u.Models)
	if bad != nil {
		bad.write(w)
		return
	}
	c := &call{
		upstream: u, req: req, pauses: rand.New(rand.NewPCG(req.seed(0), 1)),
		id: newID("chatcmpl-"), created: began.Unix(),
		usage: usage{PromptTokens: req.promptTokens(u.Count)},
	}
	for i := range req.choices() {
		a := compose(req.question(), req.seed(i)).cut(req.outputLimit(), func(s string) int64 { return u.Count(req.Model, s) })
		c.answers = append(c.answers, a)
		c.longest = max(c.longest, len(a.pieces))
		c.usage.CompletionTokens += a.tokens
	}
	c.usage.TotalTokens = c.usage.PromptTokens + c.usage.CompletionTokens
	if !pause(r.Context(), u.ThinkTime) {
		return
	}
	w.Header().Set("Openai-Processing-Ms", strconv.FormatInt(time.Since(began).Milliseconds(), 10))
	if req.Stream {
		c.stream(r.Context(), w)
	} else {
		c.whole(r.Context(), w)
	}
}

// call is one request being answered.
type call struct {
	*upstream
	req     *chatRequest
	answers []answer
	longest int // pieces of the longest answer: choices are written side by side
	pauses  *rand.Rand
	id      string
	created int64
	usage   usage
}

// fingerprint is constant because what answers never changes.
const fingerprint = "fp_simulated"

func (c *call) whole(ctx context.Context, w http.ResponseWriter) {
	for range c.longest {
		if !c.nextPiece(ctx) {
			return
		}
	}
	out := completion{
		ID: c.id, Object: "chat.completion", Created: c.created, Model: c.req.Model,
		Usage: c.usage, ServiceTier: "default", SystemFingerprint: fingerprint,
	}
	for i, a := range c.answers {
		out.Choices = append(out.Choices, choice{
			Index:        i,
			Message:      message{Role: "assistant", Content: strings.Join(a.pieces, ""), Annotations: []struct{}{}},
			FinishReason: a.finish,
		})
	}
	writeJSON(w, http.StatusOK, out)
}

// nextPiece waits until the next piece is written, and reports whether anybody is still there to read it.
func (c *call) nextPiece(ctx context.Context) bool {
	if c.Pace < 0 {
		return ctx.Err() == nil
	}
	return pause(ctx, c.Pace/2+time.Duration(c.pauses.Int64N(int64(c.Pace)+1)))
}

// seed makes the text and pauses of a choice follow from the prompt alone.
func (q *chatRequest) seed(choice int) uint64 {
	h := newHash()
	fmt.Fprintf(h, "%q %d", q.Model, choice)
	for _, m := range q.Messages {
		fmt.Fprintf(h, " %q %q", m.Role, string(m.Content))
	}
	return h.Sum64()
}

// pause waits for d and reports whether ctx was still alive after it.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
