package postgres

import (
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

var errURL = errors.New("open ledger: its URL cannot be read; it is of the form postgres://user:password@host:5432/database?sslmode=require, " +
	"where characters other than letters and digits in the password are written as %XX (an @ is %40), and files it names must exist")

// fixes are what a person can do about errors of Postgres', by their SQLSTATE; %s is the database's name.
var fixes = map[string]string{
	"28P01": "%s refuses the password; correct it in the ledger's URL",
	"28000": "%s refuses the user; correct the ledger's URL, or let the user in in pg_hba.conf",
	"3D000": "%s does not exist; make it with CREATE DATABASE, or correct the ledger's URL",
	"3F000": "%s has no schema to make tables in; make one with CREATE SCHEMA, or correct search_path in the ledger's URL",
	"42501": "the user may not do this in %s; make it the owner of the database, or GRANT CREATE, USAGE ON the SCHEMA and ALL ON its tables to it",
	"42P01": "tables are missing in %s; restore it from a backup, or correct search_path in the ledger's URL",
	"42P07": "%s has tables of these names that are no ledger; give the ledger a database of its own, or a schema: add search_path=NAME to its URL",
	"53100": "the disk of %s is full; make room there",
	"53200": "%s is out of memory",
	"53300": "%s takes no more connections; raise max_connections there: each process has up to 7",
	"25006": "%s only reads: it is a standby, or set so; name the primary in the ledger's URL, all of its hosts with target_session_attrs=read-write, or turn default_transaction_read_only off",
	"55P03": "somebody holds a lock in %s for long; pg_stat_activity shows who",
	"57014": "%s took too long; pg_stat_activity shows what it does",
	"57P01": "%s is being shut down",
	"57P02": "%s has crashed and restarts",
	"57P03": "%s is just starting, or shutting down",
	"22021": "%s cannot hold this text",
}

// Explain says what a person can do about an error. Where it happened on the way to the database it names that.
func (d dialect) Explain(err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*pgconn.PgError](err); ok {
		if fix, ok := fixes[known.Code]; ok {
			return fmt.Errorf(fix+": %w", d.name(), err)
		}
		return err
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); !ok {
		return err
	}
	_, noName := errors.AsType[*net.DNSError](err)
	_, noTrust := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT):
		return fmt.Errorf("nobody answers for %s; start Postgres, or correct host and port in the ledger's URL: %w", d.name(), err)
	case noName:
		return fmt.Errorf("the host of %s is not known; correct the ledger's URL: %w", d.name(), err)
	case noTrust:
		return fmt.Errorf("the certificate of %s is not trusted; name its authority's file with sslrootcert in the ledger's URL: %w", d.name(), err)
	case pgconn.Timeout(err):
		return fmt.Errorf("%s does not answer in time; is it behind a firewall? %w", d.name(), err)
	}
	return fmt.Errorf("%s cannot be reached: %w", d.name(), err)
}

// MayPass reports whether what kept a ledger from being opened or read may pass without anybody changing the ledger's URL or what
// its user may do: a server that cannot be reached, starts, has no room or no connection to spare, or was too slow.
func MayPass(err error) bool {
	if known, ok := errors.AsType[*pgconn.PgError](err); ok {
		// Classes of SQLSTATE: connections, lost races, resources, an operator's intervention, the system; and a lock that was waited for.
		return slices.Contains([]string{"08", "40", "53", "57", "58"}, known.Code[:min(2, len(known.Code))]) || known.Code == "55P03"
	}
	if _, noTrust := errors.AsType[*tls.CertificateVerificationError](err); noTrust {
		return false
	}
	_, unreached := errors.AsType[*pgconn.ConnectError](err)
	var network net.Error
	return unreached || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn)
}
