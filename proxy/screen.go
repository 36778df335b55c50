package proxy

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/tokenfare/tokenfare/proxy/upstream"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// blanks are what JSON calls so.
const blanks = " \t\r\n"

// Bounds of what waits of a plain answer. Errors are small, and what is longer passes as it comes, for as long as it carries none.
const (
	mostHeld   = 64 << 10 // until it is known whether it carries an error
	mostFailed = 1 << 20  // once that is known
)

// screened is a plain answer of any length on its way to a caller. If it carries an error, what must not be shown is taken out of it;
// what a model says passes byte for byte. What is no object though it should be one is passed on as [events]. Blanks before it, by which
// some providers keep a connection alive, pass at once. It is for one goroutine.
type screened struct {
	plainAnswer
	upstream *upstream.Upstream

	size int    // bytes of the answer so far, from the first on that is no blank
	held []byte // what waits
	out  []byte // what is to pass first
	err  error  // after that

	events io.Reader // all that is to come, of an answer that is strange; nil: it is not, as far as it is known
}

// plainAnswer is a [wire.Answer] that is no stream, or one that does more when it is complete.
type plainAnswer interface {
	io.ReadCloser
	Failed() bool
	MayFail() bool
	Complete() bool
	Begun() bool
	Strange() bool
}

// screen returns a plain answer of an upstream as it is to be passed on. It may be of another length.
func screen(a plainAnswer, u *upstream.Upstream) io.ReadCloser {
	return &screened{plainAnswer: a, upstream: u}
}

func (s *screened) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if s.events != nil {
		return s.events.Read(p)
	}
	for len(s.out) == 0 && s.err == nil {
		n, err := s.plainAnswer.Read(p)
		over := err != nil || s.Complete()
		text := p[:n]
		if s.size == 0 && (!over || s.Strange()) {
			text = bytes.TrimLeft(text, blanks)
		}
		s.size += len(text)
		if s.Strange() {
			s.events = events(&rest{s.plainAnswer, append(s.held, text...), err}, s.upstream)
			if s.held = nil; len(text) < n {
				return n - len(text), nil
			}
			return s.events.Read(p)
		}
		if len(s.held) == 0 && s.Begun() && !s.Failed() && (over || s.size > mostHeld || !s.MayFail()) {
			return n, err
		}
		s.held = append(s.held, text...)
		if len(text) < n {
			return n - len(text), nil
		}
		s.release(over, err)
	}
	n := copy(p, s.out)
	if s.out = s.out[n:]; len(s.out) > 0 {
		return n, nil
	}
	s.out = nil
	return n, s.err
}

// release lets pass what is held, if it is over or too long.
func (s *screened) release(over bool, err error) {
	s.err = err
	most := mostHeld
	switch {
	case s.Failed():
		most = mostFailed
	case s.Begun() && !s.MayFail():
		most = 0
	}
	if !over && len(s.held) <= most {
		return
	}
	s.out, s.held = s.held, nil
	switch {
	case !s.Failed():
	case err != nil && !errors.Is(err, io.EOF):
		s.out = nil // it may end in the middle of a secret, and is of no use
	default:
		s.out = s.upstream.Redact(s.out)
	}
}

// readScreened reads a short plain answer whole, as it is to be passed on.
func readScreened(resp *http.Response, a *wire.Answer, u *upstream.Upstream) ([]byte, error) {
	whole, err := readWhole(a, resp.ContentLength)
	a.Close()
	if err == nil && (a.Strange() || a.Failed()) {
		if whole, err = redacted(whole, a, u); err != nil {
			return nil, err
		}
		resp.ContentLength = int64(len(whole))
		resp.Header.Set("Content-Length", strconv.Itoa(len(whole)))
	}
	return whole, err
}

// redacted takes out of a whole answer that is strange, or has failed, what must not be shown.
func redacted(whole []byte, a *wire.Answer, u *upstream.Upstream) ([]byte, error) {
	if !a.Strange() {
		return u.Redact(whole), nil
	}
	text := bytes.TrimLeft(whole, blanks)
	clean, err := io.ReadAll(events(&rest{a, text, io.EOF}, u))
	return append(whole[:len(whole)-len(text):len(whole)-len(text)], clean...), err
}
