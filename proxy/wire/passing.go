package wire

import (
	"errors"
	"io"
	"slices"
)

// Cover pays for what the model has said so far, of which [Answer.Beyond] tells how much there is. It is called by Read before an
// event passes that has text. It reports whether all of it is paid for. If it is told to wait, it does not return before that is
// so: meanwhile the upstream is not read. An error of it ends the answer without that event: an [*Ending] in the protocol, any
// other as an error of the upstream would.
type Cover func(wait bool) (paid bool, err error)

// Beyond is how many tokens of the text read so far, that of the event to be paid for included, are beyond a limit. It is for
// [Cover]. Nothing is counted as long as the bytes read show that there are none, and nothing is counted twice but a last word.
func (a *Answer) Beyond(limit int64) int64 {
	if a.text.count == nil {
		return 0
	}
	return a.text.beyond(limit)
}

// readEvents passes on what is ready, or reads on until something is.
func (a *Answer) readEvents(p []byte) (int, error) {
	for a.out == a.ready {
		switch {
		case a.owed:
			a.pay()
		case a.at < len(a.buf) && !(a.begun && a.err == nil):
			a.sift()
		case a.err == nil:
			a.begun = false
			a.more()
		case a.ready == len(a.buf):
			return 0, a.err
		default: // the rest is no whole event, but it is the caller's
			a.takeOut()
			a.scan.takeItem()
			a.unpaid = a.unpaid || a.text.fresh
			a.pass()
		}
	}
	n := copy(p, a.buf[a.out:a.ready])
	a.out += n
	return n, nil
}

// more reads from the upstream.
func (a *Answer) more() {
	if a.ready > 0 { // else the event is still growing: copying it for every byte would be quadratic
		a.buf = append(a.buf[:0], a.buf[a.ready:]...)
		a.at -= a.ready
		a.out, a.ready = 0, 0
	}
	held := len(a.buf)
	a.buf = slices.Grow(a.buf, readSize)
	n, _ := a.fill(a.buf[held : held+readSize])
	a.buf = a.buf[:held+n]
}

// errLongError ends a stream: an error that is not all there cannot be searched for what the caller must not see, and none is as long as that.
var errLongError = errors.New("the upstream sent an error of more than 1 MiB in a stream")

// sift reads buf from at on, moves ready behind all that may pass, and cuts out what is withheld. It stops before what is to be
// paid for first, and before an event that is not all there and is likely to be like the last one: that costs least to read at once.
func (a *Answer) sift() {
	for a.at < len(a.buf) && !a.owed {
		if n := a.again(a.buf[a.at:]); n > 0 {
			a.at += n
			a.dropped = false
			a.pass()
			continue
		}
		if a.begun = a.err == nil && a.sse.fresh() && a.known.begun(a.buf[a.at:]); a.begun {
			return
		}
		n, what := a.sse.next(a.buf[a.at:])
		a.at += n
		tooLong := a.passing || a.at-a.ready > maxHeld
		if tooLong && !a.passing && a.redact != nil && beginsError(a.buf[a.ready:a.at]) {
			a.buf, a.err = a.buf[:a.ready], errLongError
			a.at = len(a.buf)
			return
		}
		switch {
		case what == eventEnd:
			a.dropped = a.withhold && !tooLong && a.scan.onlyUsage()
			a.endOwnEvent(n)
		case what != lateLF:
			a.dropped = false
		}
		if a.dropped {
			a.buf = append(a.buf[:a.ready], a.buf[a.at:]...)
			a.at = a.ready
		}
		if a.passing = tooLong && a.sse.inEvent; a.passing || !a.sse.inEvent {
			a.unpaid = a.unpaid || a.text.fresh
			a.pass()
		}
	}
}

// takeOut takes out of the event from ready to at what the caller must not see, if it carries an error or is nothing that a model says, and
// reports whether there was something.
func (a *Answer) takeOut() bool {
	event := a.buf[a.ready:a.at]
	if a.redact == nil || a.torn || len(event) == 0 {
		return false
	}
	clean := a.redact(event)
	if len(clean) == len(event) && (len(clean) == 0 || &clean[0] == &event[0]) || !CarriesError(event) && !saysNothing(event) {
		return false
	}
	a.buf = slices.Replace(a.buf, a.ready, a.at, clean...)
	a.at = a.ready + len(clean)
	return true
}

// endOwnEvent takes over what the event said whose last n bytes are those before at.
func (a *Answer) endOwnEvent(n int) {
	changed := a.takeOut()
	if a.cover != nil {
		a.scan.takeItem()
		a.unpaid = a.unpaid || a.text.fresh
		if !a.torn && a.scan.valid() {
			a.seen.event(a.buf[a.ready:a.at], &a.scan)
			a.noted = true
		}
	}
	if !changed {
		a.learn(a.buf[a.at-n : a.at])
	}
	a.endEvent()
}

// pass lets everything up to at through, if it is paid for; else it is owed.
func (a *Answer) pass() {
	if a.cover != nil && a.unpaid {
		paid, err := a.cover(false)
		if a.owed = !paid || err != nil; a.owed {
			return
		}
	}
	a.let()
}

// pay waits until what is owed is paid for, or ends the answer.
func (a *Answer) pay() {
	a.owed = false
	_, err := a.cover(true)
	if err == nil {
		a.let()
		return
	}
	a.buf, a.err = a.buf[:a.ready], err
	var end *Ending
	if errors.As(err, &end) && !a.torn {
		a.buf = a.seen.end(a.buf, end)
		a.ready, a.err, a.ended = len(a.buf), io.EOF, true
	}
	a.at = len(a.buf)
}

// let passes everything up to at.
func (a *Answer) let() {
	switch {
	case a.at == a.ready || !a.noted:
	case a.recalled:
		a.seen.passedAgain(&a.known)
	default:
		a.seen.passed(a.buf[a.ready:a.at])
	}
	a.ready, a.unpaid, a.noted, a.recalled = a.at, false, false, false
	a.torn = a.sse.inEvent
}
