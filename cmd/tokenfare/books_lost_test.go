package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// takenStore is a ledger in which this process's place was taken.
type takenStore struct{ ledger.Store }

func (takenStore) Resume(context.Context) (*ledger.Past, error) { return &ledger.Past{}, nil }
func (takenStore) Commit(context.Context, *ledger.Batch) error  { return ledger.ErrFenced }
func (takenStore) Close() error                                 { return nil }

// A process whose place in the ledger was taken can record nothing more, so it serves nothing more.
func TestAProcessThatWasTakenForDeadEnds(t *testing.T) {
	w, _, err := ledger.Open(t.Context(), takenStore{}, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	config := parseTest(t, "listen: \"127.0.0.1:0\"\nadmin: { listen: \"127.0.0.1:0\" }\nledger: none\nupstreams: { up: { url: \"http://localhost:1/v1\" } }\n")
	spec, _ := compileTest(t, config)
	a, err := newApp(t.Context(), config, spec, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a.books = &books{store: takenStore{}, writer: w, ended: make(chan struct{})}
	a.ready = func(string, string) { w.Begin(&ledger.Begin{Exchange: w.IDs().Next()}) }
	ended := make(chan error, 1)
	go func() { ended <- a.run(t.Context()) }()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "took this one for dead") || !errors.Is(err, ledger.ErrFenced) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on serving")
	}
}
