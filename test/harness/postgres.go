package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// PostgresServer is a private Postgres server: a cluster in a temporary directory of its own, on a port of 127.0.0.1,
// without passwords, with the durability of a real one (fsync is on). At most 50 connections are open at once.
// URL and NewDatabase may be called from several goroutines at once, the other methods by the test that owns the server.
type PostgresServer struct {
	cluster

	shared    bool
	databases atomic.Int64 // made by NewDatabase
}

// debian is where Debian's packages put the programs of each version.
const debian = "/usr/lib/postgresql"

// shared is the server of the test process. Main sets main before the tests begin and reads server after their end.
var shared struct {
	main   bool
	once   sync.Once
	server *PostgresServer
	err    error
}

// Postgres is the server that the tests of one package share. The first call starts it and Main stops it, so the package
// needs a TestMain that calls Main. Tests keep out of each other's way by NewDatabase; one that stops or kills its server
// calls StartPostgres.
//
// False means that no server is installed, and that the test has to return:
//
//	pg, ok := harness.Postgres(t)
//	if !ok {
//		return
//	}
//
// That happens in go test ./... alone: under the README's test command a missing server fails the test.
func Postgres(t testing.TB) (*PostgresServer, bool) {
	t.Helper()
	bin, ok := installed(t, debian)
	if !ok {
		return nil, false
	}
	if !shared.main {
		t.Fatal("nobody would stop the shared Postgres server: call harness.Main from TestMain")
	}
	shared.once.Do(func() {
		if shared.server, shared.err = newPostgres(bin); shared.err == nil {
			shared.server.shared = true
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	shared.server.logFailure(t)
	return shared.server, true
}

// StartPostgres starts a server for this test alone, which ends with it. What false means, Postgres says. It takes about
// a second, most of it for making the cluster.
func StartPostgres(t testing.TB) (*PostgresServer, bool) {
	t.Helper()
	bin, ok := installed(t, debian)
	if !ok {
		return nil, false
	}
	s, err := newPostgres(bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.discard(); err != nil {
			t.Error(err)
		}
	})
	s.logFailure(t) // before the log is removed: cleanups run last to first
	return s, true
}

// installed is the directory of the server's programs; false when none is installed and none has to be.
func installed(t testing.TB, versions string) (string, bool) {
	t.Helper()
	bin, err := findPostgres(versions)
	switch {
	case err == nil:
		return bin, true
	case os.Getenv("TOKENFARE_TEST") == "all":
		t.Fatal(err)
	}
	t.Logf("not run: %v", err)
	return "", false
}

// newPostgres makes a cluster with the database that URL names, and starts it.
func newPostgres(bin string) (*PostgresServer, error) {
	s := &PostgresServer{}
	err := s.create(bin)
	if err == nil {
		_, err = s.query("postgres", "CREATE DATABASE tokenfare")
	}
	if err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

// URL is the address of the server's first database, for the user tokenfare, who may do everything. The tests of a
// package share that database, too.
func (s *PostgresServer) URL() string { return s.url("tokenfare") }

func (s *PostgresServer) url(database string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", superuser, s.address(), database)
}

// NewDatabase makes an empty database and returns its URL. It lasts as long as the server, and takes 8 MB on disk.
func (s *PostgresServer) NewDatabase(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", s.databases.Add(1))
	// Nobody is ever connected to template0, which would be in the way of a copy.
	if _, err := s.query("postgres", "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		t.Fatal(err)
	}
	return s.url(name)
}

// Stop shuts the server down as an operator would: connections are closed, what they had not committed is undone, and
// everything else is on disk. Stopping twice is harmless.
func (s *PostgresServer) Stop(t testing.TB) {
	t.Helper()
	s.endFor(t, syscall.SIGINT)
}

// Kill ends the server at once, in the middle of whatever it does; the next Start recovers from the log of the writes, as
// after a power failure.
func (s *PostgresServer) Kill(t testing.TB) {
	t.Helper()
	s.endFor(t, syscall.SIGQUIT)
}

func (s *PostgresServer) endFor(t testing.TB, how syscall.Signal) {
	t.Helper()
	if s.shared {
		t.Fatal("other tests need the shared Postgres server: one that may be stopped comes from StartPostgres")
	}
	if err := s.end(how); err != nil {
		t.Fatal(err)
	}
}

// Start starts a stopped or killed server again, with the same data on the same port, and returns when it accepts
// connections.
func (s *PostgresServer) Start(t testing.TB) {
	t.Helper()
	if s.running() {
		t.Fatal("the Postgres server runs already: stop or kill it first")
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

// logFailure shows what the server logged from now on if the test fails.
func (s *PostgresServer) logFailure(t testing.TB) {
	before := len(s.logged())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the Postgres server's log:\n%s", tail(s.logged()[before:], 40))
		}
	})
}

// logged is everything the server has logged.
func (s *PostgresServer) logged() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}
