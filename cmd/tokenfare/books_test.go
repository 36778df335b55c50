package main

import (
	"crypto/sha256"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/proxy"
)

// TestTheLedgerIsWrittenWhenServingFails: what was spent until then was spent.
func TestTheLedgerIsWrittenWhenServingFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	config := defaultConfig()
	config.Listen, config.Admin.Listen, config.Ledger = "127.0.0.1:0", "127.0.0.1:0", LedgerConfig{URL: "sqlite:" + path}
	spec := proxy.Spec{
		Keys:      []proxy.KeySpec{{Name: "alice", Hashes: [][32]byte{sha256.Sum256([]byte("secret"))}}},
		Upstreams: []proxy.UpstreamSpec{{Name: "up", URL: "http://127.0.0.1:1/v1"}},
	}
	a, err := newApp(t.Context(), config, spec, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	main, admin, err := a.listen()
	if err != nil {
		t.Fatal(err)
	}
	main.listener.Close() // the network is gone
	defer admin.server.Close()
	w := a.books.ledger()
	id := w.IDs().Next()
	w.Begin(&ledger.Begin{Exchange: id, Series: ledger.Series{Key: "alice"}})
	w.End(&ledger.End{Exchange: id, Basis: ledger.Nothing})
	if err := a.runOn(t.Context(), func() {}, main, admin); !errors.Is(err, net.ErrClosed) {
		t.Errorf("serving without a network ended with %v", err)
	}
	store, err := sqlite.Open(t.Context(), path) // nobody holds it any more
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if x, err := s.Find(t.Context(), id); err != nil || x == nil || x.End == nil {
		t.Errorf("the ledger has %+v (%v)", x, err)
	}
}
