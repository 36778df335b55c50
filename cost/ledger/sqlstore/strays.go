package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Strays reads the rows that belong to nothing.
func (r *snapshot) Strays(ctx context.Context, each func(ledger.Stray) error) error {
	return r.each(ctx, func(rows *sql.Rows) error {
		var s ledger.Stray
		if err := rows.Scan(&s.Row, &s.Exchange, &s.Seq); err != nil {
			return r.explain(err)
		}
		return each(s)
	}, `SELECT 'end', e.id, e.seq FROM ends e LEFT JOIN begins b ON b.id = e.id WHERE b.id IS NULL
		UNION ALL SELECT 'draw', d.id, 0 FROM draws d LEFT JOIN begins b ON b.id = d.id WHERE b.id IS NULL
		UNION ALL SELECT 'correction', c.id, c.seq FROM corrections c LEFT JOIN begins b ON b.id = c.id LEFT JOIN ends e ON e.id = c.id
			WHERE b.id IS NULL OR e.id IS NULL`)
}

// Price reads the card of a version of a price.
func (r *snapshot) Price(ctx context.Context, version string) (card string, err error) {
	err = r.tx.QueryRowContext(ctx, r.store.place(`SELECT card FROM prices WHERE version = ?`), version).Scan(&card)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return card, r.explain(err)
}

// Prices reads the cards of all versions.
func (r *snapshot) Prices(ctx context.Context, each func(ledger.PriceCard) error) error {
	return r.each(ctx, func(rows *sql.Rows) error {
		var p ledger.PriceCard
		if err := rows.Scan(&p.Version, &p.Card); err != nil {
			return r.explain(err)
		}
		return each(p)
	}, `SELECT version, card FROM prices`)
}
