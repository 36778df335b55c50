package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/journal"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// errDamaged says that there is more to say of a journal than to replay it.
var errDamaged = errors.New("the journal of the ledger is damaged")

// replay commits what the journal beside the ledger has and the ledger has not, for its writer died, and removes it. What is damaged, or does not
// follow what the ledger has, is kept under another name, and said in the log. Without one, all is left as it is then.
func replay(ctx context.Context, store *sqlstore.Store, path string, log *slog.Logger) error {
	id, err := store.Identity(ctx)
	if err != nil {
		return err
	}
	files, err := journal.Read(path, id)
	if err != nil {
		return err
	}
	rows := 0
	for i := range files {
		r := replayed{File: &files[i]}
		if log == nil && r.Damage != "" {
			return errDamaged
		}
		if err := r.commit(ctx, store); err != nil {
			return err
		}
		rows += r.rows
		switch {
		case r.Damage == "" && !r.gap:
		case log == nil:
			return errDamaged
		default:
			if err := r.keep(path, log); err != nil {
				return err
			}
		}
	}
	if rows > 0 && log != nil {
		log.Info("ledger journal replayed", "rows", rows)
	}
	return journal.Remove(path)
}

// replayed is a file of a journal of which all was written that can be.
type replayed struct {
	*journal.File
	last int64 // batch of the ledger before that
	rows int   // that were written
	gap  bool  // its batch does not follow
}

func (r *replayed) commit(ctx context.Context, store *sqlstore.Store) error {
	if r.Batch == nil {
		return nil
	}
	last, done, err := store.Replay(ctx, r.Batch)
	if err != nil {
		return err
	}
	r.last = last
	if done {
		r.rows = count(r.Batch)
	}
	r.gap = !done && r.Batch.Number > last
	return nil
}

// keep keeps the file, with which something is wrong, and says so.
func (r *replayed) keep(path string, log *slog.Logger) error {
	kept, err := journal.SetAside(path, r.Path, time.Now())
	if err != nil {
		return err
	}
	log = log.With("file", r.Path, "kept", kept)
	if r.Damage != "" {
		then := "calls of the last moments before the stop may be missing from the ledger, and charged to nobody"
		if r.Batch != nil && r.Newest <= r.last {
			then = "none of its calls is missing, for the ledger had them already"
		}
		log.Error("ledger journal damaged", "why", r.Damage, "offset", r.Offset, "replayed_rows", r.rows, "then", then)
	}
	if r.gap {
		log.Error("ledger journal does not follow the ledger", "batch", r.Batch.Number, "after", r.last, "rows", count(r.Batch),
			"then", "these rows are not in the ledger, and their calls charged to nobody: the ledger is an older copy, or the other file of the journal is damaged or gone")
	}
	return nil
}

// count is how many rows a journal has of a batch.
func count(b *ledger.Batch) int {
	return len(b.Begins) + len(b.Draws) + len(b.Ends) + len(b.Corrections) + len(b.Prices) + len(b.Notices) + len(b.Owned) + len(b.Grown)
}
