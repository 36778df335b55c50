package harness

import (
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestPostgresIsSharedByDatabases(t *testing.T) {
	pg, ok := Postgres(t)
	if !ok {
		return
	}
	if again, _ := Postgres(t); again != pg {
		t.Error("a second call started a second server")
	}
	first, second := database(t, pg.NewDatabase(t)), database(t, pg.NewDatabase(t))
	pg.want(t, first, "CREATE TABLE charges (id int); INSERT INTO charges VALUES (7)")
	pg.want(t, first, "SELECT id FROM charges", "7")
	for _, other := range []string{second, database(t, pg.URL())} {
		if rows, err := pg.query(other, "SELECT id FROM charges"); err == nil || !strings.Contains(err.Error(), `relation "charges" does not exist`) {
			t.Errorf("database %s: rows %q, %v; it should have no tables", other, rows, err)
		}
	}
	for setting, value := range map[string]string{
		"fsync": "on", "synchronous_commit": "on", "max_connections": "50", "shared_buffers": "16MB",
		"server_encoding": "UTF8", "lc_messages": "C", "unix_socket_directories": "", "listen_addresses": "127.0.0.1",
	} {
		pg.want(t, first, "SHOW "+setting, value)
	}
	pg.want(t, first, "SELECT datcollate, NULL, encoding FROM pg_database WHERE datname = current_database()", "C||6")
	if said := fatal(t, func(t testing.TB) { pg.Stop(t) }); !strings.Contains(said, "StartPostgres") {
		t.Errorf("stopping the shared server says %q", said)
	}
	pg.want(t, first, "SELECT 1", "1")
}

func TestPostgresKeepsItsData(t *testing.T) {
	pg, ok := StartPostgres(t)
	if !ok {
		return
	}
	at, name := pg.URL(), database(t, pg.URL())
	pg.want(t, name, "CREATE TABLE charges (id int)")
	pg.want(t, name, "INSERT INTO charges VALUES (1)")

	open := pg.begin(t, name, "INSERT INTO charges VALUES (101)")
	pg.Stop(t)
	pg.Stop(t)
	if rows, err := open.query("COMMIT"); err == nil {
		t.Errorf("a connection outlived the server: %q", rows)
	}
	if conn, err := net.Dial("tcp", pg.address()); err == nil {
		conn.Close()
		t.Error("a stopped server accepts connections")
	}
	pg.Start(t)
	pg.want(t, name, "SELECT id FROM charges", "1")
	if strings.Contains(pg.logged(), "not properly shut down") {
		t.Errorf("Stop was no proper shutdown:\n%s", pg.logged())
	}

	pg.want(t, name, "INSERT INTO charges VALUES (2)")
	pg.begin(t, name, "INSERT INTO charges VALUES (102)")
	pg.Kill(t)
	pg.Start(t)
	pg.want(t, name, "SELECT id FROM charges ORDER BY id", "1", "2")
	if !strings.Contains(pg.logged(), "not properly shut down; automatic recovery in progress") {
		t.Errorf("Kill was a proper shutdown:\n%s", pg.logged())
	}
	if pg.URL() != at {
		t.Errorf("the server moved from %s to %s", at, pg.URL())
	}
	if said := fatal(t, func(t testing.TB) { pg.Start(t) }); !strings.Contains(said, "runs already") {
		t.Errorf("starting a running server says %q", said)
	}
}

func TestPostgresSaysWhyItDoesNotStart(t *testing.T) {
	as, err := serverAccount()
	if err != nil {
		t.Fatal(err)
	}
	bin, err := as.directory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(bin) })
	program(t, bin, "initdb", "exit 0")
	program(t, bin, "postgres", "echo 'FATAL:  no shared memory' >&2; exit 1")
	_, err = newPostgres(bin)
	if err == nil || !strings.Contains(err.Error(), "exit status 1\nFATAL:  no shared memory") {
		t.Errorf("a server that does not start: %v", err)
	}
	program(t, bin, "initdb", "echo 'error: no locales' >&2; exit 1")
	_, err = newPostgres(bin)
	if err == nil || !strings.Contains(err.Error(), bin+"/initdb: exit status 1\nerror: no locales") {
		t.Errorf("a cluster that cannot be made: %v", err)
	}
}

// want runs a statement and compares its rows.
func (c *cluster) want(t *testing.T, database, statement string, rows ...string) {
	t.Helper()
	if got, err := c.query(database, statement); err != nil || !slices.Equal(got, rows) {
		t.Errorf("%s: rows %q, %v; want %q", statement, got, err, rows)
	}
}

// begin leaves a statement uncommitted on an open connection.
func (c *cluster) begin(t *testing.T, database, statement string) *session {
	t.Helper()
	s, err := c.connect(database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.conn.Close() })
	for _, each := range []string{"BEGIN", statement} {
		if _, err := s.query(each); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// database is the name of a URL's database.
func database(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if u.Scheme != "postgres" || u.User.String() != "tokenfare" || u.Hostname() != "127.0.0.1" || u.RawQuery != "sslmode=disable" {
		t.Errorf("an unexpected address: %s", address)
	}
	return strings.TrimPrefix(u.Path, "/")
}
