package sqlstore

import (
	"context"
	"strconv"
	"strings"
)

// Rows are the values of rows that are inserted, of one row after the other. Each is an int64 or a string.
type Rows struct {
	Width  int // how many values a row has
	Values []any
}

// bulk inserts rows into one table, many with each statement: a statement costs a round trip to Postgres, and in SQLite
// most of a row's time.
type bulk struct {
	table, columns, conflict string
	Rows
}

func newBulk(table, columns, conflict string, rows int) *bulk {
	width := strings.Count(columns, ",") + 1
	return &bulk{table, columns, conflict, Rows{width, make([]any, 0, rows*width)}}
}

func (b *bulk) add(row ...any) { b.Values = append(b.Values, row...) }

// flush inserts what was added. The sizes of statements are powers of two, so that few of them need to be prepared.
func (b *bulk) flush(ctx context.Context, t *tx) error {
	most := t.store.dialect.RowsAtOnce()
	if most == 0 && len(b.Values) > 0 {
		_, err := t.ExecContext(ctx, t.store.insert(b, 0), &b.Rows)
		return err
	}
	for size := most; size > 0; size /= 2 {
		for n := size * b.Width; len(b.Values) >= n; b.Values = b.Values[n:] {
			if _, err := t.ExecContext(ctx, t.store.insert(b, size), b.Values[:n]...); err != nil {
				return err
			}
		}
	}
	return nil
}

// insert names a statement: each table is always written in the same way.
type insert struct {
	table string
	rows  int // 0: those that arrive
}

// insert is the statement that inserts so many rows, which is made once.
func (s *Store) insert(b *bulk, rows int) string {
	name := insert{b.table, rows}
	if text, ok := s.inserts.Load(name); ok {
		return text.(string)
	}
	text := "INSERT INTO " + b.table + " (" + b.columns + ") " + b.source(rows) + " " + b.conflict
	s.inserts.Store(name, s.place(text))
	return s.place(text)
}

// source is where a statement has its rows from.
func (b *bulk) source(rows int) string {
	if rows == 0 {
		names := make([]string, b.Width)
		for i := range names {
			names[i] = "c" + strconv.Itoa(i)
		}
		return "SELECT " + strings.Join(names, ", ") + " FROM temp.arriving WHERE true" // else ON CONFLICT would belong to a join
	}
	row := "(" + strings.Repeat("?, ", b.Width-1) + "?)"
	return "VALUES " + strings.Repeat(row+", ", rows-1) + row
}
