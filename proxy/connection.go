package proxy

import (
	"context"
	"net/http"
)

// Connection is what a call comes in on, if it can tell that its client has hung up where net/http cannot: the server reads one byte
// behind a request to notice that, and no further, should there be one. And it can break, where net/http would close it in order. It must
// be safe for concurrent use.
type Connection interface {
	// During has left called, from some other goroutine, if the client hangs up before Over, and at once if it has. It replaces what was to
	// be called before.
	During(left context.CancelCauseFunc)
	// Left reports whether the client has hung up since the first During.
	Left() bool
	// Over forgets what was to be called. It may be called by then.
	Over()
	// Break closes the connection so that the client sees an error, and not the end of an answer. What was written before should have
	// reached the client by then, if it can within some seconds.
	Break()
}

type connectionKey struct{}

// WithConnection is a context for the calls of one connection. It is for [http.Server.ConnContext].
func WithConnection(ctx context.Context, c Connection) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// connectionOf is what a call came in on; nil: it cannot tell. Connections of HTTP/2 are read all the time, and hold many calls.
func connectionOf(r *http.Request) Connection {
	if r.ProtoMajor != 1 {
		return nil
	}
	c, _ := r.Context().Value(connectionKey{}).(Connection)
	return c
}
