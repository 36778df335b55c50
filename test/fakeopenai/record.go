package fakeopenai

import (
	"strings"
	"testing"
	"time"
)

// patience is how long an assertion waits for something that must happen.
const patience = 20 * time.Second

// Calls are the calls of endpoints that cost something so far, in the order of their arrival.
func (s *Server) Calls() []*Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []*Call
	for _, c := range s.calls {
		if c.metered {
			calls = append(calls, c)
		}
	}
	return calls
}

// Everything is every request so far, whatever its path.
func (s *Server) Everything() []*Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Call(nil), s.calls...)
}

// Asked is Σ of what all chat calls so far may use: prompt plus output limits.
func (s *Server) Asked() int64 {
	var sum int64
	for _, c := range s.Calls() {
		sum += c.Asked()
	}
	return sum
}

// PeakExposure is the largest weight, at any moment, of what finished calls had used plus what running ones could use.
func (s *Server) PeakExposure() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// PeakCalls is how many chat calls were under way at the same time, at most. A call is over before the last bytes of its whole
// answer leave, or when the fake has noticed that it broke off.
func (s *Server) PeakCalls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busiest
}

// Await returns the n-th chat call (from 1), waiting for its arrival.
func (s *Server) Await(t testing.TB, n int) *Call {
	t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		arrived := s.arrived
		s.mu.Unlock()
		if calls := s.Calls(); len(calls) >= n {
			return calls[n-1]
		}
		select {
		case <-arrived:
		case <-deadline:
			t.Fatalf("upstream saw %d calls in %s, want %d", len(s.Calls()), patience, n)
		}
	}
}

// Last is the newest chat call.
func (s *Server) Last(t testing.TB) *Call {
	t.Helper()
	calls := s.Calls()
	if len(calls) == 0 {
		t.Fatal("upstream saw no call")
	}
	return calls[len(calls)-1]
}

// WantCalls fails the test unless exactly n chat calls arrived.
func (s *Server) WantCalls(t testing.TB, n int) {
	t.Helper()
	if got := len(s.Calls()); got != n {
		t.Errorf("upstream saw %d calls, want %d", got, n)
	}
}

// WantAbsent fails the test if a secret shows in any header, query or body that arrived.
func (s *Server) WantAbsent(t testing.TB, secret string) {
	t.Helper()
	for i, c := range s.Everything() {
		for name, values := range c.Header {
			if strings.Contains(strings.Join(values, "\n"), secret) {
				t.Errorf("call %d: header %s carries %q", i+1, name, secret)
			}
		}
		if strings.Contains(string(c.Body), secret) || strings.Contains(c.Query, secret) {
			t.Errorf("call %d: body or query carries %q", i+1, secret)
		}
	}
}

// WantCancelled fails the test unless the client dropped the call within the time given after since.
func (c *Call) WantCancelled(t testing.TB, since time.Time, within time.Duration) {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(patience):
		t.Fatalf("upstream call still open %s after the client left", patience)
	}
	at, ok := c.Cancelled()
	if !ok {
		t.Fatal("upstream call ran to its end, want it cancelled")
	}
	if took := at.Sub(since); took > within {
		t.Errorf("upstream call cancelled after %s, want at most %s", took, within)
	}
}
