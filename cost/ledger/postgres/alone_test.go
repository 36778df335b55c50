package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// Of those who share a ledger one corrects at a time, and whoever waits does so no longer than he likes: for the others, or for a
// connection that is free.
func TestOneCorrectsAtATime(t *testing.T) {
	at, ok := fresh(t)
	if !ok {
		return
	}
	stores := [2]*sqlstore.Store{}
	for i := range stores {
		s, err := Open(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		stores[i] = s
	}
	one, two := stores[0], stores[1]
	soon := func(what string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := two.Alone(ctx); err == nil || ctx.Err() == nil {
			t.Errorf("%s: %v, with %v; want an error once there is no time left", what, err, ctx.Err())
		}
	}
	release, err := one.Alone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	soon("another corrects")
	release()
	release() // which changes nothing

	for range toRead.connections {
		s, err := two.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
	}
	soon("all connections are taken")
	if release, err = one.Alone(t.Context()); err != nil {
		t.Fatal(err)
	}
	release()
}
