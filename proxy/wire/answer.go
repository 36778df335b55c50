package wire

import (
	"cmp"
	"errors"
	"io"

	"github.com/tokenfare/tokenfare/cost"
)

// AnswerOptions say how to read an answer. The zero value reads one JSON value as a chat completion and counts nothing.
type AnswerOptions struct {
	// Endpoint is what the answer is from; empty: [Chat].
	Endpoint Endpoint
	// Stream says that the body is a stream of server-sent events, not one JSON value.
	Stream bool
	// Text says that the body is nothing but what the model said, Bytes that it is nothing that can be read.
	Text, Bytes bool
	// Object says that the body should be one JSON object, as those of nearly all answers are, and that it is of interest if it is not:
	// see [Answer.Strange]. It is for what is no stream.
	Object bool
	// Redact returns text without what a caller must not see; the same, if there is nothing. It is given the whole events of a stream
	// that carry an error, and those that may. What else a model says passes byte for byte. It needs Stream.
	Redact func(text []byte) []byte
	// Withhold drops events that carry only the usage of the stream (no choices, and a usage object), for a caller who
	// did not ask for one. It needs Stream.
	Withhold bool
	// Count is the number of tokens of a text in the answering model's vocabulary. It is called by Read with batches of
	// at most 64 KiB, and by Report. If it is nil, nothing is counted.
	Count func(string) int64
	// Most is the most tokens that Count makes of so many bytes; nil: as many as there are bytes.
	Most func(int64) int64
	// Cover pays for what the model says before it passes; nil: it passes unpaid. It needs Stream. See [Cover].
	Cover Cover
}

// Report is what was seen of an answer.
type Report struct {
	Usage     cost.Usage // per figure the largest reported; parts never exceed their wholes
	Model     string     // the model that the answer names first; cut off where it is longer than any name is
	Tier      cost.Tier  // the service tier that the answer names; the dearest, should it name several
	Reported  bool       // a usage object was seen and understood
	Invalid   bool       // a usage object was seen that cannot be true: figures negative, fractional, too large or no numbers
	Counted   int64      // tokens of the text seen, counted only where Usage does not settle the matter (see Report and Counted)
	SawOutput bool       // text was seen, be it content, reasoning or the arguments of a tool call
	Unseen    bool       // what was made is no text, or not all of it is, so that nobody can count it
	Behind    bool       // text came behind the usage that was read last, which may not be all there was
	Complete  bool       // the last event was seen, or the JSON value or the body ended
	Err       error      // why reading ended, if not at the end of the body
}

// maxHeld bounds what an Answer holds of an event: one that is longer is passed on as it comes, unless it begins as an error, which ends the answer.
const (
	maxHeld  = 1 << 20
	readSize = 8 << 10
)

// Answer is an upstream's body on its way to the caller: an io.ReadCloser that notices what goes by. Bytes are passed on
// unchanged and as soon as they are there; a stream from which something is taken out, or that is paid for as it passes, is
// passed on event by event, comments at once. Neither long lines nor long answers make it hold more than some
// 1.3 MiB.
//
// Read and Report are for one goroutine. Close may be called from another.
type Answer struct {
	body      io.ReadCloser
	stream    bool
	withhold  bool
	redact    func([]byte) []byte // nil: nothing is taken out
	cover     Cover               // nil: nothing is paid for
	raw, said bool                // the body is neither JSON nor events; and it is what the model said
	object    bool                // the body should be an object
	last      bool                // an event said that it is the last
	closing   bool                // an event said what comes at the end of a stream: why a choice has ended, its usage, an error
	ends      bool                // nothing is to follow the last event, as far as it says
	failed    bool                // what is no stream says so at its top, as far as it was read
	opening   opening             // of what is no stream
	text      textSink
	scan      scanner
	sse       sse
	known     recall // of a stream
	usage     usageSum
	behind    bool // text came behind the usage that was read last
	unseen    bool // something passed that was made, and is no text
	tier      cost.Tier
	err       error // what ended reading, io.EOF included
	report    *Report

	// Where events are passed on one by one, buf[out:ready] waits for the caller, buf[ready:at] is the event being read, and
	// buf[at:] is to be read.
	buf            []byte
	out, ready, at int
	begun          bool // it is not read yet, as it is not whole and may be like the last one
	passing        bool // the event being read is too long and passes
	dropped        bool // the last thing read was an event, and it was dropped
	unpaid         bool // there is text that is not known to be paid for
	owed           bool // buf[ready:at] waits until it is
	torn           bool // part of the event being read has passed
	noted          bool // buf[ready:at] is an event that is to be noted when it passes...
	recalled       bool // ...and it is like the one remembered
	ended          bool // by the budget, and not by the upstream
	seen           seen // what an ending of ours goes by
}

// NewAnswer wraps the body of an upstream's answer.
func NewAnswer(body io.ReadCloser, o AnswerOptions) *Answer {
	a := &Answer{
		body: body, stream: o.Stream, withhold: o.Stream && o.Withhold, text: textSink{count: o.Count, most: o.Most},
		raw: o.Text || o.Bytes, said: o.Text, object: o.Object && !o.Stream && !o.Text && !o.Bytes,
	}
	if o.Stream {
		a.cover, a.redact = o.Cover, o.Redact
	}
	a.seen.endpoint = cmp.Or(o.Endpoint, Chat)
	a.scan.sink = &a.text
	a.scan.aside = textSink{count: o.Count, most: o.Most}
	a.scan.is = readingOf(cmp.Or(o.Endpoint, Chat), o.Stream)
	a.sse.data = &a.scan
	return a
}

// Close closes the upstream's body.
func (a *Answer) Close() error { return a.body.Close() }

// Read passes on what the upstream sent. It returns as soon as it has something, and the upstream's error once all that
// came before is passed on.
func (a *Answer) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if a.withhold || a.cover != nil || a.redact != nil {
		return a.readEvents(p)
	}
	n, err := a.fill(p)
	a.look(p[:n])
	return n, err
}

// Complete reports whether the answer has said all it has to say: the last event was read, or the JSON value or the body has ended.
// What may still follow is nobody's.
func (a *Answer) Complete() bool {
	switch {
	case a.report != nil:
		return a.report.Complete
	case a.stream:
		return a.sse.done || a.last || a.ended
	case a.raw:
		return errors.Is(a.err, io.EOF)
	default:
		return a.scan.valid()
	}
}

// Torn reports whether the body is an object that has not ended, or a stream that ended in the middle of what the model had to say, though as HTTP it may have ended in
// order: its last event is one that others follow, or is not whole, and none has said why a choice ended, its usage, or an error. A caller who is not told takes it
// for all there is. It is for when reading has ended.
func (a *Answer) Torn() bool {
	if a.raw || a.Complete() {
		return false
	}
	if !a.stream {
		return a.scan.mayFail()
	}
	whole := !a.sse.inEvent || a.scan.valid() // its empty line may be missing
	a.endEvent()
	switch a.seen.endpoint {
	case Chat, Completions, Responses:
		return !a.closing && !a.last && !(whole && a.ends)
	default:
		return false
	}
}

// MayFail reports whether an answer that is one JSON value may carry an error in what is still to come of it: not, if it is no object, or no
// JSON at all.
func (a *Answer) MayFail() bool { return a.scan.mayFail() }

// Failed reports whether an answer that is one JSON value carries an error, as far as it was read: a member error at its top that is not
// null, an object that is called an error, or no member but such as tell what is wrong. The last of these may change as more is read. Of
// other answers nobody knows.
func (a *Answer) Failed() bool { return a.failed }

// fill reads something or fails; readers that return nothing too often fail, too.
func (a *Answer) fill(p []byte) (n int, err error) {
	if a.err != nil {
		return 0, a.err
	}
	for range 100 {
		if n, err = a.body.Read(p); n > 0 || err != nil {
			a.err = err
			return n, err
		}
	}
	a.err = io.ErrNoProgress
	return 0, a.err
}

// look reads a piece that passes.
func (a *Answer) look(b []byte) {
	switch {
	case a.said:
		a.text.add(b)
		return
	case a.raw:
		return
	case !a.stream:
		if a.object {
			a.opening.feed(b)
		}
		a.scan.feed(b)
		a.failed = a.scan.failed || a.scan.complaint == complains
		return
	}
	for len(b) > 0 {
		n := a.again(b)
		if n == 0 {
			var what signal
			if n, what = a.sse.next(b); what == eventEnd {
				a.learn(b[:n])
				a.endEvent()
			}
		}
		b = b[n:]
	}
}

// endEvent takes over what an event said.
func (a *Answer) endEvent() {
	a.scan.takeItem()
	a.unseen = a.unseen || a.scan.hides()
	a.noteBehind(a.scan.valid() && a.scan.usageSeen.reported)
	if a.scan.valid() {
		a.usage.merge(a.scan.usageSeen)
		a.tier = max(a.tier, a.scan.tier)
		a.last = a.last || a.scan.last
		a.closing = a.closing || a.scan.reason || a.scan.usageObject || a.scan.failed
		a.ends = !a.scan.goesOn && !a.scan.choicesItems
	}
	a.text.endEvent()
	a.sse.reset()
}

// noteBehind notes, at the end of an event, whether what it says came behind a usage, unless it has one itself.
func (a *Answer) noteBehind(hasUsage bool) {
	a.behind = !hasUsage && (a.behind || a.text.fresh && a.usage.reported)
}

// Report says what was seen, after reading has ended, however it ended, or the answer is complete. The text is counted unless the answer is
// complete and reports a plausible usage behind all text, since then nobody needs to know. Later calls return the same.
func (a *Answer) Report() Report {
	if a.report != nil {
		return *a.report
	}
	r := &Report{SawOutput: a.text.seen, Complete: a.Complete()}
	a.endEvent() // an answer may end without the empty line, and a JSON value is like one event
	r.Model = string(a.scan.served)
	r.Unseen, r.Behind = a.unseen || a.scan.is.makes != words, a.behind
	r.Usage, r.Reported, r.Invalid, r.Tier = a.scan.is.sorted(a.usage.final()), a.usage.reported, a.usage.invalid, a.tier
	settled := r.Complete && r.Reported && !r.Behind && !r.Invalid && r.Usage.Input > 0 && (r.Usage.Output > 0 || !r.SawOutput)
	if !settled {
		r.Counted = a.Counted()
	}
	if !errors.Is(a.err, io.EOF) {
		r.Err = a.err
	}
	a.report = r
	return *r
}

// Counted is the tokens of the text seen, for a caller of Report who does not believe the usage after all.
func (a *Answer) Counted() int64 {
	if a.text.count == nil {
		return 0
	}
	return a.text.total()
}
