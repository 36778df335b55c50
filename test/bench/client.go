package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// target is a server under measurement, in the part it plays in the table.
type target struct {
	name    string
	process *process
	product bool
	numbers *atomic.Uint64 // of requests; shared by all targets, so that no request is ever sent twice
}

func newTarget(name string, p *process) *target {
	return &target{name: name, process: p, numbers: new(atomic.Uint64)}
}

// longest is how long one answer may take.
const longest = time.Minute

// connection asks a target, one request after the other, and checks the answers. It does as little as possible, so that what it
// shares the machine with is what is measured. It belongs to one goroutine at a time.
type connection struct {
	target   *target
	workload *workload
	conn     net.Conn
	reader   *bufio.Reader
	author   *author
	head     []byte // of every request, up to the number of the body's bytes
	body     []byte
	out      []byte
	answer   []byte
	number   []byte
	want     stamped
	first    time.Duration // to the first byte of the last answer
}

func dial(t *target, w *workload) (*connection, error) {
	conn, err := net.Dial("tcp", t.process.addr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	secret := key
	if w.spent {
		secret = spentKey
	}
	// The headers are those of OpenAI's own Python client.
	head := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n"+
		"Authorization: Bearer %s\r\nContent-Type: application/json\r\nUser-Agent: OpenAI/Python 2.8.1\r\nX-Stainless-Arch: x64\r\n"+
		"X-Stainless-Async: false\r\nX-Stainless-Lang: python\r\nX-Stainless-Os: Linux\r\nX-Stainless-Package-Version: 2.8.1\r\n"+
		"X-Stainless-Retry-Count: 0\r\nX-Stainless-Runtime: CPython\r\nContent-Length: ", t.process.addr, secret)
	return &connection{
		target: t, workload: w, conn: conn, reader: bufio.NewReaderSize(conn, 32<<10), author: newAuthor(),
		head: []byte(head), number: make([]byte, len(blank)), want: newStamped(w.wanted(t.product)),
	}, nil
}

// wanted is the body of the answer that a target gives.
func (w *workload) wanted(product bool) string {
	switch {
	case !w.stream:
		return chatBody()
	case product && !w.usage:
		return concat(withheldTexts())
	default:
		return concat(eventTexts(w.usage))
	}
}

func concat(texts []string) string {
	var all []byte
	for _, t := range texts {
		all = append(all, t...)
	}
	return string(all)
}

func (c *connection) close() { c.conn.Close() }

// ask sends one request, checks the answer and returns how long it took, from the first byte written to the last byte read, or to
// the first.
func (c *connection) ask() (time.Duration, error) {
	c.write("")
	began := time.Now()
	status, body, err := c.exchange(began)
	took := time.Since(began)
	if err == nil {
		err = c.check(status, body)
	}
	if err != nil {
		return 0, fmt.Errorf("%s, %s, request %s: %w", c.workload.name, c.target.name, c.number, err)
	}
	if c.workload.first {
		return c.first, nil
	}
	return took, nil
}

// send sends one request with more members in it and returns the answer, unchecked.
func (c *connection) send(extra string) (int, []byte, error) {
	c.write(extra)
	return c.exchange(time.Now())
}

// write makes the next request.
func (c *connection) write(extra string) {
	n := c.target.numbers.Add(1)
	for i := len(c.number) - 1; i >= 0; i-- {
		c.number[i] = byte('0' + n%10)
		n /= 10
	}
	c.body = c.author.appendBody(c.body[:0], c.workload, c.number, extra)
	c.out = append(c.out[:0], c.head...)
	c.out = strconv.AppendInt(c.out, int64(len(c.body)), 10)
	c.out = append(c.out, "\r\n\r\n"...)
	c.out = append(c.out, c.body...)
}

func (c *connection) exchange(now time.Time) (int, []byte, error) {
	if err := c.conn.SetDeadline(now.Add(longest)); err != nil {
		return 0, nil, err
	}
	if _, err := c.conn.Write(c.out); err != nil {
		return 0, nil, err
	}
	if _, err := c.reader.Peek(1); err != nil {
		return 0, nil, err
	}
	c.first = time.Since(now)
	resp, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	c.answer = c.answer[:0]
	for {
		if len(c.answer) == cap(c.answer) {
			c.answer = append(c.answer, make([]byte, max(4<<10, len(c.answer)))...)[:len(c.answer)]
		}
		n, err := resp.Body.Read(c.answer[len(c.answer):cap(c.answer)])
		c.answer = c.answer[:len(c.answer)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, nil, fmt.Errorf("the answer breaks off after %d bytes: %w", len(c.answer), err)
		}
	}
	if resp.Close {
		return 0, nil, fmt.Errorf("status %d, and the connection is closed: %s", resp.StatusCode, c.answer)
	}
	return resp.StatusCode, c.answer, nil
}

// check compares an answer with what the mock sends for this request.
func (c *connection) check(status int, body []byte) error {
	if c.workload.spent && c.target.product {
		return checkRefusal(status, body)
	}
	want := c.want.with(c.number)
	if status == http.StatusOK && bytes.Equal(body, want) {
		return nil
	}
	if status != http.StatusOK {
		return fmt.Errorf("status %d: %s", status, body)
	}
	at := 0
	for at < len(body) && at < len(want) && body[at] == want[at] {
		at++
	}
	return fmt.Errorf("the answer differs from the mock's at byte %d (it has %d, not %d): %q, want %q",
		at, len(body), len(want), around(body, at), around(want, at))
}

func around(b []byte, at int) []byte { return b[max(0, at-20):min(len(b), at+40)] }

// checkRefusal checks a 429 for a budget that is used up.
func checkRefusal(status int, body []byte) error {
	var refusal struct {
		Error struct{ Message, Type, Code string }
	}
	if err := json.Unmarshal(body, &refusal); err != nil || status != http.StatusTooManyRequests ||
		refusal.Error.Code != "insufficient_quota" || refusal.Error.Message == "" {
		return fmt.Errorf("status %d, want 429 with code insufficient_quota: %s", status, body)
	}
	return nil
}
