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

// Bounds of what waits of a plain answer. Errors are small, and what is longer passes as it comes, for as long as it carries none.
const (
	mostHeld   = 64 << 10 // until it is known whether it carries an error
	mostFailed = 1 << 20  // once that is known
)

// screened is a plain answer of any length on its way to a caller. If it carries an error, what must not be shown is taken out of it;
// what a model says passes byte for byte. Blanks before it, by which some providers keep a connection alive, pass at once. It is for one
// goroutine.
type screened struct {
	plainAnswer
	upstream *upstream.Upstream

	size int    // bytes of the answer so far, from the first on that is no blank
	held []byte // what waits
	out  []byte // what is to pass first
	err  error  // after that
}

// plainAnswer is a [wire.Answer] that is no stream, or one that does more when it is complete.
type plainAnswer interface {
	io.ReadCloser
	Failed() bool
	MayFail() bool
	Complete() bool
}

// screen returns a plain answer of an upstream as it is to be passed on. It may be of another length.
func screen(a plainAnswer, u *upstream.Upstream) io.ReadCloser {
	return &screened{plainAnswer: a, upstream: u}
}

func (s *screened) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(s.out) == 0 && s.err == nil {
		n, err := s.plainAnswer.Read(p)
		over := err != nil || s.Complete()
		text := p[:n]
		if s.size == 0 && !over {
			text = bytes.TrimLeft(text, " \t\r\n")
		}
		s.size += len(text)
		if len(s.held) == 0 && !s.Failed() && (over || s.size > mostHeld || !s.MayFail()) {
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
	case !s.MayFail():
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
	if err == nil && a.Failed() {
		whole = u.Redact(whole)
		resp.ContentLength = int64(len(whole))
		resp.Header.Set("Content-Length", strconv.Itoa(len(whole)))
	}
	return whole, err
}
