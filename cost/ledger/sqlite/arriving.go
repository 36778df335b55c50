package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"
	"modernc.org/sqlite/vtab"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// mostColumns is how many columns of arriving rows there are names for, c0, c1 and so on: as many as the widest table has that rows
// are inserted into, and one more.
const mostColumns = 20

// arriving is a virtual table, temp.arriving, that has the rows which a statement inserts: SQLite takes each value from here when it makes the
// row. To bind them as parameters takes the driver twice as long as all that SQLite does with them.
//
// Each connection that writes has its own, and uses it for one statement at a time.
type arriving struct{ sqlstore.Rows }

// BestIndex has nothing to choose: all rows are read, in their order.
func (*arriving) BestIndex(*vtab.IndexInfo) error { return nil }

// Open begins to read.
func (a *arriving) Open() (vtab.Cursor, error) { return &arrival{rows: a}, nil }

// Disconnect does nothing: the rows are the connection's.
func (*arriving) Disconnect() error { return nil }

// Destroy does nothing either.
func (*arriving) Destroy() error { return nil }

// arrival is a place in the arriving rows.
type arrival struct {
	rows *arriving
	at   int // of the row's first value
}

// Filter goes to the first row.
func (c *arrival) Filter(int, string, []driver.Value) error {
	c.at = 0
	return nil
}

// Next goes to the next row.
func (c *arrival) Next() error {
	c.at += c.rows.Width
	return nil
}

// Eof reports that there is no more.
func (c *arrival) Eof() bool { return c.at >= len(c.rows.Values) }

// Column is a value of the row.
func (c *arrival) Column(n int) (driver.Value, error) { return c.rows.Values[c.at+n], nil }

// Rowid is the row's number.
func (c *arrival) Rowid() (int64, error) { return int64(c.at / c.rows.Width), nil }

// Close ends reading.
func (*arrival) Close() error { return nil }

// arrivals opens connections that have a table of arriving rows. There is one for the whole process, for the driver never forgets one that
// has opened a connection.
var arrivals = sync.OnceValue(func() *opener {
	o := &opener{driver: &sqlite.Driver{}}
	if err := o.driver.RegisterModule("arriving", o); err != nil {
		panic("BUG: " + err.Error())
	}
	return o
})

// opener is the module of the virtual tables, too. SQLite asks it for a connection's table by its number, again and again perhaps, as long
// as the connection is open.
type opener struct {
	driver *sqlite.Driver
	last   atomic.Int64
	tables sync.Map // by number
}

// open opens a connection with its table, and says how to forget that.
func (o *opener) open(ctx context.Context, source string) (conn driver.Conn, rows *arriving, forget func(), err error) {
	conn, err = o.driver.Open(source)
	if err != nil {
		return nil, nil, nil, err
	}
	number := strconv.FormatInt(o.last.Add(1), 10)
	rows, forget = &arriving{}, func() { o.tables.Delete(number) }
	o.tables.Store(number, rows)
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, "CREATE VIRTUAL TABLE temp.arriving USING arriving("+number+")", nil); err != nil {
		conn.Close()
		forget()
		return nil, nil, nil, err
	}
	return conn, rows, forget, nil
}

// Create makes a table.
func (o *opener) Create(ctx vtab.Context, args []string) (vtab.Table, error) {
	return o.Connect(ctx, args)
}

// Connect finds a table. Of its arguments, the first three are names.
func (o *opener) Connect(ctx vtab.Context, args []string) (vtab.Table, error) {
	table, ok := o.tables.Load(args[len(args)-1])
	if !ok {
		return nil, fmt.Errorf("there is no table of arriving rows %q", args)
	}
	columns := make([]string, mostColumns)
	for i := range columns {
		columns[i] = "c" + strconv.Itoa(i)
	}
	return table.(*arriving), ctx.Declare("CREATE TABLE arriving (" + strings.Join(columns, ", ") + ")")
}
