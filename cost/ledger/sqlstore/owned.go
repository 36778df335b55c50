package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

const ownedColumns = "id, kind, key_name, upstream, part_of, made, tokens, gone"

// mostContext is where the tokens of an object stop growing: more than any model reads.
const mostContext = 1 << 50

// grow writes what becomes of objects.
func (t *tx) grow(ctx context.Context, list []*ledger.Growth) error {
	for _, g := range slices.SortedFunc(slices.Values(list), byGrown) {
		gone := int64(0)
		if g.Gone {
			gone = 1
		}
		_, err := t.exec(ctx, `UPDATE owned SET tokens = CASE WHEN tokens > ? THEN ? ELSE tokens + ? END, gone = CASE WHEN gone = 1 THEN 1 ELSE ? END
			WHERE id = ?`, mostContext-g.Tokens, int64(mostContext), g.Tokens, gone, g.ID)
		if err != nil {
			return fmt.Errorf("owned: %w", err)
		}
	}
	return nil
}

// ownedAtOnce is how many objects are looked up with one statement.
const ownedAtOnce = 64

// Owned reads those of some objects that a key owns.
func (r *snapshot) Owned(ctx context.Context, key string, ids []string) (list []ledger.Owned, err error) {
	key = ledger.BudgetName(key)
	for some := range slices.Chunk(ids, ownedAtOnce) {
		args := make([]any, 0, ownedAtOnce+1)
		args = append(args, key)
		for _, id := range some {
			args = append(args, id)
		}
		err := r.each(ctx, func(rows *sql.Rows) error {
			o := ledger.Owned{Key: key}
			var made int64
			if err := rows.Scan(&o.ID, (*string)(&o.Kind), &o.Upstream, &o.Of, &made, &o.Tokens); err != nil {
				return r.explain(err)
			}
			o.Made = time.UnixMicro(made)
			list = append(list, o)
			return nil
		}, `SELECT id, kind, upstream, part_of, made, tokens FROM owned
			WHERE key_name = ? AND gone = 0 AND id IN (?`+strings.Repeat(", ?", len(some)-1)+`)`, args...)
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// mostForgotten is how many objects are forgotten at a time: a few milliseconds.
const mostForgotten = 1000

// forget drops the oldest objects that nobody needs to know any more: those that their provider has dropped, and of the others
// those that were deleted.
func (t *tx) forget(ctx context.Context) error {
	_, err := t.exec(ctx, `DELETE FROM owned WHERE id IN (SELECT id FROM owned
		WHERE made < ? AND (gone = 1 OR kind IN (?, ?, ?, ?)) ORDER BY made LIMIT ?)`, time.Now().Add(-ledger.OwnedFor).UnixMicro(),
		string(ledger.Response), string(ledger.Item), string(ledger.Completion), string(ledger.Container), mostForgotten)
	return err
}
