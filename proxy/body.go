package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

const (
	firstRoom = 64 << 10 // made for a body before any of it has come: an announcement costs its sender nothing
	nextRoom  = 2 << 20  // made for the rest at once, if so much was announced: nearly all bodies have all they need then, and wait for nothing in the middle
)

// heldBody is a request body in memory, for which there is room until it is released. It is safe for concurrent use, for the
// transport may still be sending it while the answer is relayed.
type heldBody struct {
	room   *room
	own    *share // its caller's
	mu     sync.Mutex
	bytes  []byte   // guarded by mu; as they were read; nil once released
	parts  [][]byte // guarded by mu; what is sent in their place; nil: they are
	booked int64    // guarded by mu
}

// set says what is sent in place of the bytes, of which it may be made.
func (b *heldBody) set(parts [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parts = parts
}

func (b *heldBody) sentLocked() [][]byte {
	if b.parts != nil {
		return b.parts
	}
	return [][]byte{b.bytes}
}

// len is how much is sent.
func (b *heldBody) len() (n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, part := range b.sentLocked() {
		n += int64(len(part))
	}
	return n
}

// reader returns a reader over what is sent. It lets go of what it has read, so a body that has been sent is garbage while its
// answer streams.
func (b *heldBody) reader() io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &sentBody{left: slices.Clone(b.sentLocked())}
}

// release forgets the bytes. It may be called more than once.
func (b *heldBody) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes, b.parts = nil, nil
	b.room.free(b.own, b.booked)
	b.booked = 0
}

type sentBody struct{ left net.Buffers }

func (s *sentBody) Read(p []byte) (int, error) { return s.left.Read(p) }

// WriteTo hands everything to a connection at once, without a copy.
func (s *sentBody) WriteTo(w io.Writer) (int64, error) { return s.left.WriteTo(w) }

func (s *sentBody) Close() error { return nil }

// readBody reads a whole request body, bounded in size, in time and, over all calls together, in memory.
func (s *Server) readBody(c *caller, w http.ResponseWriter, r *http.Request) (*heldBody, error) {
	if isCoded(r.Header) {
		return nil, &wire.Error{
			Status: http.StatusUnsupportedMediaType, Type: "invalid_request_error", Code: "unsupported_content_encoding",
			Message: "Compressed request bodies are not accepted: send the JSON without Content-Encoding.",
		}
	}
	if r.ContentLength > s.options.MaxBody {
		return nil, s.bodyTooLarge()
	}
	// A slow sender holds memory: it has a minute, and a second more for every 64 KiB it announces.
	deadline := time.Now().Add(s.options.BodyTimeout + time.Duration(max(0, r.ContentLength)>>16)*time.Second)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(deadline) // where it cannot be set, whoever made the connection bounds it
	body := &heldBody{room: &s.room, own: c.bodies}
	later := func(by time.Duration) { // it could not be sent meanwhile
		if by > 0 {
			deadline = deadline.Add(by)
			_ = control.SetReadDeadline(deadline)
		}
	}
	if err := s.fill(body, r, later); err != nil {
		body.release()
		_ = control.SetReadDeadline(time.Now().Add(s.options.StrayTimeout)) // the rest of it is only thrown away
		return nil, err
	}
	_ = control.SetReadDeadline(time.Time{})
	return body, nil
}

// isCoded reports whether a body is said to be anything but what it is. A second header counts as much as the first.
func isCoded(h http.Header) bool {
	for _, coding := range h.Values("Content-Encoding") {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return true
		}
	}
	return false
}

// grow makes room for n more bytes, and reports for how long it has waited for that.
func (b *heldBody) grow(ctx context.Context, n int64, patience time.Duration) (time.Duration, error) {
	waited, ok := b.room.take(ctx, b.own, n, patience)
	if !ok {
		return waited, &wire.Error{
			Status: http.StatusServiceUnavailable, Type: "server_error", Code: "server_busy",
			Message: "This proxy holds as many request bodies as its max_buffered allows, or as many of yours as one caller may have. Try again in a moment.",
		}
	}
	b.booked += n
	return waited, nil
}

// fill reads a body. Where there is no room for it, it waits, half as long as a body may take to arrive, and calls later.
func (s *Server) fill(b *heldBody, r *http.Request, later func(by time.Duration)) error {
	patience := s.options.BodyTimeout / 2
	most := s.options.MaxBody + 1 // one more, so that the read that finds the end needs no growth
	if r.ContentLength >= 0 {
		most = r.ContentLength + 1
	}
	size := min(firstRoom, most)
	waited, err := b.grow(r.Context(), size, patience)
	if err != nil {
		return err
	}
	later(waited)
	buffer := make([]byte, 0, size)
	for {
		n, err := r.Body.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if int64(len(buffer)) > s.options.MaxBody {
			return s.bodyTooLarge()
		}
		switch {
		case err == io.EOF:
			b.bytes = buffer
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return &wire.Error{
				Status: http.StatusRequestTimeout, Type: "invalid_request_error", Code: "request_timeout",
				Message: "The request body did not arrive in time.",
			}
		case err != nil:
			return &wire.Error{
				Status: http.StatusBadRequest, Type: "invalid_request_error",
				Message: "The request body broke off before its end.",
			}
		}
		if len(buffer) == cap(buffer) {
			larger := 4 * int64(cap(buffer))
			if r.ContentLength >= 0 {
				larger = max(larger, nextRoom)
			}
			larger = min(larger, most)
			waited, err := b.grow(r.Context(), larger-int64(cap(buffer)), patience)
			if err != nil {
				return err
			}
			later(waited)
			buffer = append(make([]byte, 0, larger), buffer...)
		}
	}
}

func (s *Server) bodyTooLarge() error {
	return &wire.Error{
		Status: http.StatusRequestEntityTooLarge, Type: "invalid_request_error", Code: "request_too_large",
		Message: "The request body is larger than the " + sizeText(s.options.MaxBody) + " this proxy accepts (max_body).",
	}
}
