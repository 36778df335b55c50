package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

const ledgerBackupHelp = `Copy the ledger into a new file, as it is at one instant, while the proxy runs.

  tokenfare ledger backup -config config.yaml usage-2026-12-01.db

The copy is a ledger of its own: usage and verify read it with -ledger sqlite:usage-2026-12-01.db. To go back to it, stop the
proxy, put it in the place of the ledger, remove what stands beside that with -wal and -shm at the end, and start the proxy.
A ledger in Postgres is backed up as Postgres databases are, with pg_dump for one.

Flags:
`

// runLedgerBackup is the subcommand.
func runLedgerBackup(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("ledger backup", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("config", "config.yaml", "configuration `FILE`, which says where the ledger is")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), ledgerBackupHelp)
		flags.PrintDefaults()
	}
	if code, ok := parseFlags(flags, args, stdout); !ok {
		return code
	}
	if flags.NArg() != 1 {
		fmt.Fprintln(stderr, "tokenfare ledger backup: name one new file   (tokenfare ledger backup --help)")
		return 2
	}
	to := flags.Arg(0)
	if err := backUp(ctx, *path, to); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintf(stdout, "%s holds the ledger as it is now.\n", to)
	return 0
}

// backUp copies the ledger of the configuration at path.
func backUp(ctx context.Context, path, to string) error {
	config, err := loadConfig(path)
	if err != nil {
		return err
	}
	file, is := strings.CutPrefix(config.Ledger.URL, "sqlite:")
	switch {
	case config.Ledger.URL == "":
		return errNoLedger
	case !is:
		return errors.New("this ledger is in Postgres; back it up as Postgres databases are, with pg_dump for one")
	}
	return sqlite.Backup(ctx, file, to)
}
