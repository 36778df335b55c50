package main

import (
	"context"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// syncAlways says that each answer waits for the disk.
const syncAlways time.Duration = -1

// Bounds of how long rows may be on their way to the disk.
const (
	defaultSync  = 40 * time.Millisecond
	shortestSync = time.Millisecond
	longestSync  = time.Second
)

// sync reads for how long rows may be on their way to the disk while their answers leave.
func (d *decoder) sync(n *yaml.Node) time.Duration {
	s, ok := d.text(n, "ledger.sync")
	if !ok {
		return 0
	}
	if s == "always" {
		return syncAlways
	}
	const fix = "write always, or a time from 1ms to 1s, as in sync: 40ms"
	t, err := time.ParseDuration(s)
	switch {
	case err != nil:
		d.problem(n, fix, "ledger.sync is neither always nor a time")
	case t < shortestSync || t > longestSync:
		d.problem(n, fix, "ledger.sync is no time from 1ms to 1s")
	default:
		return t
	}
	return 0
}

// late is for how long rows may wait that nobody waits for.
func (c LedgerConfig) late() time.Duration {
	if c.Sync == syncAlways {
		return defaultSync
	}
	return c.Sync
}

// journal makes the journal of a ledger in a file, unless answers wait for the disk. Ledgers in a database have none: what is kept beside this
// process would be lost with its machine, and others count by the database.
func (c LedgerConfig) journal(ctx context.Context, store ledger.Store) (ledger.Journal, error) {
	path, is := strings.CutPrefix(c.URL, "sqlite:")
	if !is || c.Sync == syncAlways {
		return nil, nil //nolint:nilnil // there is none
	}
	return sqlite.Journal(ctx, store.(*sqlstore.Store), path)
}
