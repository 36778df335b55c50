package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

const usageHelp = `Print who used what, from the ledger: requests, tokens, cost, refusals, and what budgets have left.

  tokenfare usage -config config.yaml
      The last seven days and today, a line for each key, the dearest first.

  tokenfare usage -config config.yaml -by group,model -since month
      A line for each model of each group, since this month began.

  tokenfare usage -config config.yaml -by day -key alice,bob -since 2026-11-01 -until 2026-12-01 -csv
      November of two keys, day by day, for a spreadsheet.

  tokenfare usage -config config.yaml -live
      Again every two seconds, until Ctrl-C.

  tokenfare usage -config config.yaml -id req_01jd8v4q7w3nk
      All that is known of one exchange. Its id is in the log and in the answer's x-tokenfare-id. An upstream's id, as in
      x-request-id, is looked for among the calls of the last seven days, or of those since -since.

-by takes key, group, model, label, day, upstream and endpoint, with commas between them. Groups are those a key was in
when it called; a key in two of them counts in both, and once in the total.

-since and -until take 7d (the midnight seven days ago), 24h, 1h30m (the full hour in which that was), a date (the midnight it
begins with), an instant such as 2026-11-01T12:00:00Z, or day, week, month or quarter for the beginning of the one that is now.
Days begin when they do in the configured timezone. The ledger has sums of hours of UTC, and an hour counts where it begins: in
zones that are off by half an hour, such as India's, a day begins half an hour late, and in those off by a quarter a quarter or
three. The hours that are shown are printed, and where they are not those that were asked for, that is said.

Of the configuration only ledger and timezone are read where the rest cannot be, for lack of a variable perhaps. What
budgets have left is then not shown.

Flags:
`

// usageCommand is the subcommand, with what is different in its tests.
type usageCommand struct {
	now    func() time.Time
	left   budgetsLeft
	stdout io.Writer
	stderr io.Writer

	config, ledger, by, since, until, id string
	keys                                 keyNames
	json, csv, live                      bool
	flags                                *flag.FlagSet
}

func runUsage(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := usageCommand{now: time.Now, left: replayBudgets, stdout: stdout, stderr: stderr}
	return c.run(ctx, args)
}

// keyNames collects names from a flag that can be given several times.
type keyNames []string

func (k *keyNames) String() string { return strings.Join(*k, ",") }

func (k *keyNames) Set(list string) error {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); !ownerName.MatchString(name) {
			return errors.New("that cannot be the name of a key")
		}
		*k = append(*k, name)
	}
	return nil
}

// parse reads the arguments.
func (c *usageCommand) parse(args []string) (code int, proceed bool) {
	f := flag.NewFlagSet("usage", flag.ContinueOnError)
	f.SetOutput(c.stderr)
	f.StringVar(&c.config, "config", "config.yaml", "configuration `FILE`")
	f.StringVar(&c.ledger, "ledger", "", "read the ledger at this `URL`, such as sqlite:usage.db, instead of the configured one; no configuration is needed then")
	f.StringVar(&c.by, "by", "key", "what usage is told apart by: a `LIST` of key, group, model, label, day, upstream, endpoint")
	f.StringVar(&c.since, "since", "7d", "`TIME` from which on requests count that began then")
	f.StringVar(&c.until, "until", "", "`TIME` before which they do; without it, now")
	f.Var(&c.keys, "key", "only these keys: `NAME[,NAME…]`; may be given several times")
	f.BoolVar(&c.json, "json", false, "print JSON, on one line; see docs/usage.md")
	f.BoolVar(&c.csv, "csv", false, "print CSV for spreadsheets")
	f.BoolVar(&c.live, "live", false, "print it again every two seconds, until Ctrl-C")
	f.StringVar(&c.id, "id", "", "print all there is to know of the exchange with this `ID`, the proxy's own or the upstream's")
	f.Usage = func() {
		fmt.Fprint(f.Output(), usageHelp)
		f.PrintDefaults()
	}
	c.flags = f
	return parseFlags(f, args, c.stdout)
}

// given reports whether a flag was on the command line.
func (c *usageCommand) given(name string) (is bool) {
	c.flags.Visit(func(f *flag.Flag) { is = is || f.Name == name })
	return is
}

// misuse says what is wrong with the flags together.
func (c *usageCommand) misuse() error {
	if args := c.flags.Args(); len(args) > 0 {
		fix := "the configuration is named by -config, and keys by -key"
		if len(c.keys) > 0 {
			fix = "write -key " + strings.Join(append(slices.Clone(c.keys), args...), ",")
		}
		return fmt.Errorf("unexpected %q: %s", args[0], fix)
	}
	if c.id != "" {
		for _, name := range []string{"by", "until", "key", "csv", "live"} {
			if c.given(name) {
				return fmt.Errorf("-id prints one exchange, and -%s says nothing about it: leave it out", name)
			}
		}
	}
	switch {
	case c.json && c.csv:
		return errors.New("choose one of -json and -csv")
	case c.live && c.csv:
		return errors.New("-live prints tables, or lines of -json: leave out -csv")
	case c.live && c.until != "":
		return errors.New("-live goes on: leave out -until")
	}
	return nil
}

// run is the command. Its exit code is 2 for misuse, 1 for what failed.
func (c *usageCommand) run(ctx context.Context, args []string) int {
	if code, proceed := c.parse(args); !proceed {
		return code
	}
	fail := func(code int, err error) int {
		fmt.Fprintf(c.stderr, "tokenfare usage: %v\n", err)
		return code
	}
	if err := c.misuse(); err != nil {
		return fail(2, err)
	}
	by, err := parseBy(c.by)
	if err != nil {
		return fail(2, err)
	}
	var id ledger.ID
	if c.id != "" {
		if id, err = ledger.ParseID(c.id); err != nil && !upstreamID.MatchString(c.id) {
			return fail(2, fmt.Errorf("-id: %w; an upstream's is of at most 128 letters, digits and the signs - _ . : /", err))
		}
	}
	config, whole, err := c.configuration(by)
	if err != nil {
		fmt.Fprintln(c.stderr, err)
		return 1
	}
	span, err := spanOf(c.since, c.until, c.now(), config.zone)
	if err != nil {
		return fail(2, err)
	}
	store, err := readLedger(ctx, config.Ledger.URL)
	if err != nil {
		return fail(1, err)
	}
	defer store.Close()
	reading := usageReading{usageCommand: c, store: store, zone: config.zone, by: by, whole: whole}
	if note := span.note(); note != "" && c.id == "" {
		fmt.Fprintf(c.stderr, "tokenfare usage: %s\n", note)
	}
	switch {
	case c.id != "":
		err = reading.one(ctx, id, span)
	case c.live:
		err = reading.live(ctx)
	default:
		var page string
		if page, err = reading.page(ctx, 0); err == nil {
			_, err = io.WriteString(c.stdout, page)
		}
	}
	if err != nil {
		return fail(1, err)
	}
	return 0
}

// configuration reads where the ledger is and where days begin, and nothing else: a report needs no upstream, and none of
// the variables that hold the upstreams' keys. Whole is all of it, where budgets are to be shown and it can be read.
func (c *usageCommand) configuration(by by) (config, whole *Config, err error) {
	config = defaultConfig()
	if c.ledger == "" || c.given("config") && c.config != "" {
		if config, err = loadLedgerConfig(c.config); err != nil {
			return nil, nil, c.explain(err)
		}
	}
	if c.ledger != "" {
		config.Ledger.URL = c.ledger
	}
	if config.root == nil || c.id != "" || !by.has("key") && !by.has("group") {
		return config, nil, nil
	}
	if whole, err = loadConfig(c.config); err != nil {
		fmt.Fprintf(c.stderr, "tokenfare usage: budgets are not shown, as there is something wrong with the configuration: see `tokenfare check -config %s`\n", c.config)
		return config, nil, nil
	}
	return config, whole, nil
}

// explain says what to do where there is no configuration and none was asked for.
func (c *usageCommand) explain(err error) error {
	if _, missing := os.Stat(c.config); errors.Is(missing, fs.ErrNotExist) && !c.given("config") {
		return fmt.Errorf("tokenfare usage: there is no %s here: name the configuration with -config FILE, or the ledger with -ledger sqlite:usage.db", c.config)
	}
	return err
}
