package proxy

import (
	"context"
	"net/http"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// record is what is known about one HTTP request for its log line and metrics. It is also the ResponseWriter, so that it sees
// the status and the first byte. It belongs to the goroutine that serves the request.
type record struct {
	http.ResponseWriter
	id        ledger.ID
	idNamed   ledger.ID // the id that idName is of
	idName    string
	began     time.Time
	key       string // the caller's name; empty until known
	status    int
	failovers int    // upstreams that were asked as others did not take the call
	code      string // of an error answer
	cause     error  // of an internal error; for the log alone
	firstByte time.Time
	written   int64
	stall     time.Duration // longest time one write may block; 0 means for ever
	deadline  time.Time
	control   *http.ResponseController
	exchange  *exchange
	identity  identity // who asks; nobody until it is known
}

type recordKey struct{}

// recordOf returns the record of a request that came through the server's middleware.
func recordOf(r *http.Request) *record {
	rec, ok := r.Context().Value(recordKey{}).(*record)
	if !ok {
		panic("BUG: a handler that writes a record is mounted outside the record middleware")
	}
	return rec
}

// keepRecord gives the request an id and a record, and hands the finished record to the log and the metrics.
func (s *Server) keepRecord(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &record{
			ResponseWriter: w, id: s.ids.Next(), began: time.Now(),
			stall: 2 * (s.options.IdleTimeout + s.options.DrawTimeout), control: http.NewResponseController(w),
		}
		s.inflight.Add(1)
		defer s.inflight.Done()
		defer func() { s.finish(rec, r) }()
		next.ServeHTTP(rec, r.WithContext(context.WithValue(r.Context(), recordKey{}, rec)))
	})
}

// idText is the id as it is written, which is done several times for each answer.
func (rec *record) idText() string {
	if rec.idName == "" || rec.idNamed != rec.id {
		rec.idNamed, rec.idName = rec.id, rec.id.String()
	}
	return rec.idName
}

// Unwrap lets http.ResponseController find the connection.
func (rec *record) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// Flush is for callers that ask for an http.Flusher.
func (rec *record) Flush() {
	_ = rec.control.Flush() // the writer below is net/http's, which can flush
}

// WriteHeader notes the status.
func (rec *record) WriteHeader(status int) {
	if status < 200 {
		return // an upstream's early hints: their headers are not on the list of those that come back
	}
	rec.begin(status)
	rec.ResponseWriter.WriteHeader(status)
}

// begin notes the status of an answer whose head is about to be sent. The id goes with it, whatever x-request-id says: where an
// upstream has one of its own, that goes before ours.
func (rec *record) begin(status int) {
	if rec.status == 0 {
		rec.status = status
		rec.Header()[headID] = []string{rec.idText()}
	}
}

// Write notes the first byte, and gives a client that does not read a bounded time to begin.
func (rec *record) Write(p []byte) (int, error) {
	now := time.Now()
	if rec.firstByte.IsZero() {
		rec.firstByte = now
	}
	rec.begin(http.StatusOK)
	// Setting a deadline takes a lock or two; moving it when a quarter of it is gone keeps streams cheap. What is left of it is
	// longer than an upstream may be silent and a budget may take to refill, for on HTTP/2 a deadline ends a stream that has nothing to write, too.
	if rec.stall > 0 && rec.deadline.Sub(now) < rec.stall*3/4 {
		rec.deadline = now.Add(rec.stall)
		rec.control.SetWriteDeadline(rec.deadline) //nolint:errcheck // a writer without deadlines has no slow clients
	}
	n, err := rec.ResponseWriter.Write(p)
	rec.written += int64(n)
	return n, err
}
