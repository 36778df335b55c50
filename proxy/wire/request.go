package wire

import "github.com/tokenfare/tokenfare/cost"

// Request is a chat completion request that was read.
type Request struct {
	Cost         cost.Request // what an estimate needs
	Model        string       // as the caller wrote it
	Stream       bool         // the answer is to be streamed
	IncludeUsage bool         // the caller asked for a usage event at the end of the stream

	body []byte
}

// ReadChat reads the body of a chat completion request.
func ReadChat(body []byte) (*Request, error) {
	return nil, badRequest(CodeInvalidJSON, "", "unread")
}
