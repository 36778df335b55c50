package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/cost/reconcile"
)

func TestDaysOfALedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := ledger.Open(t.Context(), store, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 8, 1, 23, 59, 59, 0, time.UTC)
	n := int64(0)
	call := func(at time.Time, upstream, served, basis string, input, output int64, price string) ledger.ID {
		n++
		id := ledger.At(at.Add(time.Duration(n) * time.Millisecond))
		w.Begin(&ledger.Begin{Exchange: id, Series: ledger.Series{Key: "alice", Upstream: upstream}, Model: "mini", Price: price})
		usage := cost.Usage{Input: input, Output: output, CachedInput: input / 2, Fees: 3}
		if basis == ledger.Nothing {
			usage = cost.Usage{}
		}
		w.End(&ledger.End{Exchange: id, Ending: "complete", Basis: basis, Served: served, Usage: usage, Cost: cost.NanoUSD(10 * usage.Output)})
		return id
	}
	call(day, "openai", "mini-2026", ledger.Reported, 10, 5, "v1")
	call(day, "openai", "mini-2026", ledger.Nothing, 0, 0, "v1")
	call(day, "azure", "", ledger.Reported, 100, 50, "v1")
	call(day.Add(time.Second), "openai", "", ledger.Unreported, 20, 7, "")
	crashed := call(day.Add(time.Second), "openai", "mini-2026", ledger.Unreported, 1000, 500, "v1")
	call(day.Add(time.Second), "openai", "mini-2026", ledger.Counted, 30, 8, "v1")
	w.Correct([]*ledger.Correction{{
		Exchange: crashed, Series: ledger.Series{Key: "alice", Upstream: "openai"}, Model: "mini", Served: "mini-2026", Was: ledger.Unreported, Basis: ledger.Nothing,
		Usage: cost.Usage{Input: -1000, Output: -500, CachedInput: -500, Fees: -3}, Cost: -5000, Reason: "never ran",
	}})
	ended, end := context.WithCancel(t.Context())
	end()
	if err := w.Run(ended); err != nil { // writes what is queued
		t.Fatal(err)
	}
	store.Close()

	first := reconcile.DateOf(day)
	got, err := readDays(t.Context(), nil, "sqlite:"+path, first, first+1, "openai")
	if err != nil {
		t.Fatal(err)
	}
	all := reconcile.Usage | reconcile.Cost
	want := []reconcile.Day{
		{Date: first, Model: "mini-2026", Known: all, Requests: 1, Input: 10, CachedInput: 5, Output: 5, Cost: 50, Fees: 3},
		{
			Date: first + 1, Model: "mini", Known: reconcile.Usage, Requests: 1, Input: 20, CachedInput: 10, Output: 7, Cost: 70, Fees: 3,
			Unreported: reconcile.Share{Requests: 1, Input: 20, Output: 7, Cost: 70},
		},
		{
			Date: first + 1, Model: "mini-2026", Known: all, Requests: 1, Input: 30, CachedInput: 15, Output: 8, Cost: 80, Fees: 3,
			Counted: reconcile.Share{Requests: 1, Input: 30, Output: 8, Cost: 80},
		},
	}
	order := cmpopts.SortSlices(func(a, b reconcile.Day) bool { return a.Date < b.Date || a.Date == b.Date && a.Model < b.Model })
	if diff := cmp.Diff(want, got, order); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
}
