package soak

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tokenfare/tokenfare/cost"
)

// forever is longer than anybody waits for the upstream.
const forever = time.Hour

// answer is the upstream's part of one call.
type answer struct {
	*upstream
	plan plan
	w    http.ResponseWriter
	r    *http.Request
	once sync.Once
}

// over takes the call out of those that run. For a whole answer that is before its last bytes leave.
func (a *answer) over() { a.once.Do(func() { a.runs(a.plan.key, -1) }) }

func (a *answer) run() {
	if !a.pass(a.r, a.plan.think) {
		return
	}
	switch a.plan.day {
	case refused:
		a.fail(http.StatusTooManyRequests)
	case failed:
		a.fail(http.StatusInternalServerError)
	case busy:
		a.fail(http.StatusServiceUnavailable)
	case noStatus:
		a.hijack(false, "")
	case resetFirst:
		a.hijack(true, "")
	case garbage:
		a.hijack(false, "HELO upstream\r\n\r\n")
	case silent:
		a.pass(a.r, forever)
	default:
		if a.plan.streams() {
			a.stream()
		} else {
			a.plain()
		}
	}
}

func (a *answer) status(status int) {
	a.note(a.plan.number, func(c *account) { c.status = status })
	a.w.WriteHeader(status)
}

func (a *answer) fail(status int) {
	a.over()
	a.w.Header().Set("Content-Type", "application/json")
	a.status(status)
	io.WriteString(a.w, `{"error":{"message":"Not today.","type":"server_error","param":null,"code":null}}`)
}

// hijack takes the connection, writes to it and closes it, with a reset if so wished. Over HTTP/2, where other calls are on it, the stream
// is reset.
func (a *answer) hijack(reset bool, wire string) {
	conn, _, err := http.NewResponseController(a.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	io.WriteString(conn, wire)
	if secure, ok := conn.(*tls.Conn); ok && reset {
		conn = secure.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0)
	}
}

// usage is what the answer reports, as JSON, and as it is to be read; "" if it reports nothing.
func (a *answer) usage() (string, cost.Usage) {
	prompt, output := a.promptOf(a.plan), int64(a.plan.words)
	if a.plan.kind == embeddings {
		output = 0
	}
	switch a.plan.day {
	case unreported:
		return "", cost.Usage{}
	case zero:
		prompt, output = 0, 0
	case negative:
		output = -7
	case absurd:
		prompt, output = 90_000_000, 90_000_000 // more than any model holds
	case beyond:
		prompt, output = prompt+9, output+int64(a.plan.most)
	}
	in, out := "prompt_tokens", "completion_tokens"
	switch a.plan.kind {
	case responses, responsesStream:
		in, out = "input_tokens", "output_tokens"
	case embeddings:
		return fmt.Sprintf(`{"prompt_tokens":%d,"total_tokens":%d}`, prompt, prompt), cost.Usage{Input: prompt}
	}
	return fmt.Sprintf(`{"%s":%d,"%s":%d,"total_tokens":%d}`, in, prompt, out, output, prompt+output), cost.Usage{Input: prompt, Output: output}
}

// colours are one token each, alone and joined.
var colours = []string{" red", " green", " blue", " black", " white", " yellow"}

func (p plan) text(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		b.WriteString(colours[i%len(colours)])
	}
	return b.String()
}

// plain answers at once, or half of it.
func (a *answer) plain() {
	report, usage := a.usage()
	if report != "" {
		report = `"usage":` + report + `,`
	}
	body := fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1,%s"model":%q,"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`,
		report, a.plan.model(), a.plan.text(0, a.plan.words))
	switch a.plan.kind {
	case embeddings:
		body = fmt.Sprintf(`{"object":"list",%s"model":%q,"data":[{"object":"embedding","index":0,"embedding":[0.5,0.25]}]}`, report, a.plan.model())
	case responses:
		body = fmt.Sprintf(`{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":%q,%s"output":[{"id":"msg_1","type":"message","status":"completed","role":"assistant",`+
			`"content":[{"type":"output_text","annotations":[],"text":%q}]}]}`, a.plan.model(), report, a.plan.text(0, a.plan.words))
	}
	a.w.Header().Set("Content-Type", "application/json")
	send := body
	switch a.plan.day {
	case resetLater, short, silentBody, badChunk:
		send = body[:len(body)/2]
	default:
		a.whole(usage, report != "")
		a.note(a.plan.number, func(c *account) { c.words = int64(a.plan.words) })
	}
	if a.plan.day == badChunk {
		a.breakChunks(send)
		return
	}
	a.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	a.status(http.StatusOK)
	io.WriteString(a.w, send)
	a.breakOff()
}

// whole notes that all of the answer is given to the network.
func (a *answer) whole(usage cost.Usage, reported bool) {
	a.note(a.plan.number, func(c *account) { c.whole, c.usage, c.reported = true, usage, reported })
	a.over()
}

// breakOff carries out the fault of a body, if it has one.
func (a *answer) breakOff() {
	flush := http.NewResponseController(a.w).Flush
	switch a.plan.day {
	case resetLater:
		flush()
		a.hijack(true, "")
	case short:
		flush()
		panic(http.ErrAbortHandler)
	case silentBody:
		flush()
		a.pass(a.r, forever)
	}
}

// breakChunks sends a chunk and then something that is none.
func (a *answer) breakChunks(text string) {
	media := "application/json"
	if a.plan.streams() {
		media = "text/event-stream"
	}
	if a.r.ProtoMajor == 2 { // it has no chunks
		a.w.Header().Set("Content-Type", media)
		a.status(http.StatusOK)
		io.WriteString(a.w, text)
		http.NewResponseController(a.w).Flush()
	}
	a.note(a.plan.number, func(c *account) { c.status = http.StatusOK })
	a.hijack(false, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\nzz\r\n", media, len(text), text))
}

// events are those of a stream: one for each word, those before and after, and the one that reports usage among the latter.
func (a *answer) events(report string) (before []string, word func(i int) string, after []string) {
	if a.plan.kind == responsesStream {
		made := func(status string, usage string) string {
			return fmt.Sprintf(`"response":{"id":"resp_1","object":"response","created_at":1,"status":%q,"model":%q,%s"output":[]}`, status, a.plan.model(), usage)
		}
		if report != "" {
			report = `"usage":` + report + `,`
		}
		event := func(name, members string) string {
			return fmt.Sprintf("event: %s\ndata: {\"type\":%q,%s}\n\n", name, name, members)
		}
		return []string{event("response.created", made("in_progress", ""))},
			func(i int) string {
				return event("response.output_text.delta", `"item_id":"msg_1","output_index":0,"content_index":0,"delta":`+strconv.Quote(a.plan.text(i, i+1)))
			},
			[]string{event("response.completed", made("completed", report))}
	}
	chunk := func(choices, usage string) string {
		return fmt.Sprintf("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":%q,\"choices\":[%s]%s}\n\n", a.plan.model(), choices, usage)
	}
	after = []string{chunk(`{"index":0,"delta":{},"finish_reason":"stop"}`, "")}
	if report != "" {
		after = append(after, chunk("", `,"usage":`+report))
	}
	return []string{chunk(`{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`, "")},
		func(i int) string {
			return chunk(`{"index":0,"delta":{"content":`+strconv.Quote(a.plan.text(i, i+1))+`},"finish_reason":null}`, "")
		},
		append(after, "data: [DONE]\n\n")
}

// stream answers word by word.
func (a *answer) stream() {
	report, usage := a.usage()
	before, word, after := a.events(report)
	if a.plan.day == badChunk {
		a.note(a.plan.number, func(c *account) { c.words = int64(min(1, a.plan.cut)) })
		text := before[0]
		if a.plan.cut > 0 {
			text += word(0)
		}
		a.breakChunks(text)
		return
	}
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.status(http.StatusOK)
	flush := http.NewResponseController(a.w).Flush
	io.WriteString(a.w, before[0])
	fails := a.plan.day == resetLater || a.plan.day == short || a.plan.day == silentBody
	for i := range a.plan.words {
		if fails && i == a.plan.cut {
			break
		}
		a.note(a.plan.number, func(c *account) { c.words++ })
		_, err := io.WriteString(a.w, word(i))
		if err == nil && a.plan.words < 1000 {
			err = flush()
		}
		if err != nil || !a.pass(a.r, a.plan.pace) {
			return
		}
		if a.plan.gated && i == a.plan.words/2 && !a.awaitGate() {
			return
		}
	}
	if fails {
		a.breakOff()
		return
	}
	a.whole(usage, report != "")
	io.WriteString(a.w, strings.Join(after, ""))
}

// awaitGate waits until the gate opens; false means that whoever asked is gone.
func (a *answer) awaitGate() bool {
	select {
	case <-a.gate:
		return true
	case <-a.r.Context().Done():
	case <-a.closing:
	}
	return false
}
