package fakeopenai

import (
	"net/http"
	"time"
)

// Report says when an answer carries a usage object.
type Report uint8

// The ways to report usage. AsAsked is OpenAI's: always in plain answers, in streams when include_usage is true.
const (
	AsAsked     Report = iota
	Absent             // never
	EveryChunk         // in every event with growing counts, asked or not, as some compatible servers do
	OnLastChunk        // on the last event with choices, asked or not
)

// Fault is a way in which an answer breaks off.
type Fault uint8

// The faults. All but the first two strike after Answer.After units have been sent.
const (
	NoFault            Fault = iota
	CloseBeforeHeaders       // the request is read, then the connection closes without a status; over HTTP/2 the stream
	Reset                    // a TCP reset in the middle of the body
	Abort                    // the connection closes in the middle of the body, whose end was announced otherwise; over HTTP/2 the stream
	EndEarly                 // the body ends as if it were complete
)

// BeforeHeaders is the PauseAt of an answer that is silent before its status line.
const BeforeHeaders = -1

// ToolCall is a function call the model answers with.
type ToolCall struct{ ID, Name, Arguments string }

// Answer scripts one response. The zero value is a well-behaved short answer that reports the usage it had.
type Answer struct {
	// What it says.
	Status int         // 0 means 200
	Header http.Header // set on top of the headers OpenAI sends
	Body   string      // verbatim, instead of an answer in OpenAI's format; for errors use ErrorBody
	Text   []string    // the pieces of text of each choice, one event each in a stream; nil means a short greeting
	Tools  []ToolCall  // instead of text
	// Reasoning is the summary of what the model thought, in pieces. The Responses API shows it; others hide it.
	Reasoning []string
	Finish    string // finish_reason; "" means "stop", or "tool_calls"; the Responses API is incomplete after "length", and fails after "failed"

	// What it reports.
	Report   Report
	SpendAll bool     // the usage claims every output token the request allows
	Usage    []string // verbatim usage objects instead of true ones; in a stream each has an event of its own

	// How it is written.
	Azure      bool // a first event with empty choices and no usage, as Azure's content filter sends it
	CRLF       bool // lines end in \r\n
	ByteByByte bool // each byte is flushed alone
	NoDone     bool // the stream ends without data: [DONE]
	Compress   bool // the body is gzipped when the request accepts that
	// CompressAnyway gzips the body of a request that asked for it as it is, as some gateways do.
	CompressAnyway bool
	Hints          int           // interim answers, 103, before the status line
	Think          time.Duration // before the status line
	Pace           time.Duration // before each event of a stream

	// How it goes wrong.
	Fault   Fault
	After   int             // events of a stream or bytes of a plain body that leave before Fault
	Pause   <-chan struct{} // silence until it is closed, the client leaves or the server stops; see Forever
	PauseAt int             // the number of units that leave before the pause, or BeforeHeaders
	Flood   int64           // bytes of one endless line sent in place of the text
	Wire    string          // verbatim bytes for the connection, status line included; then it closes
}

// Forever is a Pause that only the client's leaving or the end of the test ends.
func Forever() <-chan struct{} { return make(chan struct{}) }

// ErrorBody is an error in OpenAI's format.
func ErrorBody(message, kind, code string) string {
	return "{\n    \"error\": {\n        \"message\": " + quote(message) + ",\n        \"type\": " + quote(kind) +
		",\n        \"param\": null,\n        \"code\": " + quote(code) + "\n    }\n}\n"
}
