package proxy

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"sync"
)

// relay passes an answer on: what has come goes to the client when more is waited for, unless all of it is here or about to be.
func (x *exchange) relay(ctx context.Context, w http.ResponseWriter, resp *http.Response) {
	h := w.Header()
	maps.Copy(h, resp.Header)
	x.writeBudgets(ctx, h)
	if x.ended && x.status < 300 && x.facts.Priced { // it was read ahead
		h[headCost] = []string{x.outcome.cost.String()}
	}
	w.WriteHeader(resp.StatusCode)
	if whole, ok := resp.Body.(io.WriterTo); ok {
		if _, gone := whole.WriteTo(w); gone != nil {
			x.cut = gone
			panic(http.ErrAbortHandler)
		}
		return
	}
	p := passage{to: w}
	defer p.release()
	if resp.ContentLength < 0 || x.answer != nil && x.stream {
		p.flusher, _ = w.(http.Flusher)
	}
	if x.idle.tells && p.flusher != nil {
		x.idle.before, p.gathers = p.passOn, true
	} else if p.flusher != nil {
		p.flusher.Flush() // the head: a model may think long before its first word
	}
	for {
		n, err := resp.Body.Read(p.room())
		p.held += n
		if err != nil || !p.gathers {
			_ = p.pass() // why it could not is kept
		}
		switch {
		case p.gone != nil:
			x.cut = p.gone
			panic(http.ErrAbortHandler)
		case err == io.EOF && x.torn():
			_ = p.passOn()
			x.cut = errTorn
			panic(http.ErrAbortHandler)
		case err == io.EOF:
			return
		case err != nil:
			_ = p.passOn()
			x.cut = err
			panic(http.ErrAbortHandler) // the client must see that the answer is not whole
		case !p.gathers && p.flusher != nil:
			p.flusher.Flush()
		}
	}
}

// errTorn says that an upstream ended a stream before its end.
var errTorn = errors.New("the upstream ended a stream in the middle")

// torn reports whether an answer that has ended in order, as HTTP goes, is not whole all the same. Where the upstream closes the connection to
// end it, it would reach the client as one that is.
func (x *exchange) torn() bool {
	return x.answer != nil && !x.coded && x.answer.Torn()
}

// passage takes what was read of an answer to the client. Events that have come together leave together: net/http writes to the client
// up to three times for each piece of more than 4 KiB that is flushed, which was a third of what a burst of 200 events cost. From an
// upstream of which it is not known when it is waited for, an answer is passed on piece by piece.
type passage struct {
	to      http.ResponseWriter
	flusher http.Flusher // nil: nobody waits for a piece of it
	gathers bool         // passOn is called before anything waits
	gone    error        // why nothing more can be passed

	small  *[pieceSize]byte // nil: none was needed yet
	large  *[burstSize]byte // nil: what came lately was short
	passed int              // how much of the buffer has passed
	held   int              // how much of it is filled
}

const (
	pieceSize = 8 << 10  // of the buffer in which an answer waits for more: many wait at once
	burstSize = 32 << 10 // of the one that takes its place as long as more comes than fits
)

// pieces and bursts lend passages their buffers.
var (
	pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}
	bursts = sync.Pool{New: func() any { return new([burstSize]byte) }}
)

// buffer is the one in use.
func (p *passage) buffer() []byte {
	switch {
	case p.large != nil:
		return p.large[:]
	case p.small == nil:
		p.small = pieces.Get().(*[pieceSize]byte)
	}
	return p.small[:]
}

// room is where to read the next piece to. It makes some.
func (p *passage) room() []byte {
	buffer := p.buffer()
	waiting := buffer[p.passed:p.held]
	switch {
	case p.large == nil && len(waiting) == pieceSize:
		p.large = bursts.Get().(*[burstSize]byte)
		copy(p.large[:], waiting)
	case p.large != nil && p.passed > 0 && len(waiting) < pieceSize: // it had to wait: the burst is over
		copy(p.small[:], waiting)
		bursts.Put(p.large)
		p.large = nil
	case len(waiting) == len(buffer):
		_ = p.pass() // why it could not is kept
		waiting = nil
	case p.passed > 0: // else what waits is where it belongs
		copy(buffer, waiting)
	}
	p.passed, p.held = 0, len(waiting)
	return p.buffer()[p.held:]
}

// pass writes what is held, and keeps why it could not.
func (p *passage) pass() error {
	if p.passed < p.held && p.gone == nil {
		_, p.gone = p.to.Write(p.buffer()[p.passed:p.held])
	}
	p.passed = p.held
	return p.gone
}

// passOn sees to it that the client gets everything now.
func (p *passage) passOn() error {
	if err := p.pass(); err != nil {
		return err
	}
	if p.flusher != nil {
		p.flusher.Flush()
	}
	return nil
}

// release gives the buffers back.
func (p *passage) release() {
	if p.small != nil {
		pieces.Put(p.small)
	}
	if p.large != nil {
		bursts.Put(p.large)
	}
}
