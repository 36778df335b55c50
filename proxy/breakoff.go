package proxy

import "net/http"

// breakOff lets a client of HTTP/1.0 see that what it has of an answer is not the whole. Where no length was told, the end of the
// connection is the answer's, and net/http closes it in order, whatever the handler panics with; a proxy in front that speaks HTTP/1.0,
// as nginx does by default, would then give its own client a whole answer. HTTP/1.1 has chunks, of which the last does not come.
func breakOff(rec *record, r *http.Request) {
	from := connectionOf(r)
	if from == nil || r.ProtoAtLeast(1, 1) || len(rec.Header()["Content-Length"]) > 0 {
		return
	}
	if rec.status != 0 && rec.status != statusClientGone { // else there is no answer yet, and flushing would make one
		_ = rec.control.Flush() // what was paid for; a reset throws away what has not left
	}
	from.Break()
}
