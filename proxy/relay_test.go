package proxy

import (
	"bytes"
	"errors"
	"net/http"
	"testing"

	"pgregory.net/rapid"
)

// page is a client that counts what was written and what of it has left.
type page struct {
	written []byte
	left    int // bytes that were flushed
	writes  int
	gone    error
}

func (p *page) Header() http.Header { return nil }
func (p *page) WriteHeader(int)     {}
func (p *page) Flush()              { p.left = len(p.written) }
func (p *page) Write(b []byte) (int, error) {
	if p.gone != nil {
		return 0, p.gone
	}
	p.written = append(p.written, b...)
	p.writes++
	return len(b), nil
}

// TestNothingIsHeldWhileMoreIsWaitedFor: whatever the pieces and whenever the upstream is waited for, the client has had all that
// came before, and in the end gets the same bytes.
func TestNothingIsHeldWhileMoreIsWaitedFor(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		to := &page{}
		p := passage{to: to, flusher: to, gathers: true}
		defer p.release()
		var want []byte
		for i := range rapid.IntRange(1, 60).Draw(rt, "pieces") {
			room := p.room()
			if len(room) == 0 {
				rt.Fatal("there is no room")
			}
			if rapid.Bool().Draw(rt, "waits") {
				if err := p.passOn(); err != nil {
					rt.Fatal(err)
				}
				if to.left != len(want) {
					rt.Fatalf("waits while the client has had %d of %d bytes", to.left, len(want))
				}
			}
			n := copy(room, bytes.Repeat([]byte{byte(i)}, rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(0, 2*burstSize)).Draw(rt, "length")))
			want = append(want, room[:n]...)
			p.held += n
		}
		if err := p.pass(); err != nil || !bytes.Equal(to.written, want) {
			rt.Fatalf("%v, %d bytes passed, or others than the %d that came", err, len(to.written), len(want))
		}
	})
}

// TestABurstLeavesInFewWrites: each takes a system call or three.
func TestABurstLeavesInFewWrites(t *testing.T) {
	to := &page{}
	p := passage{to: to, flusher: to, gathers: true}
	defer p.release()
	const events, size = 400, 200
	for range events {
		p.room()
		p.held += copy(p.buffer()[p.held:], make([]byte, size))
	}
	if err := p.passOn(); err != nil {
		t.Fatal(err)
	}
	if most := events*size/burstSize + 1; to.writes > most || to.left < events*size-size {
		t.Errorf("%d bytes have left in %d writes, want at most %d", to.left, to.writes, most)
	}
	if p.large == nil {
		t.Error("the burst was taken to be over before anything was waited for")
	}
	p.held += copy(p.buffer()[p.held:], "a late event")
	if p.room(); p.large != nil {
		t.Error("the large buffer is held while the next event is waited for")
	}
}

// TestAClientThatIsGoneGetsNothingMore, and why is kept.
func TestAClientThatIsGoneGetsNothingMore(t *testing.T) {
	gone := errors.New("gone")
	to := &page{gone: gone}
	p := passage{to: to, flusher: to, gathers: true}
	defer p.release()
	p.held += copy(p.room(), "event")
	if err := p.passOn(); !errors.Is(err, gone) || !errors.Is(p.gone, gone) {
		t.Errorf("%v, %v", err, p.gone)
	}
}
