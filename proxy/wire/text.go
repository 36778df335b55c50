package wire

import "unicode/utf8"

// maxPending bounds the text that is kept before it is counted; leastPending is what there is room for at first.
const (
	maxPending   = 64 << 10
	leastPending = 1 << 10
)

// textSink gathers the text of an answer. It is counted late, because counting costs more than relaying and an answer
// that reports its usage need not be counted at all; only beyond maxPending is a batch counted at once.
type textSink struct {
	count   func(string) int64 // nil: nothing is kept
	most    func(int64) int64  // tokens that so many bytes can be; nil: as many
	pending []byte
	counted int64
	seen    bool  // there was text
	deltas  int64 // events of a stream that had text
	fresh   bool  // there was text since the last event ended
}

// add takes a piece of text. What is counted does not depend on how the text was cut into pieces.
func (t *textSink) add(b []byte) {
	t.seen = t.seen || len(b) > 0
	t.fresh = t.fresh || len(b) > 0
	if t.count == nil {
		return
	}
	if t.pending == nil {
		t.pending = make([]byte, 0, max(leastPending, min(len(b), maxPending)))
	}
	for len(b) > 0 {
		n := min(len(b), maxPending-len(t.pending))
		t.pending = append(t.pending, b[:n]...)
		if b = b[n:]; len(t.pending) == maxPending {
			t.countUpTo(batchEnd(t.pending))
		}
	}
}

// take adds what was read aside.
func (t *textSink) take(aside *textSink) {
	if !aside.seen {
		return
	}
	t.seen, t.fresh = true, true
	t.counted += aside.counted
	t.add(aside.pending)
	aside.drop()
}

// drop forgets everything.
func (t *textSink) drop() {
	t.pending, t.counted, t.deltas, t.seen, t.fresh = t.pending[:0], 0, 0, false, false
}

// endEvent notes whether the event that has ended had text.
func (t *textSink) endEvent() {
	if t.fresh {
		t.deltas++
		t.fresh = false
	}
}

// total counts what is pending and returns the tokens of all text so far: at least one for each event that had any, since a
// model that is made to repeat itself produces more tokens than the joined text would have.
func (t *textSink) total() int64 {
	t.countUpTo(len(t.pending))
	return max(t.counted, t.deltas)
}

// beyond is how many tokens of all text so far are beyond a limit; 0 if that is certain without counting. Only what came since
// is counted, and of that the last word is left for later, so that counting now and then gives what counting once does.
func (t *textSink) beyond(limit int64) int64 {
	if t.atMost() <= limit {
		return 0
	}
	t.countUpTo(batchEnd(t.pending))
	if t.atMost() <= limit {
		return 0
	}
	last := int64(0)
	if len(t.pending) > 0 {
		last = t.count(string(t.pending))
	}
	return max(0, max(t.counted+last, t.deltas)-limit)
}

// atMost is no less than total, and costs nothing: a token is a byte or more.
func (t *textSink) atMost() int64 {
	bytes := int64(len(t.pending))
	if t.most != nil {
		bytes = t.most(bytes)
	}
	return max(t.counted+bytes, t.deltas)
}

func (t *textSink) countUpTo(end int) {
	if end > 0 {
		t.counted += t.count(string(t.pending[:end]))
		t.pending = t.pending[:copy(t.pending, t.pending[end:])]
	}
}

// batchEnd is where to cut text so that the two sides have as many tokens as the whole: before a space, which begins a
// token in every vocabulary, or failing that between characters.
func batchEnd(b []byte) int {
	const near = 1 << 10
	for end := len(b) - 1; end > max(0, len(b)-near); end-- {
		if b[end] == ' ' && b[end-1] != ' ' {
			return end
		}
	}
	for end := len(b); end > max(0, len(b)-utf8.UTFMax); end-- {
		if r, size := utf8.DecodeLastRune(b[:end]); r != utf8.RuneError || size != 1 {
			return end
		}
	}
	return len(b) // not UTF-8: any place is as good
}
