package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost"
)

const ledgerHelp = `Work with the ledger: the rows that say what every call was charged.

  tokenfare ledger verify -config config.yaml
      Proves the books: sums against rows, charges against what calls used, and the budgets of the running proxy against all
      of it. Exit code 0: they balance; 1: they do not; 2: misuse.

  tokenfare ledger correct -config config.yaml -id req_01jd8v4q7w3nk -charge-nothing -reason "provider refunded"
      Changes what a call was charged. A row is added that says so and why; none is ever edited.

  tokenfare ledger backup -config config.yaml usage-2026-12-01.db
      Copies the ledger as it is now into a new file, while the proxy runs.

"tokenfare ledger COMMAND --help" says more.
`

// runLedger is the subcommand: it has subcommands of its own.
func runLedger(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, ledgerHelp)
		return 2
	}
	switch args[0] {
	case "verify":
		return runLedgerVerify(ctx, args[1:], stdout, stderr)
	case "correct":
		return runLedgerCorrect(ctx, args[1:], stdout, stderr)
	case "backup":
		return runLedgerBackup(ctx, args[1:], stdout, stderr)
	case "help", "-h", "-help", "--help":
		if len(args) > 1 {
			return runLedger(ctx, []string{args[1], "--help"}, stdout, stderr)
		}
		fmt.Fprint(stdout, ledgerHelp)
		return 0
	}
	fmt.Fprintf(stderr, "tokenfare ledger: there is no command %q; ", args[0])
	if near := nearest(args[0], []string{"verify", "correct", "backup"}); near != "" {
		fmt.Fprintf(stderr, "did you mean %s?\n", near)
	} else {
		fmt.Fprintln(stderr, "say verify, correct or backup   (tokenfare ledger --help)")
	}
	return 2
}

// loadBooksConfig reads of a configuration where its ledger is and where its proxy can be asked. What else is in it, and the
// variables it wants, need not be there.
func loadBooksConfig(path string) (*Config, error) {
	c, err := loadLedgerConfig(path)
	if err != nil {
		return nil, err
	}
	var out problems
	if v := child(c.root.root, "admin"); v != nil {
		c.decodeAdmin(c.decoder(c.root, &out), v)
	}
	return c, out.err()
}

// ledgerName is a ledger's URL as it may be shown: without a password.
func ledgerName(address string) string {
	if strings.HasPrefix(address, "sqlite:") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		scheme, _, _ := strings.Cut(address, ":")
		return scheme + ":" + stars
	}
	u.RawQuery, u.Fragment = "", ""
	return u.Redacted()
}

// instantText is an instant to the second.
func instantText(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("2006-01-02 15:04:05 MST")
}

// figureText writes an amount in its unit.
func figureText(unit string, n int64) string {
	switch unit {
	case "dollars", "cost", "reserved":
		return cost.NanoUSD(n).String()
	case "":
		return thousands(n)
	default:
		return thousands(n) + " " + unit
	}
}
