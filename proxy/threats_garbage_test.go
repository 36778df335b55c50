package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// wires are what an upstream may write in place of an answer, by what it is.
func wires() map[string]string {
	const ok, sse = "HTTP/1.1 200 OK\r\n", "Content-Type: text/event-stream\r\n"
	const event = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n"
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	return map[string]string{
		"nothing":                    "",
		"a newline":                  "\n",
		"zeros":                      strings.Repeat("\x00", 5000),
		"another protocol":           "SSH-2.0-OpenSSH_9.9\r\n",
		"a greeting":                 "220 mail ready\r\n250 OK\r\n",
		"HTML without a head":        "<html>hello</html>",
		"HTTP/2":                     "\x00\x00\x12\x04\x00\x00\x00\x00\x00" + strings.Repeat("\x00", 18),
		"TLS":                        "\x15\x03\x03\x00\x02\x02\x28",
		"half a status":              "HTTP/1.",
		"a status alone":             "HTTP/1.1 200",
		"half a head":                ok + "Content-Type: appl",
		"status 0":                   "HTTP/1.1 000 x\r\n\r\n",
		"status 99":                  "HTTP/1.1 099 x\r\nContent-Length: 2\r\n\r\nhi",
		"status 99 in two digits":    "HTTP/1.1 99 x\r\nContent-Length: 2\r\n\r\nhi",
		"status 600":                 "HTTP/1.1 600 x\r\nContent-Length: 2\r\n\r\nhi",
		"status 999":                 "HTTP/1.1 999 x\r\nContent-Length: 2\r\n\r\nhi",
		"status 1000":                "HTTP/1.1 1000 x\r\nContent-Length: 2\r\n\r\nhi",
		"status -200":                "HTTP/1.1 -200 x\r\nContent-Length: 2\r\n\r\nhi",
		"status in words":            "HTTP/1.1 OK OK\r\n\r\n",
		"a switch of protocols":      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		"continue for ever":          strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 5000),
		"hints for ever":             strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 5000),
		"a giant header":             ok + "X: " + strings.Repeat("g", 1<<20) + "\r\n\r\n",
		"a million headers":          ok + strings.Repeat("X: y\r\n", 200_000) + "\r\n",
		"a header without a colon":   ok + "Content-Type application/json\r\n\r\n",
		"a header with a NUL":        ok + "X: a\x00b\r\n\r\n",
		"two lengths":                ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"a length that is none":      ok + "Content-Length: many\r\n\r\nhello",
		"a negative length":          ok + "Content-Length: -5\r\n\r\nhello",
		"an enormous length":         ok + "Content-Length: 99999999999999999999\r\n\r\nhello",
		"a length that lies":         ok + "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"usage\":",
		"a long length that lies":    ok + "Content-Type: application/json\r\nContent-Length: 9000000000000\r\n\r\n{\"usage\":",
		"an unknown coding":          ok + "Transfer-Encoding: gzip\r\n\r\nhello",
		"a chunk of no size":         ok + sse + "Transfer-Encoding: chunked\r\n\r\n" + chunk(event) + "zz\r\n",
		"a chunk of negative size":   ok + sse + "Transfer-Encoding: chunked\r\n\r\n" + chunk(event) + "-5\r\n",
		"a chunk of enormous size":   ok + sse + "Transfer-Encoding: chunked\r\n\r\n" + chunk(event) + "ffffffffffffffff\r\n",
		"a chunk that is too short":  ok + sse + "Transfer-Encoding: chunked\r\n\r\n" + chunk(event) + "ff\r\nshort",
		"chunks without an end":      ok + sse + "Transfer-Encoding: chunked\r\n\r\n" + chunk(event),
		"a chunk extension for ever": ok + sse + "Transfer-Encoding: chunked\r\n\r\n5;" + strings.Repeat("x", 1<<20),
		"trailers for ever":          ok + sse + "Transfer-Encoding: chunked\r\n\r\n" + chunk(event) + "0\r\n" + strings.Repeat("X: y\r\n", 300_000),
		"what is no gzip":            ok + sse + "Content-Encoding: gzip\r\n\r\n" + event,
		"an error that is no JSON":   "HTTP/1.1 500 x\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{[[{[",
		"a giant error":              "HTTP/1.1 500 x\r\nContent-Type: application/json\r\n\r\n\"" + strings.Repeat("x", 3<<20) + "\"",
		"an error cut short":         "HTTP/1.1 429 x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"error\":{",
	}
}

// Whatever the upstream writes, a call ends with an error or breaks off visibly, nothing is left of it, and the next is served.
func TestThreatGarbageOnTheWire(t *testing.T) {
	for name, text := range wires() {
		for _, body := range []string{hi, streamed} {
			for _, closes := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, stream %v, closed %v", name, body == streamed, closes), func(t *testing.T) {
					inBubble(t, func(t *testing.T) { garbageOnTheWire(t, text, body, closes) })
				})
			}
		}
	}
}

func garbageOnTheWire(t *testing.T, text, body string, closes bool) {
	garbage := true
	var v *virtual
	v = newVirtual(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)), func(s *settings) {
		s.options.IdleTimeout = time.Minute
		s.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if !garbage {
				return v.network.Dial(ctx, network, address)
			}
			ours, theirs := net.Pipe()
			t.Cleanup(func() { theirs.Close() })
			go func() {
				defer theirs.Close()
				r, err := http.ReadRequest(bufio.NewReader(theirs))
				if err != nil {
					return
				}
				io.Copy(io.Discard, r.Body)
				io.WriteString(theirs, text)
				if !closes { // it is silent, until the proxy hangs up
					io.Copy(io.Discard, theirs)
				}
			}()
			return ours, nil
		}
	})
	got := v.chat(body)
	switch {
	case got.err == nil && got.status == http.StatusOK:
		t.Errorf("a clean 200: %.100q", got.body)
	case got.err == nil && (got.status < 400 || got.status > 999):
		t.Errorf("status %d", got.status)
	case got.err == nil:
		got.errorOf(t)
	}
	if got.whole > 21*time.Minute {
		t.Errorf("took %s", got.whole)
	}
	time.Sleep(time.Second) // a client sees that its answer breaks off before the books are closed
	if n := v.limiter.OpenCount(); n != 0 {
		t.Errorf("%d reservations are open", n)
	}
	if n := v.metric("tokenfare_panics_total"); n != 0 {
		t.Errorf("%v panics: %s", n, v.log.String())
	}
	if !closes {
		return // the connection may be kept, and taken by the next call
	}
	garbage = false
	if got := v.chat(hi); got.status != 200 || got.err != nil {
		t.Errorf("the next call: %d %v %s", got.status, got.err, got.body)
	}
}

// Answers that are whole, and are not what they should be, pass as they are, and are charged: never nothing, never more than can be. Streams
// without anything that streams end with break off behind it.
func TestThreatGarbageInAnswers(t *testing.T) {
	for name, c := range map[string]struct{ media, text string }{
		"nothing":                    {"application/json", ""},
		"no JSON":                    {"application/json", "hello"},
		"JSON cut short":             {"application/json", `{"usage":{"prompt_tokens":1`},
		"an array":                   {"application/json", `[{"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}]`},
		"null":                       {"application/json", "null"},
		"types are wrong":            {"application/json", `{"choices":{"a":1},"usage":"x","id":7,"model":[]}`},
		"choices of odd types":       {"application/json", `{"choices":[null,5,"x",{"message":7},{"message":{"content":{"a":"b"}}}]}`},
		"many levels":                {"application/json", strings.Repeat(`{"usage":[`, 50_000)},
		"many levels, closed":        {"application/json", strings.Repeat(`{"usage":[`, 5000) + strings.Repeat(`]}`, 5000)},
		"invalid UTF-8":              {"application/json", "{\"choices\":[{\"message\":{\"content\":\"\xff\xfe\xed\xa0\x80\"}}]}"},
		"another type":               {"text/html", "<html>hello</html>"},
		"no type":                    {"", "hello"},
		"a type that is none":        {";;;=", "hello"},
		"events called JSON":         {"application/json", "data: {\"choices\":[]}\n\ndata: [DONE]\n\n"},
		"JSON called events":         {"text/event-stream", plainAnswer(8, 3)},
		"events of odd types":        {"text/event-stream", "data: null\n\ndata: 5\n\ndata: [[]]\n\ndata: {\"choices\":5,\"usage\":[]}\n\ndata: {\"choices\":[{\"delta\":5}]}\n\n"},
		"lines that are no field":    {"text/event-stream", strings.Repeat("x", 100_000) + "\n\n\x00\n:\n\r\r\n\n"},
		"an event of many levels":    {"text/event-stream", "data: " + strings.Repeat(`{"a":[`, 50_000) + "\n\n"},
		"a BOM and nothing":          {"text/event-stream", "\xef\xbb\xbf"},
		"an event without an end":    {"text/event-stream", `data: {"choices":[{"index":0,"delta":{"content":"word"`},
		"choices beyond what is":     {"text/event-stream", "data: {\"choices\":[{\"index\":999999999999999999999,\"delta\":{\"content\":\"word\"}},{\"index\":-1,\"delta\":{\"content\":\"word\"}}]}\n\n"},
		"more choices than asked of": {"text/event-stream", strings.Repeat("data: {\"choices\":[{\"index\":5,\"delta\":{\"content\":\" word\"}}]}\n\n", 40)},
	} {
		for _, body := range []string{hi, streamed} {
			h := newHouse(t, alice(t, plenty), func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{c.media}
				io.WriteString(w, c.text)
			})
			got := h.chat(body)
			if broken := c.media == "text/event-stream"; got.status != 200 || (got.err != nil) != broken || got.body != c.text {
				t.Errorf("%s: %d, %v, %d bytes of %d", name, got.status, got.err, len(got.body), len(c.text))
			}
			if used := h.settled(plenty); used < 8 || used > 8+100 {
				t.Errorf("%s: charged %d", name, used)
			}
			if n := h.metric("tokenfare_panics_total"); n != 0 {
				t.Errorf("%s: %v panics", name, n)
			}
		}
	}
}
