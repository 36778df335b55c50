package simulated

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
)

// stream writes the answers as server-sent events: for each choice a chunk with the role, one chunk per piece and one with the
// finish reason; then, if asked for, a chunk of usage without choices; then [DONE].
func (c *call) stream(ctx context.Context, w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	s := &stream{call: c, w: w, flush: http.NewResponseController(w).Flush}

	for i := range c.answers {
		s.delta(i, firstDelta{Role: "assistant"}, nil)
	}
	for p := range c.longest + 1 { // after its last piece each choice says why it ended
		if p < c.longest && !c.nextPiece(ctx) || s.err != nil {
			return
		}
		for i, a := range c.answers {
			switch {
			case p < len(a.pieces):
				s.delta(i, contentDelta{a.pieces[p]}, nil)
			case p == len(a.pieces):
				s.delta(i, struct{}{}, &a.finish)
			}
		}
	}
	if c.req.StreamOptions.IncludeUsage {
		last := s.chunk()
		last.Choices = []chunkChoice{}
		last.Usage = encode(c.usage, "")
		s.event(encode(last, ""))
	}
	s.event([]byte("[DONE]\n"))
}

type stream struct {
	*call
	w     io.Writer
	flush func() error
	err   error // the first write error: nothing is written after it
}

func (s *stream) delta(choice int, delta any, finish *string) {
	c := s.chunk()
	c.Choices = []chunkChoice{{Index: choice, Delta: delta, FinishReason: finish}}
	s.event(encode(c, ""))
}

func (s *stream) chunk() chunk {
	c := chunk{
		ID: s.id, Object: "chat.completion.chunk", Created: s.created, Model: s.req.Model,
		ServiceTier: "default", SystemFingerprint: fingerprint,
	}
	if s.req.StreamOptions.IncludeUsage {
		c.Usage = json.RawMessage("null")
	}
	return c
}

// event sends data, which ends with a line feed, as one event of its own, at once.
func (s *stream) event(data []byte) {
	if s.err != nil {
		return
	}
	if _, s.err = s.w.Write([]byte("data: " + string(data) + "\n")); s.err == nil {
		s.err = s.flush()
	}
}
