package fakeopenai

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// exchange carries out one scripted answer.
type exchange struct {
	server *Server
	call   *Call
	answer Answer
	format *format
	w      http.ResponseWriter
	r      *http.Request

	zip  *gzip.Writer // nil: the body is written as it is
	quit sync.Once    // closes call.paused
}

func (e *exchange) run() {
	a := e.answer
	if a.PauseAt == BeforeHeaders && !e.pause() || !e.wait(a.Think) {
		return
	}
	for range a.Hints {
		e.w.WriteHeader(http.StatusEarlyHints)
	}
	switch {
	case a.Wire != "":
		e.hijack(a.Wire)
	case a.Fault == CloseBeforeHeaders:
		panic(http.ErrAbortHandler)
	case a.Flood > 0:
		e.flood()
	case a.Body != "" || a.Status >= 400:
		e.send("application/json", split([]byte(a.Body), a.cuts()), true)
	case e.call.Stream && e.format.events != nil:
		e.send("text/event-stream; charset=utf-8", e.lines(e.format.events(e)), false)
	default:
		media, body := e.format.plain(e)
		if e.format.chunked {
			e.send(media, pieces(body), false)
			return
		}
		e.send(media, split(body, a.cuts()), true)
	}
}

// lines gives events the line ends of the script.
func (e *exchange) lines(events [][]byte) [][]byte {
	if e.answer.CRLF {
		for i := range events {
			events[i] = bytes.ReplaceAll(events[i], []byte("\n"), []byte("\r\n"))
		}
	}
	return events
}

// send writes the head and the pieces, pausing and breaking off where the script says so. A body whose length is
// announced ends at it; others are chunked.
func (e *exchange) send(contentType string, pieces [][]byte, announce bool) {
	a := e.answer
	at := map[int]int{} // offset in the script's unit, by piece
	size := 0
	for i, p := range pieces {
		at[i] = i
		if announce {
			at[i] = size
		}
		size += len(p)
	}
	at[len(pieces)] = len(pieces)
	if announce {
		at[len(pieces)] = size
	}
	e.head(contentType)
	if announce && e.zip == nil {
		if a.Fault == EndEarly {
			size = a.After
		}
		e.w.Header().Set("Content-Length", strconv.Itoa(size))
	}
	status := a.Status
	if status == 0 {
		status = http.StatusOK
	}
	if len(pieces) == 0 {
		e.settle(status)
	}
	e.w.WriteHeader(status)
	for i := 0; i <= len(pieces); i++ {
		if a.Pause != nil && a.PauseAt == at[i] {
			e.flush()
			if !e.pause() {
				return
			}
		}
		if a.Fault != NoFault && a.After == at[i] && e.breakOff() {
			return
		}
		if i == len(pieces) {
			break
		}
		if !announce && !e.wait(a.Pace) {
			return
		}
		if i == len(pieces)-1 {
			e.settle(status)
		}
		if e.write(pieces[i]) != nil {
			e.call.cancel()
			return
		}
	}
	if e.zip != nil {
		e.zip.Close()
	}
}

// settle tells the server what the call used, before its client can know.
func (e *exchange) settle(status int) {
	if status >= 400 {
		e.server.spent(e.call, 0, 0)
		return
	}
	if e.answer.Fault == NoFault {
		e.server.spent(e.call, e.call.Prompt, e.output())
	}
}

// head sets the headers OpenAI sends, account details included, and then the script's own.
func (e *exchange) head(contentType string) {
	h := e.w.Header()
	for name, value := range map[string]string{
		"Content-Type":                   contentType,
		"Cache-Control":                  "no-cache",
		"Openai-Organization":            "org-of-the-shared-account",
		"Openai-Project":                 "proj_of_the_shared_account",
		"Openai-Processing-Ms":           "42",
		"Openai-Version":                 "2020-10-01",
		"X-Request-Id":                   "req_fake",
		"X-Ratelimit-Limit-Requests":     "10000",
		"X-Ratelimit-Limit-Tokens":       "200000",
		"X-Ratelimit-Remaining-Requests": "9999",
		"X-Ratelimit-Remaining-Tokens":   "199000",
		"X-Ratelimit-Reset-Requests":     "8.64s",
		"X-Ratelimit-Reset-Tokens":       "6ms",
		"Set-Cookie":                     "__cf_bm=cookie-of-the-shared-account; path=/; HttpOnly",
		"Cf-Ray":                         "8d1-FRA",
	} {
		h.Set(name, value)
	}
	if e.answer.CompressAnyway || e.answer.Compress && strings.Contains(e.r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		e.zip = gzip.NewWriter(e.w)
	}
	maps.Copy(h, e.answer.Header)
}

func (e *exchange) write(p []byte) error {
	e.call.record(p)
	step := len(p)
	if e.answer.ByteByByte {
		step = 1
	}
	for len(p) > 0 {
		var out io.Writer = e.w
		if e.zip != nil {
			out = e.zip
		}
		n := min(step, len(p))
		if _, err := out.Write(p[:n]); err != nil {
			return err
		}
		e.flush()
		p = p[n:]
	}
	return nil
}

func (e *exchange) flush() {
	if e.zip != nil {
		e.zip.Flush()
	}
	http.NewResponseController(e.w).Flush()
}

// pause is silent until the script ends the silence; false means that the client or the server is gone.
func (e *exchange) pause() bool {
	e.quit.Do(func() { close(e.call.paused) })
	select {
	case <-e.answer.Pause:
		return true
	case <-e.r.Context().Done():
		e.call.cancel()
		return false
	case <-e.server.closing:
		return false
	}
}

// wait lets time pass; false means that the client or the server is gone.
func (e *exchange) wait(d time.Duration) bool {
	if d == 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.r.Context().Done():
		e.call.cancel()
		return false
	case <-e.server.closing:
		return false
	}
}

// breakOff carries out the fault and says whether the answer ends here.
func (e *exchange) breakOff() bool {
	e.flush()
	switch e.answer.Fault {
	case Reset:
		sever(e.r.Context())
	case Abort:
		panic(http.ErrAbortHandler)
	case EndEarly:
	default:
		return false
	}
	return true
}

// hijack takes the connection, writes to it verbatim and closes it. Over HTTP/2 what is written stands among frames.
func (e *exchange) hijack(wire string) {
	e.call.record([]byte(wire))
	conn, _, err := http.NewResponseController(e.w).Hijack()
	if err != nil {
		conn = e.r.Context().Value(connOf{}).(net.Conn) //nolint:forcetypeassert // every request has one
	}
	defer conn.Close()
	io.WriteString(conn, wire)
}

// flood sends one line that does not end for the scripted number of bytes, as fast as the client takes it.
func (e *exchange) flood() {
	e.head("text/event-stream; charset=utf-8")
	e.w.WriteHeader(http.StatusOK)
	block := []byte(strings.Repeat("x", 32<<10))
	io.WriteString(e.w, `data: {"choices":[{"index":0,"delta":{"content":"`)
	for left := e.answer.Flood; left > 0; left -= int64(len(block)) {
		if _, err := e.w.Write(block); err != nil {
			e.call.cancel()
			return
		}
	}
	io.WriteString(e.w, "\"}}]}\n\ndata: [DONE]\n\n")
}

// cuts are the offsets at which a plain body must be divided for the script's pause and fault.
func (a Answer) cuts() []int {
	var at []int
	if a.Pause != nil && a.PauseAt > 0 {
		at = append(at, a.PauseAt)
	}
	if a.Fault != NoFault && a.After > 0 && (len(at) == 0 || at[0] != a.After) {
		at = append(at, a.After)
	}
	if len(at) == 2 && at[0] > at[1] {
		at[0], at[1] = at[1], at[0]
	}
	return at
}

// split divides a body at the offsets, which rise.
func split(body []byte, at []int) [][]byte {
	var out [][]byte
	from := 0
	for _, to := range at {
		if to > from && to < len(body) {
			out, from = append(out, body[from:to]), to
		}
	}
	return append(out, body[from:])
}
