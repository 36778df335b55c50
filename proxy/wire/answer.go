package wire

import (
	"io"

	"github.com/tokenfare/tokenfare/cost"
)

// AnswerOptions say how to read an answer.
type AnswerOptions struct {
	Stream   bool               // the body is a stream of server-sent events, not one JSON value
	Withhold bool               // drop the usage event that we asked for and the caller did not
	Count    func(string) int64 // tokens of a text in the answering model's vocabulary; nil: nothing is counted
}

// Report is what was seen of an answer.
type Report struct {
	Usage     cost.Usage
	Reported  bool
	Invalid   bool
	Counted   int64
	SawOutput bool
	Complete  bool
	Err       error
}

// Answer is an upstream's body on its way to the caller.
type Answer struct{ body io.ReadCloser }

// NewAnswer wraps body.
func NewAnswer(body io.ReadCloser, o AnswerOptions) *Answer { return &Answer{body} }

// Read passes bytes on.
func (a *Answer) Read(p []byte) (int, error) { return a.body.Read(p) }

// Close closes the upstream's body.
func (a *Answer) Close() error { return a.body.Close() }

// Report says what was seen.
func (a *Answer) Report() Report { return Report{} }
