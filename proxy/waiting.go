package proxy

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
)

// Waiting returns a handler for a program that has no ledger yet to make a [Server] with: it lives, it is not ready, and it answers
// every call as one whose ledger cannot be written does. Nobody is asked for a key. Bodies get so long to arrive.
func Waiting(strayTimeout time.Duration) http.Handler {
	r := chi.NewRouter()
	r.Use(boundStray(strayTimeout))
	r.Get("/healthz", health)
	r.Get("/readyz", noLedger)
	r.NotFound(nothingServed)
	r.MethodNotAllowed(nothingServed)
	return r
}

func noLedger(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "ledger unavailable", http.StatusServiceUnavailable)
}

func nothingServed(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 1 && r.ContentLength != 0 {
		w.Header().Set("Connection", "close") // rather than wait for a body that nobody wants to read
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusServiceUnavailable)
	w.Write(nothingRecorded().JSON()) //nolint:errcheck // a client that does not read its error has left
}
