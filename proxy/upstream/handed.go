package upstream

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// handed knows whether the body of a request was handed to a Transport to its end. A call that is cancelled returns at once, while another
// goroutine of the Transport's is still at writing it: what that one says of it then comes too late, or never. What was not handed over
// cannot have left.
type handed struct {
	mu   sync.Mutex
	last *handing // guarded by mu; of the latest attempt: a Transport makes another only if it knows of the one before that it was not read
}

// handing is a body that is read by a Transport.
type handing struct {
	io.ReadCloser
	mu     sync.Mutex
	left   int64 // guarded by mu; bytes
	closed bool  // guarded by mu
}

var errHandingOver = errors.New("the call is over")

// of sees to it that the body of a request is watched.
func (h *handed) of(r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	watch := func(body io.ReadCloser) io.ReadCloser {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.last = &handing{ReadCloser: body, left: r.ContentLength}
		return h.last
	}
	r.Body = watch(r.Body)
	if again := r.GetBody; again != nil {
		r.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return watch(body), nil
		}
	}
}

// whole hands nothing more over, and reports whether all was.
func (h *handed) whole() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil {
		return true
	}
	h.last.mu.Lock()
	defer h.last.mu.Unlock()
	h.last.closed = true
	return h.last.left <= 0
}

func (b *handing) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, errHandingOver
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
