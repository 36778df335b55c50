package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

const ledgerVerifyHelp = `Prove the books: read every row, and say whether all that rests on them is right. Nothing is changed, and a proxy may run
meanwhile: everything is as of one instant.

  tokenfare ledger verify -config config.yaml
      The ledger of a configuration, and the budgets of the proxy that runs with it.

  tokenfare ledger verify -ledger sqlite:backup.db -json
      Another ledger, a restored backup perhaps; what is found in JSON, on one line.

What is proven:

  sums      hourly sums, of which reports are made, are those of the rows and corrections
  budgets   the quarter-hourly sums, from which budgets are rebuilt, are what rows and corrections charged
  charges   every row charges each budget what the call used in the budget's unit: $0.02 of dollars, 800 of tokens, 1 of requests
  costs     what every call had reserved, and what it cost, is what its usage comes to at the price that its row names; what somebody has set
            by hand is not looked at
  months    what a key's calls cost is what its budgets in dollars were charged for them, for each key and month
  ends      every end has one begin, every begin at most one end, and whatever has none is known to run
  live      each, in total: a running proxy's budgets are what the ledger makes of them, give or take what calls hold that run;
            per, in any: likewise, give or take what refills in the time by which the ledger's dates are rough: a second in the
            last hour, a quarter of an hour before; not those whose limit a reload has changed. At once: only what runs, so not

Exit code 0: the books balance; 1: they do not, or cannot be read; 2: misuse. Each difference is printed with both figures and
what it means.

Flags:
`

func runLedgerVerify(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("ledger verify", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("config", "", "configuration `FILE`")
	address := flags.String("ledger", "", "verify the ledger at this `URL`, such as sqlite:backup.db, and compare no running proxy")
	admin := flags.String("admin", "", "`URL` of the proxy's admin listener, if it is not where the configuration says")
	asJSON := flags.Bool("json", false, "print JSON, on one line")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), ledgerVerifyHelp)
		flags.PrintDefaults()
	}
	if code, ok := parseFlags(flags, args, stdout); !ok {
		return code
	}
	switch {
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "tokenfare ledger verify: unexpected %q; a configuration is named by -config\n", flags.Arg(0))
		return 2
	case *path == "" && *address == "":
		fmt.Fprintln(stderr, "tokenfare ledger verify: say which ledger: -config config.yaml, or -ledger sqlite:usage.db")
		return 2
	}
	v := verification{zone: time.UTC, url: *address, progress: progressOn(stderr)}
	if *path != "" {
		config, err := loadBooksConfig(*path)
		if err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		v.config, v.zone, v.proxy = config, config.zone, newAdminClient(config, *admin)
		if v.whole, err = loadConfig(*path); err != nil {
			v.unread = "budgets cannot be read from the configuration: see `tokenfare check -config " + *path + "`"
		}
	}
	result, err := v.run(ctx)
	if v.progress != nil {
		fmt.Fprint(stderr, "\r\x1b[K")
	}
	if err == nil {
		if *asJSON {
			err = result.printJSON(stdout)
		} else {
			err = result.print(stdout)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "tokenfare ledger verify: %v\n", err)
		return 1
	}
	if !result.balances() {
		return 1
	}
	return 0
}

// verification is what is to be verified.
type verification struct {
	config   *Config // where the ledger and the proxy are; nil: no proxy is asked
	whole    *Config // with everything else
	unread   string  // why there is no whole one
	url      string  // of the ledger; empty: the configuration's
	zone     *time.Location
	proxy    adminClient
	progress func(upto time.Time, rows int64)
}

// verified is what was found.
type verified struct {
	*ledger.Report
	ledger  string
	at      time.Time
	zone    *time.Location
	live    liveReport
	damaged []string // files of journals that were kept: what they are missing no row can tell
}

func (v *verified) balances() bool { return v.Balances() && !v.live.differs() }

func (v *verification) run(ctx context.Context) (*verified, error) {
	address := v.url
	if address == "" {
		address = v.config.Ledger.URL
	}
	store, err := readLedger(ctx, address)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	out := &verified{ledger: ledgerName(address), at: time.Now(), zone: v.zone}
	if out.Report, err = v.books(ctx, store); err != nil {
		return nil, err
	}
	if path, is := strings.CutPrefix(address, "sqlite:"); is {
		if out.damaged, err = sqlite.Damaged(path); err != nil {
			return nil, err
		}
	}
	switch {
	case v.config == nil:
		out.live.Skipped = "without -config it is not known which proxy to ask"
	case v.url != "" && v.url != v.config.Ledger.URL:
		out.live.Skipped = "-ledger names another ledger than the configuration"
	case v.unread != "":
		out.live.Skipped = v.unread
	default:
		out.live, err = compareLive(ctx, v.whole, store, v.proxy)
		if asked, ok := errors.AsType[askError](err); ok && ctx.Err() == nil {
			out.live, err = liveReport{Skipped: asked.Error()}, nil
		}
	}
	return out, err
}

func (v *verification) books(ctx context.Context, store ledger.Store) (*ledger.Report, error) {
	s, err := store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return ledger.Verify(ctx, s, ledger.VerifyOptions{Zone: v.zone, Progress: v.progress})
}

// progressOn tells a person who waits how far it has come; whoever reads a file is told nothing.
func progressOn(w io.Writer) func(upto time.Time, rows int64) {
	if !isTerminal(w) {
		return nil
	}
	last := time.Now()
	return func(upto time.Time, rows int64) {
		if time.Since(last) >= time.Second {
			last = time.Now()
			fmt.Fprintf(w, "\r\x1b[K%s calls, up to %s …\r", thousands(rows), upto.UTC().Format("2006-01-02 15:04"))
		}
	}
}
