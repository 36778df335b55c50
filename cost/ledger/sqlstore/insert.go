package sqlstore

import (
	"context"
	"strings"
)

// bulk inserts rows into one table, many with each statement: a statement costs a round trip to Postgres, and in SQLite
// most of a row's time.
type bulk struct {
	table, columns, conflict string
	width                    int
	args                     []any
}

func newBulk(table, columns, conflict string, rows int) *bulk {
	width := strings.Count(columns, ",") + 1
	return &bulk{table: table, columns: columns, conflict: conflict, width: width, args: make([]any, 0, rows*width)}
}

func (b *bulk) add(row ...any) { b.args = append(b.args, row...) }

// flush inserts what was added. The sizes of statements are powers of two, so that few of them need to be prepared.
func (b *bulk) flush(ctx context.Context, t *tx) error {
	for size := t.store.dialect.RowsAtOnce(); size > 0; size /= 2 {
		for n := size * b.width; len(b.args) >= n; b.args = b.args[n:] {
			if _, err := t.ExecContext(ctx, t.store.insert(b, size), b.args[:n]...); err != nil {
				return err
			}
		}
	}
	return nil
}

// insert names a statement: each table is always written in the same way.
type insert struct {
	table string
	rows  int
}

// insert is the statement that inserts so many rows, which is made once.
func (s *Store) insert(b *bulk, rows int) string {
	if text, ok := s.inserts.Load(insert{b.table, rows}); ok {
		return text.(string)
	}
	row := "(" + strings.Repeat("?, ", b.width-1) + "?)"
	text := s.place("INSERT INTO " + b.table + " (" + b.columns + ") VALUES " + strings.Repeat(row+", ", rows-1) + row + " " + b.conflict)
	s.inserts.Store(insert{b.table, rows}, text)
	return text
}
