package sqlite

import (
	"context"
	"os"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/journal"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// Journal makes a journal for a ledger that this process has opened at path: see [ledger.Options].
func Journal(ctx context.Context, store *sqlstore.Store, path string) (ledger.Journal, error) {
	id, err := store.Identity(ctx)
	if err != nil {
		return nil, err
	}
	return journal.New(follow(path), id), nil
}

// Damaged are the files of damaged journals that were kept of the ledger at path, the oldest first.
func Damaged(path string) ([]string, error) { return journal.Aside(follow(path)) }

// settle replays a journal whose writer is dead, so that who reads the ledger sees it. If that cannot be, since the writer lives, the disk is
// full, or this process may not write, the ledger is read as it is: the next who opens it to write replays the journal. So it is where the journal
// is damaged, which is for somebody with a log to say. It waits for nobody, for a writer that lives has a journal all the time; and it brings no
// ledger up to date.
func settle(ctx context.Context, path string) {
	for _, name := range journal.Names(path) {
		if _, err := os.Stat(name); err != nil {
			continue
		}
		held, err := lock(ctx, path, 0)
		if err != nil {
			return
		}
		if check(ctx, path, true) != nil {
			_ = held.release()
			return // who reads it hears why
		}
		if store, err := openHeld(ctx, path, held, nil); err == nil {
			_ = store.Close() //nolint:contextcheck // all is written
		}
		return
	}
}
