package proxy

import "context"

// longPrompt is the size in bytes from which on prompts wait for each other to be read and counted: however many there are, they leave
// half of the processors to everybody else, and what they say is not in memory twice.
const longPrompt = 256 << 10

// sit waits for a seat for what is so long, and returns what gives it up. What is short has one. The only error is ctx's.
func (s *Server) sit(ctx context.Context, length int64) (rise func(), err error) {
	if length <= longPrompt {
		return func() {}, nil
	}
	select {
	case s.seats <- struct{}{}:
		return func() { <-s.seats }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
