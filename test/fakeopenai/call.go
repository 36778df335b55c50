package fakeopenai

import (
	"net/http"
	"sync"
	"time"
)

// Unlimited is what a request without an output limit asks for: more than any budget of a test holds.
const Unlimited = int64(1) << 40

// Call is one recorded request and what became of it. The exported fields do not change once the call is recorded.
type Call struct {
	Method, Path string
	Query        string
	Header       http.Header
	Body         []byte
	Fields       map[string][]string // of a form
	Files        map[string][]byte   // of a form: what each field holds

	Model        string
	User         string // the request's user member: tests name their calls with it
	Stream       bool
	IncludeUsage bool
	Choices      int64
	Limited      bool  // an output limit was given
	Output       int64 // output tokens asked for, all choices together; Unlimited when none was given
	Prompt       int64 // prompt tokens by the fake's own count
	Arrived      time.Time

	asked   request
	metered bool // it is for an endpoint that costs something

	paused chan struct{} // closed when the scripted silence begins
	ended  chan struct{} // closed when the handler is done

	running bool // guarded by the server's mu

	mu        sync.Mutex
	sent      []byte
	cancelled time.Time
}

// Asked is everything the call may use: prompt and output tokens.
func (c *Call) Asked() int64 { return c.Prompt + c.Output }

// Paused is closed when the scripted silence of this call begins.
func (c *Call) Paused() <-chan struct{} { return c.paused }

// Ended is closed when the fake is done with the call, whether it finished or its client left.
func (c *Call) Ended() <-chan struct{} { return c.ended }

// Sent is the body sent so far, before any compression.
func (c *Call) Sent() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.sent)
}

// Cancelled says when the client dropped the call before the answer was complete.
func (c *Call) Cancelled() (at time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancelled, !c.cancelled.IsZero()
}

func (c *Call) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancelled.IsZero() {
		c.cancelled = time.Now()
	}
}

func (c *Call) record(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, b...)
}
