package proxy

import (
	"io"

	"github.com/tokenfare/tokenfare/proxy/upstream"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// makesObjects reports whether the answers of an endpoint that are no streams are objects, and nothing else. Sound and text may be anything.
func makesObjects(e wire.Endpoint) bool {
	return e != wire.Speech && e != wire.Transcriptions && e != wire.Translations
}

// events is an answer as it is to be passed on that should have been an object and is not: a page or a text that somebody has put in its
// place, or events that are not said to be such. It is read as a stream is: what must not be shown is taken out of events that carry an
// error, and of all that is no event; what a model says in the others passes byte for byte.
func events(body io.ReadCloser, u *upstream.Upstream) io.Reader {
	return wire.NewAnswer(body, wire.AnswerOptions{Stream: true, Redact: u.Redact})
}

// rest is an answer of which something was read already, and how that ended.
type rest struct {
	io.ReadCloser
	read []byte
	err  error // nil: there may be more
}

func (r *rest) Read(p []byte) (int, error) {
	if len(r.read) > 0 {
		n := copy(p, r.read)
		r.read = r.read[n:]
		return n, nil
	}
	if r.err != nil {
		return 0, r.err
	}
	return r.ReadCloser.Read(p)
}
