package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

const ledgerBackupHelp = `Copy the ledger as it is at one instant into a new file. A proxy may write to it meanwhile, and is not held up. The copy is a
ledger of its own: verify it, read it with usage, or put it in the place of one that was lost.

  tokenfare ledger backup -config config.yaml usage-2026-12-01.db
  tokenfare ledger verify -ledger sqlite:usage-2026-12-01.db

A file of that name that is there already is left alone. Ledgers in Postgres are copied by its own programs: pg_dump.

Flags:
`

func runLedgerBackup(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("ledger backup", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("config", "", "configuration `FILE`")
	address := flags.String("ledger", "", "copy the ledger at this `URL`, such as sqlite:usage.db, instead of the configured one")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), ledgerBackupHelp)
		flags.PrintDefaults()
	}
	names, code, proceed := interspersed(flags, args, stdout)
	if !proceed {
		return code
	}
	switch {
	case len(names) != 1:
		fmt.Fprintln(stderr, "tokenfare ledger backup: name one new file: tokenfare ledger backup -config config.yaml usage-2026-12-01.db")
		return 2
	case *path == "" && *address == "":
		fmt.Fprintln(stderr, "tokenfare ledger backup: say which ledger: -config config.yaml, or -ledger sqlite:usage.db")
		return 2
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := backUp(ctx, *path, *address, names[0]); err != nil {
		fmt.Fprintf(stderr, "tokenfare ledger backup: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "Copied to %s. To prove it: tokenfare ledger verify -ledger sqlite:%s\n", names[0], names[0])
	return 0
}

// backUp copies the ledger at an address, or that of the configuration, of which nothing else is read.
func backUp(ctx context.Context, path, address, to string) error {
	if address == "" {
		config, err := loadLedgerConfig(path)
		if err != nil {
			return err
		}
		address = config.Ledger.URL
	}
	if address == "" {
		return errNoLedger
	}
	from, is := strings.CutPrefix(address, "sqlite:")
	switch {
	case isPostgres(address):
		return errors.New("this ledger is in Postgres: copy it with pg_dump")
	case !is:
		return unknownLedger(address)
	}
	return sqlite.Backup(ctx, from, to)
}
