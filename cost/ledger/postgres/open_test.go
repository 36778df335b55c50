package postgres

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/test/harness"
)

// secret is the password in URLs, with characters that look like other parts of one.
const secret = "hunter2"

// says fails the test if an error does not name a fix, or shows a password.
func says(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error %q does not say %q", err, w)
		}
	}
	if strings.Contains(err.Error(), "hunter") {
		t.Errorf("the error shows the password: %v", err)
	}
}

func TestURLThatCannotBeReadShowsNoPassword(t *testing.T) {
	for _, at := range []string{
		"postgres://alice:hunter2/3@db.example:5432/usage", // a slash ends the host
		"postgres://alice:hunter2%zz@db.example/usage",
		"postgres://alice:hunter#2@db.example:x/usage",
		"postgres://alice:hunter2@db.example:port/usage",
		"postgres://alice:hunter2@db.example/usage?sslmode=hunter",
		"postgres://alice@db.example/usage?sslrootcert=/hunter2/none.pem&sslmode=verify-full",
		"host=db.example password='hunter2 port=x",
		"postgres://alice:hunter2@[::1/usage",
	} {
		for _, open := range []func(context.Context, string) error{
			func(ctx context.Context, at string) error { _, err := Open(ctx, at); return err },
			func(ctx context.Context, at string) error { _, err := OpenReader(ctx, at); return err },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // should one of them be readable, nothing is looked up
			says(t, open(ctx, at))
		}
	}
	_, err := Open(t.Context(), "postgres://alice:hunter2@db.example:port/usage")
	says(t, err, "postgres://user:password@host:5432/database")
}

func TestUnreachableServerIsExplained(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := free.Addr().String()
	free.Close()
	_, err = Open(t.Context(), "postgres://alice:"+secret+"@"+host+"/usage")
	says(t, err, "nobody answers", `"usage" at 127.0.0.1:`, "start Postgres")
	if !MayPass(err) {
		t.Errorf("%v is said never to pass", err)
	}

	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	_, err = Open(t.Context(), "postgres://alice:"+secret+"@"+silent.Addr().String()+"/usage?connect_timeout=1")
	says(t, err, "does not answer in time")
}

func TestRefusalsOfTheServerAreExplained(t *testing.T) {
	pg, ok := harness.Postgres(t)
	if !ok {
		return
	}
	at := pg.NewDatabase(t)
	admin := administrator(t, at)
	do := func(statement string) {
		t.Helper()
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	with := func(change func(*url.URL)) string {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		return u.String()
	}
	fails := func(at string, want ...string) {
		t.Helper()
		_, err := Open(t.Context(), at)
		says(t, err, want...)
		if MayPass(err) {
			t.Errorf("%v is said to pass by itself", err)
		}
	}
	fails(with(func(u *url.URL) { u.Path = "/nowhere" }), `the database "nowhere" at`, "does not exist", "CREATE DATABASE")
	fails(with(func(u *url.URL) { u.User = url.UserPassword("stranger", secret) }), "refuses the user", "pg_hba.conf")
	fails(with(func(u *url.URL) { u.RawQuery += "&search_path=nowhere" }), "no schema", "search_path")

	do(`CREATE ROLE clerk LOGIN`)
	defer do(`DROP ROLE clerk`)
	do(`REVOKE CREATE ON SCHEMA public FROM public`)
	fails(with(func(u *url.URL) { u.User = url.User("clerk") }), "may not do this", "GRANT")

	do(`CREATE TABLE ends (of_what text)`)
	fails(at, "tables of these names that are no ledger", "search_path")
	do(`CREATE SCHEMA books`)
	store, err := Open(t.Context(), with(func(u *url.URL) { u.RawQuery += "&search_path=books" }))
	if err != nil {
		t.Fatalf("a schema of its own beside another's tables: %v", err)
	}
	store.Close()
	do(`DROP TABLE ends`)

	fails(at+"&default_transaction_read_only=on", "only reads", "target_session_attrs")
}

// administrator connects to a database with nothing set.
func administrator(t testing.TB, at string) *sql.DB {
	t.Helper()
	config, err := parse(at)
	if err != nil {
		t.Fatal(err)
	}
	db := dialect{config: config}.connect(use{connections: 1})
	t.Cleanup(func() { db.Close() })
	return db
}

func TestErrorsOfTheServerAreExplained(t *testing.T) {
	config, err := parse("postgres://alice:" + secret + "@db.example/usage")
	if err != nil {
		t.Fatal(err)
	}
	d := dialect{config: config}
	for code, want := range map[string]string{"53100": "disk of", "28P01": "refuses the password", "53300": "max_connections", "57P03": "starting"} {
		known := &pgconn.PgError{Severity: "ERROR", Code: code, Message: "no"}
		explained := d.Explain(known)
		says(t, explained, want, `"usage" at db.example:5432`)
		if !errors.Is(explained, known) {
			t.Errorf("%s: the error of Postgres is not in the chain of %v", code, explained)
		}
	}
	for code, want := range map[string]bool{"53100": true, "53300": true, "57P03": true, "08006": true, "55P03": true, "28P01": false, "3D000": false, "42501": false, "": false} {
		if got := MayPass(d.Explain(&pgconn.PgError{Code: code})); got != want {
			t.Errorf("%s may pass: %v, want %v", code, got, want)
		}
	}
	for _, plain := range []error{nil, context.Canceled, &pgconn.PgError{Code: "XX000"}, ledger.ErrFenced} {
		if got := d.Explain(plain); !errors.Is(got, plain) {
			t.Errorf("%v became %v", plain, got)
		}
	}
}

func TestLedgersOfOtherVersionsAreLeftAlone(t *testing.T) {
	at, ok := fresh(t)
	if !ok {
		return
	}
	_, err := OpenReader(t.Context(), at)
	says(t, err, "none yet", "tokenfare serve")
	start(t, at, brisk).stop()
	admin := administrator(t, at)
	for version, want := range map[string]string{"99": "version 99", "0": "none yet"} {
		if _, err := admin.ExecContext(t.Context(), `UPDATE ledger_schema SET version = `+version); err != nil {
			t.Fatal(err)
		}
		_, err := OpenReader(t.Context(), at)
		says(t, err, want)
		if version != "99" {
			continue
		}
		_, failed := Open(t.Context(), at)
		for _, err := range []error{err, failed} {
			if !errors.Is(err, ledger.ErrNewer) {
				t.Errorf("%v does not match ErrNewer", err)
			}
		}
	}
}

func TestDatabaseOfAnotherEncodingIsRefused(t *testing.T) {
	at, ok := fresh(t)
	if !ok {
		return
	}
	admin := administrator(t, at)
	if _, err := admin.ExecContext(t.Context(), `CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0`); err != nil {
		t.Fatal(err)
	}
	defer admin.ExecContext(context.WithoutCancel(t.Context()), `DROP DATABASE latin`)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/latin"
	_, err = Open(t.Context(), u.String())
	says(t, err, "LATIN1", "ENCODING 'UTF8'")
}

// What a database or its users have set does not change what sessions of a ledger do.
func TestSessionsAreDurable(t *testing.T) {
	at, ok := fresh(t)
	if !ok {
		return
	}
	config, err := parse(at + "&synchronous_commit=off")
	if err != nil {
		t.Fatal(err)
	}
	for kind, c := range map[string]struct {
		of   use
		want map[string]string
	}{
		"write": {toWrite, map[string]string{"synchronous_commit": "on", "application_name": "tokenfare", "transaction_isolation": "read committed", "idle_in_transaction_session_timeout": "3s"}},
		"read":  {toRead, map[string]string{"application_name": "tokenfare", "default_transaction_read_only": "on", "statement_timeout": "2min"}},
	} {
		db := dialect{config: config}.connect(c.of)
		for setting, want := range c.want {
			var got string
			if err := db.QueryRowContext(contextOf(t, 10*time.Second), `SELECT current_setting($1)`, setting).Scan(&got); err != nil || got != want {
				t.Errorf("%s: %s is %q, %v; want %q", kind, setting, got, err, want)
			}
		}
		db.Close()
	}
}
