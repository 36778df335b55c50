package proxy

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// told is a body that tells when it waits, which it does before its reads for as long as silence says.
type told struct {
	ctx     context.Context
	silence []time.Duration
	before  func() error
}

func (s *told) BeforeWaiting(do func() error) { s.before = do }
func (s *told) Close() error                  { return nil }
func (s *told) Read(p []byte) (int, error) {
	if len(s.silence) == 0 {
		return 0, io.EOF
	}
	wait := s.silence[0]
	s.silence = s.silence[1:]
	if wait > 0 {
		if err := s.before(); err != nil {
			return 0, err
		}
		select {
		case <-time.After(wait):
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		}
	}
	return copy(p, "x"), nil
}

// TestOnlyAnUpstreamThatIsWaitedForIsSilent: neither a client that takes its time between two reads is, nor one whose pieces come
// each in time.
func TestOnlyAnUpstreamThatIsWaitedForIsSilent(t *testing.T) {
	const limit = time.Minute
	for name, c := range map[string]struct {
		silence []time.Duration
		between time.Duration // from one read to the next
		tells   bool
		want    error
	}{
		"all is here, and the client is slow":      {[]time.Duration{0, 0, 0}, 2 * limit, true, io.EOF},
		"waits and a slow client":                  {[]time.Duration{limit / 2, limit / 2, limit / 2}, 2 * limit, true, io.EOF},
		"silence":                                  {[]time.Duration{limit / 2, 2 * limit}, 0, true, errIdle},
		"silence of one that cannot tell":          {[]time.Duration{limit / 2, 2 * limit}, 0, false, errIdle},
		"a slow client of one that cannot tell":    {[]time.Duration{limit / 2, limit / 2}, 2 * limit, false, io.EOF},
		"what was here before silence is read too": {[]time.Duration{0, 0, 2 * limit}, 0, true, errIdle},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				from := &told{ctx: ctx, silence: c.silence, before: func() error { return nil }}
				var body io.ReadCloser = from
				if !c.tells {
					body = struct{ io.ReadCloser }{from}
				}
				b := newIdleBody(body, limit, cancel)
				var err error
				for err == nil {
					_, err = b.Read(make([]byte, 10))
					time.Sleep(c.between) // of the bubble
				}
				if !errors.Is(err, c.want) {
					t.Errorf("reading ended with %v, want %v", err, c.want)
				}
			})
		})
	}
}

// TestWhatIsHeldPassesBeforeTheUpstreamIsWaitedFor, and if it cannot nobody waits.
func TestWhatIsHeldPassesBeforeTheUpstreamIsWaitedFor(t *testing.T) {
	gone := errors.New("gone")
	b := newIdleBody(&told{ctx: t.Context(), silence: []time.Duration{time.Hour}}, time.Minute, func(error) {})
	b.before = func() error { return gone }
	if _, err := b.Read(make([]byte, 10)); !errors.Is(err, gone) || b.waits {
		t.Errorf("reading ended with %v, want %v; the timer runs: %v", err, gone, b.waits)
	}
}
