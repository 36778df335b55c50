package test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// The budget of every test here is "in total", so that what remains shows the charge to the token.
const (
	total  = 1_000_000
	output = 200 // the output limit of every call here
)

// seen says what the client of a call got.
type seen int

const (
	complete seen = iota // a 200 that ends as it should
	broken               // a 200 whose transfer breaks visibly, or an error where nothing had left yet
	failed               // an error status in OpenAI's format
)

// ending is one way for an exchange to end. The charge is a function of what the call could cost.
type ending struct {
	name    string
	model   string // "" means model
	members []string
	answer  fakeopenai.Answer
	sees    seen
	status  int // of a failure
	charged func(c costs) int64
}

// costs are the figures a charge is made of.
type costs struct {
	prompt   int64
	reserved int64 // prompt + output limit
}

func nothing(costs) int64                     { return 0 }
func wholeReservation(c costs) int64          { return c.reserved }
func exactly(n int64) func(costs) int64       { return func(costs) int64 { return n } }
func promptAnd(words int64) func(costs) int64 { return func(c costs) int64 { return c.prompt + words } }

func TestEndings(t *testing.T) {
	t.Parallel()
	stream, counted := []string{`"stream": true`}, []string{`"stream": true`, `"stream_options": {"include_usage": true}`}
	text := words(40)
	usage := func(prompt, completion, total int64) string {
		return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, prompt, completion, total)
	}
	oneEvent := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" red\"}}]}\n\n"
	serverSent := http.Header{"Content-Type": {"text/event-stream"}}

	cases := []ending{
		// Any error status: nothing.
		{"400", "", nil, fakeopenai.Answer{Status: 400, Body: fakeopenai.ErrorBody("Bad.", "invalid_request_error", "x")}, failed, 400, nothing},
		{"404", "", nil, fakeopenai.Answer{Status: 404, Body: fakeopenai.ErrorBody("Gone.", "invalid_request_error", "model_not_found")}, failed, 404, nothing},
		{"429", "", stream, fakeopenai.Answer{Status: 429, Body: fakeopenai.ErrorBody("Slow down.", "tokens", "rate_limit_exceeded")}, failed, 429, nothing},
		{"500", "", stream, fakeopenai.Answer{Status: 500, Body: fakeopenai.ErrorBody("Oops.", "server_error", "x")}, failed, 500, nothing},
		{"503 without a body", "", nil, fakeopenai.Answer{Status: 503}, failed, 503, nothing},
		{"502 in HTML", "", nil, fakeopenai.Answer{Status: 502, Body: "<html>Bad gateway</html>", Header: http.Header{"Content-Type": {"text/html"}}}, failed, 502, nothing},
		// The proxy's own credentials are at fault, not the caller's.
		{"401", "", nil, fakeopenai.Answer{Status: 401, Body: fakeopenai.ErrorBody("Incorrect API key provided: "+harness.UpstreamKey, "invalid_request_error", "invalid_api_key")}, failed, 502, nothing},
		{"403", "", nil, fakeopenai.Answer{Status: 403, Body: fakeopenai.ErrorBody("Not yours.", "invalid_request_error", "x")}, failed, 502, nothing},

		// The request was written and no status came: the whole reservation.
		{"closed before headers", "", nil, fakeopenai.Answer{Fault: fakeopenai.CloseBeforeHeaders}, failed, 502, wholeReservation},
		{"closed before headers, streamed", "", stream, fakeopenai.Answer{Fault: fakeopenai.CloseBeforeHeaders}, failed, 502, wholeReservation},
		{"silent before headers", "", stream, fakeopenai.Answer{Pause: fakeopenai.Forever(), PauseAt: fakeopenai.BeforeHeaders}, failed, 504, wholeReservation},
		{"garbage in place of a status", "", nil, fakeopenai.Answer{Wire: "HELO upstream\r\n\r\n"}, failed, 502, wholeReservation},

		// Complete, with usage: what was reported.
		{"plain", "", nil, fakeopenai.Answer{Text: text}, complete, 0, promptAnd(40)},
		{"streamed", "", stream, fakeopenai.Answer{Text: text}, complete, 0, promptAnd(40)},
		{"streamed, usage asked for", "", counted, fakeopenai.Answer{Text: text}, complete, 0, promptAnd(40)},
		{"streamed, bytes one by one", "", stream, fakeopenai.Answer{Text: words(5), ByteByByte: true}, complete, 0, promptAnd(5)},
		{"streamed, CRLF", "", stream, fakeopenai.Answer{Text: text, CRLF: true}, complete, 0, promptAnd(40)},
		{"streamed, Azure", "", stream, fakeopenai.Answer{Text: text, Azure: true}, complete, 0, promptAnd(40)},
		{"several choices", "", []string{`"n": 3`}, fakeopenai.Answer{Text: text}, complete, 0, promptAnd(120)},
		{"plain, another truth", "", nil, fakeopenai.Answer{Text: text, Usage: []string{usage(30, 70, 100)}}, complete, 0, exactly(100)},
		{"hidden output in the total", "", nil, fakeopenai.Answer{Text: text, Usage: []string{usage(30, 70, 150)}}, complete, 0, exactly(150)},
		{"a total that is too small", "", nil, fakeopenai.Answer{Text: text, Usage: []string{usage(30, 70, 10)}}, complete, 0, exactly(100)},
		{"usage in every chunk", "", stream, fakeopenai.Answer{Text: text, Report: fakeopenai.EveryChunk}, complete, 0, promptAnd(40)},
		{"usage on the last chunk", "", stream, fakeopenai.Answer{Text: text, Report: fakeopenai.OnLastChunk}, complete, 0, promptAnd(40)},
		{"usage repeated", "", stream, fakeopenai.Answer{Text: text, Usage: []string{usage(30, 50, 80), usage(30, 90, 120), usage(30, 45, 75)}}, complete, 0, exactly(120)},
		{"usage without [DONE]", "", stream, fakeopenai.Answer{Text: text, NoDone: true}, complete, 0, promptAnd(40)},
		{"more than was reserved", "", nil, fakeopenai.Answer{Text: text, Usage: []string{usage(30, 5000, 5030)}}, complete, 0, exactly(5030)},
		{"reasoning model", "gpt-5-mini", stream, fakeopenai.Answer{Text: text, Usage: []string{usage(30, 170, 200)}}, complete, 0, exactly(200)},

		// Complete, without usage: what was counted.
		{"plain without usage", "", nil, fakeopenai.Answer{Text: text, Report: fakeopenai.Absent}, complete, 0, promptAnd(40)},
		{"streamed without usage", "", stream, fakeopenai.Answer{Text: text, Report: fakeopenai.Absent}, complete, 0, promptAnd(40)},
		{"several choices streamed without usage", "", []string{`"stream": true`, `"n": 3`}, fakeopenai.Answer{Text: text, Report: fakeopenai.Absent}, complete, 0, promptAnd(120)},

		// Broken off by the upstream, streamed, nothing hidden: prompt and what was streamed. The pause lets the client
		// read up to the break, which a reset would otherwise discard.
		{"aborted mid-stream", "", stream, fakeopenai.Answer{Text: text, Fault: fakeopenai.Abort, After: 11}, broken, 0, promptAnd(10)},
		{"shorter than it says", "", stream, fakeopenai.Answer{Text: text, Header: http.Header{"Content-Length": {"100000"}}, Fault: fakeopenai.EndEarly, After: 11}, broken, 0, promptAnd(10)},
		{"aborted before any text", "", stream, fakeopenai.Answer{Text: text, Fault: fakeopenai.Abort, After: 1}, broken, 0, promptAnd(0)},
		{"silent mid-stream", "", stream, fakeopenai.Answer{Text: text, Pause: fakeopenai.Forever(), PauseAt: 11}, broken, 0, promptAnd(10)},
		{"broken chunk framing", "", stream, fakeopenai.Answer{Wire: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
			fmt.Sprintf("%x\r\n%s\r\nzz\r\n", len(oneEvent), oneEvent)}, broken, 0, promptAnd(1)},

		// Broken off, not streamed or with hidden reasoning: the whole reservation.
		{"plain cut short", "", nil, fakeopenai.Answer{Text: text, Fault: fakeopenai.Abort, After: 100}, broken, 0, wholeReservation},
		{"half JSON that ends cleanly", "", nil, fakeopenai.Answer{Text: text, Fault: fakeopenai.EndEarly, After: 100}, complete, 0, wholeReservation},
		{"reasoning model aborted", "gpt-5-mini", stream, fakeopenai.Answer{Text: text, Fault: fakeopenai.Abort, After: 11}, broken, 0, wholeReservation},

		// Reports that cannot be true: what was counted or reserved, whichever is more.
		{"zero reported", "", nil, fakeopenai.Answer{Text: text, Usage: []string{usage(0, 0, 0)}}, complete, 0, wholeReservation},
		{"zero reported, streamed", "", stream, fakeopenai.Answer{Text: text, Usage: []string{usage(0, 0, 0)}}, complete, 0, wholeReservation},
		{"negative", "", nil, fakeopenai.Answer{Text: text, Usage: []string{usage(30, -70, -40)}}, complete, 0, wholeReservation},
		{"negative, streamed", "", stream, fakeopenai.Answer{Text: text, Usage: []string{usage(-30, 70, 40)}}, complete, 0, wholeReservation},
		{"more than the model can hold", "", nil, fakeopenai.Answer{Text: text, Usage: []string{usage(30, 9_000_000, 9_000_030)}}, complete, 0, wholeReservation},
		{"beyond any integer", "", stream, fakeopenai.Answer{Text: text, Usage: []string{`{"prompt_tokens":1e400,"completion_tokens":99999999999999999999999,"total_tokens":1}`}}, complete, 0, wholeReservation},
		{"zero reported, more counted than reserved", "", nil, fakeopenai.Answer{Text: words(500), Usage: []string{usage(0, 0, 0)}}, complete, 0, promptAnd(500)},
		{"usage of another type", "", nil, fakeopenai.Answer{Text: text, Usage: []string{`"lots"`}}, complete, 0, wholeReservation},

		// Text is not protocol: an answer that talks about usage or framing changes nothing.
		{"text that imitates usage", "", stream, fakeopenai.Answer{
			Text:  []string{`{"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`, "\n\ndata: [DONE]\n\n"},
			Usage: []string{usage(30, 70, 100)},
		}, complete, 0, exactly(100)},
		{"no protocol at all", "", stream, fakeopenai.Answer{Body: "<html>hello</html>", Header: serverSent}, broken, 0, nil},
	}
	for _, c := range cases {
		for _, over := range fakeopenai.Ways {
			name := c.name
			if over != fakeopenai.Plain {
				if !c.byTheWire(over) {
					continue
				}
				name += ", " + string(over)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c.check(t, over)
			})
		}
	}
}

// byTheWire reports whether an ending may be another where the upstream is spoken to in another way.
func (c ending) byTheWire(over fakeopenai.Over) bool {
	a := c.answer
	return a.Fault != fakeopenai.NoFault || a.Pause != nil || c.name == "streamed" || c.name == "plain" || a.Wire != "" && over != fakeopenai.H2
}

func (c ending) check(t *testing.T, over fakeopenai.Over) {
	up := fakeopenai.NewOver(t, over)
	if c.model == "" {
		c.model = model
	}
	up.Always(c.model, c.answer)
	timeouts := "timeouts: { headers: 20s, idle: 20s }\n"
	if c.answer.Pause != nil {
		timeouts = "timeouts: { headers: 1s, idle: 1s }\n"
	}
	p := harness.Start(t, harness.Config{
		Upstream: up.URL, UpstreamExtra: up.Trust(), Limits: []string{fmt.Sprintf("%d tokens in total", total)},
		More: timeouts,
	})
	body := askModel(c.model, append([]string{fmt.Sprintf(`"max_completion_tokens": %d`, output)}, c.members...)...)
	got := p.Chat(t, harness.Alice, body)

	switch c.sees {
	case complete:
		got.WantOK(t)
	case broken:
		if got.Status == http.StatusOK && got.Err == nil {
			t.Error("the client got a clean 200 although the upstream broke off")
		} else if got.Status != http.StatusOK {
			got.WantError(t, http.StatusBadGateway)
		}
	case failed:
		if message := got.WantError(t, c.status).Message; strings.Contains(message, harness.UpstreamKey) {
			t.Errorf("the message shows the upstream's key: %s", message)
		}
	}
	up.WantCalls(t, 1)
	p.WantIdle(t)
	call := up.Last(t)
	figures := costs{prompt: call.Prompt, reserved: call.Prompt + output*call.Choices}
	charged := total - p.Remaining(t, "alice")
	if c.charged == nil {
		if charged < call.Prompt || charged > figures.reserved {
			t.Errorf("charged %d, want from %d to %d", charged, call.Prompt, figures.reserved)
		}
	} else if want := c.charged(figures); charged != want {
		t.Errorf("charged %d, want %d (prompt %d, reserved %d)", charged, want, figures.prompt, figures.reserved)
	}
}

// A reset discards what the receiver has not read yet, so the break waits until the client has seen the text.
func TestResetMidStreamChargesWhatWasStreamed(t *testing.T) {
	for _, over := range fakeopenai.Ways {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			resetMidStream(t, over)
		})
	}
}

func resetMidStream(t *testing.T, over fakeopenai.Over) {
	up := fakeopenai.NewOver(t, over)
	reset := make(chan struct{})
	up.Always(model, fakeopenai.Answer{Text: words(40), Pause: reset, PauseAt: 11, Fault: fakeopenai.Reset, After: 11})
	p := harness.Start(t, harness.Config{Upstream: up.URL, UpstreamExtra: up.Trust(), Limits: []string{fmt.Sprintf("%d tokens in total", total)}})

	resp := p.Open(t.Context(), t, harness.Alice, ask(`"stream": true`, `"max_tokens": 200`))
	readEvents(t, resp.Body, 11)
	close(reset)
	if rest := harness.Read(resp); rest.Err == nil {
		t.Error("the client's transfer ended cleanly although the upstream's was reset")
	}
	p.WantIdle(t)
	if charged := total - p.Remaining(t, "alice"); charged != up.Last(t).Prompt+10 {
		t.Errorf("charged %d, want prompt and 10 words: %d", charged, up.Last(t).Prompt+10)
	}
}

func TestNeverConnectedCostsNothing(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	closed.Close()
	p := harness.Start(t, harness.Config{Upstream: "http://" + address + "/v1", Limits: []string{fmt.Sprintf("%d tokens in total", total)}})

	got := p.Chat(t, harness.Alice, ask(`"max_tokens": 200`))
	if message := got.WantError(t, http.StatusBadGateway).Message; strings.Contains(message, address) {
		t.Errorf("the message shows the upstream's address: %s", message)
	}
	if left := p.Remaining(t, "alice"); left != total {
		t.Errorf("%d tokens left of %d", left, total)
	}
}

// Leaving in a loop is no way around the budget: each call pays for its prompt and for what was streamed.
func TestLeavingInALoopIsCharged(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(40), Pause: fakeopenai.Forever(), PauseAt: 31})
	each := up.PromptTokens(ask()) + 30
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{fmt.Sprintf("%d tokens in total", 5*each+160)}})
	for i := range 6 {
		ctx, leave := context.WithCancel(t.Context())
		resp := p.Open(ctx, t, harness.Alice, ask(`"stream": true`, `"max_tokens": 180`))
		if i == 5 {
			if resp.StatusCode != http.StatusTooManyRequests {
				t.Errorf("call %d: status %d, want 429", i+1, resp.StatusCode)
			}
			leave()
			break
		}
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("call %d: status %d", i+1, resp.StatusCode)
		}
		readEvents(t, resp.Body, 31)
		leave()
		p.WantIdle(t)
	}
}

// A charge above the reservation is debt: it is never forgiven.
func TestOverrunIsDebt(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Usage: []string{`{"prompt_tokens":10,"completion_tokens":3000,"total_tokens":3010}`}})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000 tokens per second, burst 1000"}})
	p.Chat(t, harness.Alice, ask(`"max_tokens": 200`)).WantOK(t)

	refused := p.Chat(t, harness.Alice, ask(`"max_tokens": 200`))
	refused.WantError(t, http.StatusTooManyRequests)
	var ms int
	if _, err := fmt.Sscan(refused.Header.Get("Retry-After-Ms"), &ms); err != nil {
		t.Fatal(err)
	}
	// 2,010 tokens of debt and some 216 to earn at 1,000 a second, less what the test itself took.
	if ms < 1500 || ms > 2300 {
		t.Errorf("retry-after-ms is %d, want about 2200", ms)
	}
}

// readEvents reads n events of a stream.
func readEvents(t testing.TB, body io.Reader, n int) {
	one := make([]byte, 1)
	var last byte
	for seen := 0; seen < n; {
		if _, err := io.ReadFull(body, one); err != nil {
			t.Errorf("read event %d: %v", seen+1, err)
			return
		}
		if last == '\n' && one[0] == '\n' {
			seen++
		}
		last = one[0]
	}
}
