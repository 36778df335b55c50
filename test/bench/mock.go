package main

import (
	"bytes"
	"errors"
	"net"
	"strconv"
	"time"
)

// serveMock is an upstream that does next to nothing for an answer: it reads a request, looks at the first bytes of the body for
// what is wanted, stamps the request's number into a prebuilt answer and writes that in one go. What is measured in front of it is
// then the proxy, not the upstream.
func serveMock(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			m := mockConn{conn: c, buffer: make([]byte, 32<<10)}
			for m.exchange() == nil {
			}
		}()
	}
}

// mockConn is one connection of the mock, with copies of the answers to stamp.
type mockConn struct {
	conn   net.Conn
	buffer []byte
	filled int

	chat, stream, streamUsage *wire
}

var errNoRequest = errors.New("not a request the mock knows")

// exchange reads one request and answers it. Any error ends the connection, which the one who measures will notice.
func (m *mockConn) exchange() error {
	body, err := m.read()
	if err != nil {
		return err
	}
	pace, think, number, err := marks(body)
	if err != nil {
		return err
	}
	if think > 0 {
		<-time.After(think)
	}
	answer := m.choose(body)
	text := answer.with(number)
	m.filled = 0
	if pace == 0 || answer.ends == nil {
		_, err = m.conn.Write(text)
		return err
	}
	return m.writeSlowly(text, answer.ends, pace)
}

// choose picks the answer a request asks for. What a stream asks for stands near the beginning; a proxy may add the wish for usage
// anywhere.
func (m *mockConn) choose(body []byte) *wire {
	switch {
	case !bytes.Contains(body[:min(len(body), 300)], []byte(`"stream":true`)):
		return made(&m.chat, func() wire { return plainWire(chatBody()) })
	case bytes.Contains(body, []byte(`"include_usage":true`)):
		return made(&m.streamUsage, func() wire { return streamWire(eventTexts(true)) })
	default:
		return made(&m.stream, func() wire { return streamWire(eventTexts(false)) })
	}
}

// made returns *w, made now if this is the first use.
func made(w **wire, build func() wire) *wire {
	if *w == nil {
		built := build()
		*w = &built
	}
	return *w
}

// read returns the body of the next request. It is good until the next read.
func (m *mockConn) read() ([]byte, error) {
	for {
		if head := bytes.Index(m.buffer[:m.filled], []byte("\r\n\r\n")); head >= 0 {
			length, err := contentLength(m.buffer[:head+2])
			if err != nil {
				return nil, err
			}
			return m.readRest(head+4, length)
		}
		if m.filled == len(m.buffer) {
			return nil, errNoRequest
		}
		n, err := m.conn.Read(m.buffer[m.filled:])
		if err != nil {
			return nil, err
		}
		m.filled += n
	}
}

func (m *mockConn) readRest(start, length int) ([]byte, error) {
	end := start + length
	if end > len(m.buffer) {
		m.buffer = append(m.buffer[:m.filled], make([]byte, end-m.filled)...)
	}
	for m.filled < end {
		n, err := m.conn.Read(m.buffer[m.filled:end])
		if err != nil {
			return nil, err
		}
		m.filled += n
	}
	if m.filled > end {
		return nil, errNoRequest // nobody here sends a request before the answer to the last
	}
	return m.buffer[start:end], nil
}

func contentLength(head []byte) (int, error) {
	const name = "content-length:"
	for line := range bytes.Lines(head) {
		if len(line) > len(name) && bytes.EqualFold(line[:len(name)], []byte(name)) {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(line[len(name):])), 10, 24)
			return int(n), err
		}
	}
	return 0, errNoRequest
}

// marks finds what the requests of this benchmark carry in their "user" member: the time between events and before the answer, and
// their number.
func marks(body []byte) (pace, think time.Duration, number []byte, err error) {
	head := body[:min(len(body), 300)]
	at := bytes.Index(head, []byte(userMark))
	if at < 0 || len(head) < at+len(userMark)+8+len(blank) {
		return 0, 0, nil, errNoRequest
	}
	rest := head[at+len(userMark):]
	for i, to := range [...]*time.Duration{&pace, &think} {
		ms, err := strconv.ParseUint(string(rest[4*i:4*i+3]), 10, 16)
		if err != nil {
			return 0, 0, nil, err
		}
		*to = time.Duration(ms) * time.Millisecond
	}
	return pace, think, rest[8 : 8+len(blank)], nil
}

// writeSlowly writes one event at a time.
func (m *mockConn) writeSlowly(text []byte, ends []int, pace time.Duration) error {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	begin := 0
	for _, end := range ends {
		if _, err := m.conn.Write(text[begin:end]); err != nil {
			return err
		}
		begin = end
		<-tick.C
	}
	return nil
}
