package fakeopenai

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a scripted upstream. All methods may be called from any goroutine.
type Server struct {
	URL    string // base URL, ending in /v1
	CAFile string // the PEM file of its certificate; "" without TLS

	http    *httptest.Server
	counter *counter
	closing chan struct{}

	mu      sync.Mutex
	models  []string
	always  map[string]Answer
	queued  map[string][]Answer
	script  func(*Call) Answer // nil: always and queued say
	calls   []*Call
	arrived chan struct{} // closed and replaced at every call
	weigh   func(prompt, output int64) int64
	used    int64 // weight of what finished calls used and running calls may use
	peak    int64
	running int // chat calls under way
	busiest int
	lines   map[net.Conn]bool // connections
	stored  *Stored           // nil: nothing is remembered
}

// New starts a server that stops with the test. Without a script it answers every model politely.
func New(t testing.TB) *Server {
	t.Helper()
	return NewOver(t, Plain)
}

// NewOver is New of a server that is spoken to in another way.
func NewOver(t testing.TB, over Over) *Server {
	t.Helper()
	s := &Server{
		counter: newCounter(),
		closing: make(chan struct{}),
		models:  []string{"gpt-4o", "gpt-4o-mini", "gpt-5-mini", "text-embedding-3-small"},
		always:  map[string]Answer{},
		queued:  map[string][]Answer{},
		arrived: make(chan struct{}),
		lines:   map[net.Conn]bool{},
		weigh:   func(prompt, output int64) int64 { return prompt + output },
	}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.route))
	s.http.Config.ConnState, s.http.Config.ConnContext = s.connection, withConn
	s.CAFile = over.Start(t, s.http)
	s.URL = s.http.URL + "/v1"
	t.Cleanup(func() {
		close(s.closing)
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Always sets the answer for a model; "" stands for every model without one of its own.
func (s *Server) Always(model string, a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always[model] = a
}

// Next queues answers for a model ("" for any), each used once, ahead of the standing one.
func (s *Server) Next(model string, a ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued[model] = append(s.queued[model], a...)
}

// Script sets what answers every call, ahead of all other answers. It must not call the server.
func (s *Server) Script(answer func(*Call) Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = answer
}

// Models sets what GET /v1/models lists.
func (s *Server) Models(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = names
}

// Weigh sets how exposure is measured, for budgets that are not in tokens. The default is prompt + output.
func (s *Server) Weigh(weigh func(prompt, output int64) int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.weigh = weigh
}

// Tokens counts text as the fake does.
func (s *Server) Tokens(text string) int64 { return s.counter.Tokens(text) }

// PromptTokens counts the prompt of a chat request as the fake does.
func (s *Server) PromptTokens(body string) int64 {
	var r request
	if json.Unmarshal([]byte(body), &r) != nil {
		return 0
	}
	return s.counter.prompt(r.Messages)
}

func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left while sending; there is nothing to record
	}
	if stored := s.storage(); stored != nil && concernsStored(r, body) {
		s.add(&Call{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header, Body: body})
		stored.Serve(w, r, body)
		return
	}
	switch f := formatOf(r.URL.Path); {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/v1/models"):
		s.listModels(w, r)
	case r.Method == http.MethodPost && f != nil:
		s.answer(w, r, body, f)
	default:
		s.add(&Call{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header, Body: body})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, ErrorBody("Invalid URL ("+r.Method+" "+r.URL.Path+")", "invalid_request_error", ""))
	}
}

func (s *Server) listModels(w http.ResponseWriter, r *http.Request) {
	s.add(&Call{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header})
	s.mu.Lock()
	list := modelList(s.models)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Write(list)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, body []byte, f *format) {
	call := &Call{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header, Body: body, metered: true}
	if err := call.decode(); err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, ErrorBody("We could not parse the body of your request.", "invalid_request_error", ""))
		return
	}
	call.Model, call.User, call.Stream, call.Choices, call.Output = call.asked.Model, call.asked.User, call.asked.Stream, 1, Unlimited
	f.read(s, call)
	answer := s.pick(call)
	s.add(call)
	s.runs(call)
	defer close(call.ended)
	defer s.over(call)
	stop := context.AfterFunc(r.Context(), call.cancel)
	defer stop() // the context also ends when the handler returns, which is no cancellation
	e := &exchange{server: s, call: call, answer: answer, format: f, w: w, r: r}
	e.run()
}

// pick takes what the script says, the next queued answer for the model, or its standing one.
func (s *Server) pick(c *Call) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.script != nil {
		return s.script(c)
	}
	for _, name := range []string{c.Model, ""} {
		if q := s.queued[name]; len(q) > 0 {
			s.queued[name] = q[1:]
			return q[0]
		}
	}
	if a, ok := s.always[c.Model]; ok {
		return a
	}
	return s.always[""]
}

// add records a call and wakes whoever awaits it.
func (s *Server) add(c *Call) {
	c.paused, c.ended, c.Arrived = make(chan struct{}), make(chan struct{}), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	s.used += s.weigh(c.Prompt, c.Output)
	s.peak = max(s.peak, s.used)
	close(s.arrived)
	s.arrived = make(chan struct{})
}

// runs counts a call that is under way.
func (s *Server) runs(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.running = true
	s.running++
	s.busiest = max(s.busiest, s.running)
}

// over takes it out again, once. For a whole answer that is before its last bytes leave.
func (s *Server) over(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.running {
		c.running = false
		s.running--
	}
}

// spent replaces what a call might have used by what it did use. It is called before the last bytes leave, so that the
// exposure never counts more than a client that charges exactly can know.
func (s *Server) spent(c *Call, prompt, output int64) {
	s.over(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used += s.weigh(prompt, output) - s.weigh(c.Prompt, c.Output)
}

func (s *Server) connection(c net.Conn, is http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is == http.StateClosed || is == http.StateHijacked {
		delete(s.lines, c)
	} else {
		s.lines[c] = true
	}
}

// Connections is how many connections are open. When a client has died and there are none left, everything that it sent has
// arrived.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lines)
}

// Disconnect closes the connections that nobody uses just now, and those that are used: what is left then on the other
// side is not there because of them.
func (s *Server) Disconnect() { s.http.CloseClientConnections() }
