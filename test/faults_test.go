package test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// Whatever the upstream sends, the proxy neither hangs nor dies, gives every reservation back, and serves the next call.
func TestUpstreamSendsRubbish(t *testing.T) {
	t.Parallel()
	for _, c := range []rubbish{
		{"nothing but a newline", "\n"},
		{"an odd status", "HTTP/1.1 999 Odd\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"},
		{"a status below 100", "HTTP/1.1 042 Odd\r\nContent-Length: 2\r\n\r\nhi"},
		{"a redirect", "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"},
		{"a giant header", "HTTP/1.1 200 OK\r\nX-Giant: " + strings.Repeat("g", 12<<20) + "\r\n\r\n"},
		{"many 1xx", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 5000)},
		{"a length that lies", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nContent-Type: application/json\r\n\r\n{\"usage\":"},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"},
		{"a protocol switch", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"},
		{"JSON of many levels", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + strings.Repeat(`{"usage":[`, 100_000)},
	} {
		for _, over := range fakeopenai.Ways[:2] {
			t.Run(c.name+", "+string(over), func(t *testing.T) {
				t.Parallel()
				sendsRubbish(t, over, fakeopenai.Answer{Wire: c.wire}, c.name == "JSON of many levels")
			})
		}
	}
	for name, answer := range map[string]fakeopenai.Answer{
		"no frames":      {Wire: strings.Repeat("HTTP/1.1 200 OK\r\n\r\n", 1000)},
		"a giant header": {Header: http.Header{"X-Giant": {strings.Repeat("g", 2<<20)}}}, // of frames, each of which is read before the next call's
		"many headers":   {Header: http.Header{"X-Giant": strings.Split(strings.Repeat("g ", 100_000), " ")}},
		"many 1xx":       {Hints: 5000},
		"silence":        {Pause: fakeopenai.Forever(), PauseAt: fakeopenai.BeforeHeaders},
	} {
		t.Run(name+", "+string(fakeopenai.H2), func(t *testing.T) {
			t.Parallel()
			sendsRubbish(t, fakeopenai.H2, answer, false)
		})
	}
}

// rubbish is what an upstream may write.
type rubbish struct{ name, wire string }

func sendsRubbish(t *testing.T, over fakeopenai.Over, answer fakeopenai.Answer, maySucceed bool) {
	for _, stream := range []string{`"stream": false`, `"stream": true`} {
		up := fakeopenai.NewOver(t, over)
		up.Next(model, answer)
		p := harness.Start(t, harness.Config{
			Upstream: up.URL, UpstreamExtra: up.Trust(), Limits: []string{"1000000 tokens in total"}, More: "timeouts: { headers: 2s, idle: 2s }\n",
		})
		got := p.Chat(t, harness.Alice, ask(stream, `"max_tokens": 10`))
		if got.Status == http.StatusOK && got.Err == nil && !maySucceed {
			t.Errorf("%s: a clean 200: %.100s", stream, got.Body)
		}
		if got.Status < 200 || got.Status >= 300 && got.Status < 400 {
			t.Errorf("%s: status %d", stream, got.Status)
		}
		p.WantIdle(t)
		up.WantCalls(t, 1)
		p.Chat(t, harness.Alice, ask(stream, `"max_tokens": 10`)).WantOK(t)
	}
}

// An endless line passes through in bounded memory.
func TestFlood(t *testing.T) {
	size, most := int64(256<<20), int64(128<<20) // all packages run at once, and the collector may come late
	if harness.Race {
		most = 160 << 20
	}
	for _, c := range []struct {
		members string
		over    fakeopenai.Over
	}{
		{`"stream": true`, fakeopenai.Plain},
		{`"stream": true, "stream_options": {"include_usage": true}`, fakeopenai.Plain},
		{`"stream": false`, fakeopenai.Plain},
		{`"stream": true`, fakeopenai.TLS},
		{`"stream": true`, fakeopenai.H2},
		{`"stream": false`, fakeopenai.H2},
	} {
		t.Run(c.members+", "+string(c.over), func(t *testing.T) {
			up := fakeopenai.NewOver(t, c.over)
			up.Next(model, fakeopenai.Answer{}, fakeopenai.Answer{Flood: size})
			p := harness.StartPlain(t, harness.Config{Upstream: up.URL, UpstreamExtra: up.Trust(), Limits: []string{"100000000 tokens in total"}}.YAML())
			p.Chat(t, harness.Alice, ask(`"max_tokens": 10`)).WantOK(t) // loads what is loaded once
			before := p.PeakRSS(t)
			resp := p.Open(t.Context(), t, harness.Alice, ask(c.members, `"max_tokens": 10`))
			n, err := io.Copy(io.Discard, resp.Body)
			if err != nil || n < size {
				t.Errorf("%d bytes, error %v, want all %d through", n, err, size)
			}
			if grown := p.PeakRSS(t) - before; grown > most {
				t.Errorf("memory grew by %d MiB", grown>>20)
			}
			p.WantIdle(t)
		})
	}
}

// Clients that do not read hold the upstream back instead of filling memory.
func TestBackPressure(t *testing.T) {
	const size, clients = 512 << 20, 40
	for _, over := range fakeopenai.Ways {
		t.Run(string(over), func(t *testing.T) {
			up := fakeopenai.NewOver(t, over)
			up.Next(model, fakeopenai.Answer{})
			up.Always(model, fakeopenai.Answer{Flood: size})
			p := harness.StartPlain(t, harness.Config{Upstream: up.URL, UpstreamExtra: up.Trust(), Limits: []string{"100000000 tokens in total"}}.YAML())
			p.Chat(t, harness.Alice, ask(`"max_tokens": 10`)).WantOK(t) // loads what is loaded once
			p.HTTP.Transport.(*http.Transport).DialContext = littleRoom
			before := p.PeakRSS(t)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			for range clients {
				p.Open(ctx, t, harness.Alice, ask(`"stream": true`, `"max_tokens": 10`))
			}
			calls := up.Calls()[1:]
			<-time.After(2 * time.Second)
			for _, call := range calls {
				select {
				case <-call.Ended():
					t.Error("the upstream could send everything to a client that reads nothing")
				default:
				}
			}
			grown := p.PeakRSS(t) - before
			t.Logf("memory grew by %d MiB", grown>>20)
			if grown > 128<<20 {
				t.Error("that is too much")
			}
			leave()
			for _, call := range calls {
				<-call.Ended()
			}
			p.WantIdle(t)
		})
	}
}

// littleRoom dials connections for which the kernel holds little, so that many of them do not fill the machine.
func littleRoom(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		err = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	}
	return conn, err
}

// After a storm of clients that leave at every stage, nothing is left over: no reservation, no goroutine, no connection.
func TestAbortStormLeavesNothing(t *testing.T) {
	storms := 3
	if *long {
		storms = 50
	}
	for _, over := range fakeopenai.Ways {
		t.Run(string(over), func(t *testing.T) { abortStorm(t, over, storms) })
	}
}

func abortStorm(t *testing.T, over fakeopenai.Over, storms int) {
	up := fakeopenai.NewOver(t, over)
	up.Next(model, fakeopenai.Answer{})
	p := harness.Start(t, harness.Config{Upstream: up.URL, UpstreamExtra: up.Trust(), Limits: []string{"1000000000 tokens in total"}})
	p.Chat(t, harness.Alice, ask(`"max_tokens": 10`)).WantOK(t)
	resting := goroutines(t, p)

	for range storms {
		var wait sync.WaitGroup
		for i := range 60 {
			pause := i%12 - 1 // before the headers, and after 0..10 events
			up.Next(model, fakeopenai.Answer{Text: words(20), Pause: fakeopenai.Forever(), PauseAt: pause})
			wait.Go(func() {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				request := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", harness.Alice, ask(`"stream": true`, `"max_tokens": 50`))
				time.AfterFunc(time.Duration(i)*5*time.Millisecond, leave)
				if resp, err := p.HTTP.Do(request.WithContext(ctx)); err == nil {
					harness.Read(resp)
				}
			})
		}
		wait.Wait()
	}
	p.WantIdle(t)
	for _, call := range up.Calls() {
		<-call.Ended()
	}
	p.HTTP.CloseIdleConnections()
	up.Disconnect() // idle connections have two goroutines each, and who left while one was dialled leaves it idle
	harness.Eventually(t, "the program has no more goroutines than before the storm", func() bool {
		return goroutines(t, p) <= resting+10
	})
}

func goroutines(t *testing.T, p *harness.Program) float64 {
	t.Helper()
	n, found := p.Metrics(t).Sum("go_goroutines")
	if !found {
		t.Fatal("there is no metric go_goroutines")
	}
	return n
}
