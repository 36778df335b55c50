package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const ledgerCorrectHelp = `Change what calls were charged. A row is added that says by how much, what for, and when; none is ever edited. Sums, budgets and
reports follow at once, those of a running proxy, too.

One call, by its id in the log, or in the x-tokenfare-id of its answer:

  tokenfare ledger correct -config config.yaml -id req_01jd8v4q7w3nk -charge-nothing -reason "answer was garbage, refunded"
  tokenfare ledger correct -config config.yaml -id req_01jd8v4q7w3nk -usage input=812,output=96 -reason "as the provider's log has it"
  tokenfare ledger correct -config config.yaml -id req_01jd8v4q7w3nk -cost '$0.0123' -reason "as on the invoice"

After a crash, or an outage of the provider: the calls that were charged all they had reserved, or more if more was counted, because
nobody knows what they used, or what was reported cannot be true: those that "tokenfare usage" marks with ^. What would change is
printed; -yes does it.

  tokenfare ledger correct -config config.yaml -unreported -since "2026-11-21 14:00" -until "2026-11-21 14:30" \
      -charge-nothing -reason "provider outage, credited"
  tokenfare ledger correct -config config.yaml -unreported -ending crashed -since 2h -counted -reason "node failed" -yes

With the provider's own figures, a line of JSON for each call; -yes does it:

  tokenfare ledger correct -config config.yaml -file figures.jsonl -reason "invoice of November"
  {"id": "req_01jd8v4q7w3nk", "usage": {"input_tokens": 812, "output_tokens": 96}}
  {"id": "req_01jd8v5aaw1g0", "charge": "nothing"}

What is charged:

  -charge-nothing   nothing
  -counted          the prompt as it was counted before the call, and no output
  -usage LIST       input, cached, cache_write, output, reasoning, images, milliseconds, characters: tokens that are not named
                    are none, other units stay; it costs what it did at the price of its time, in the tier that its answer named
  -cost AMOUNT      as much; the tokens stay, or are those of -usage

Every budget that the call's rows name follows by its own unit, dated to when the call began, and then counts what it would after a
restart: what time has refilled meanwhile is not given back again. What is charged so already is left alone, so the same command can
be run again.

A proxy that runs is asked to do it, for it alone writes its ledger: admin.token must be set. Where none runs, the ledger is
opened for it.

Flags:
`

// correction is the subcommand as it was called.
type correction struct {
	config, admin    string
	ids              idList
	file             string
	unreported       bool
	since, until     string
	key, model       string
	upstream, ending string
	nothing, counted bool
	usage            string
	cost             string
	reason           string
	dryRun, yes      bool
	flags            *flag.FlagSet
	stdout, stderr   io.Writer
	now              func() time.Time
}

// idList collects ids from a flag that can be given several times.
type idList []string

func (l *idList) String() string { return strings.Join(*l, ",") }

func (l *idList) Set(text string) error {
	for id := range strings.SplitSeq(text, ",") {
		*l = append(*l, strings.TrimSpace(id))
	}
	return nil
}

func runLedgerCorrect(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := &correction{stdout: stdout, stderr: stderr, now: time.Now, flags: flag.NewFlagSet("ledger correct", flag.ContinueOnError)}
	f := c.flags
	f.SetOutput(stderr)
	f.StringVar(&c.config, "config", "", "configuration `FILE`")
	f.StringVar(&c.admin, "admin", "", "`URL` of the proxy's admin listener, if it is not where the configuration says")
	f.Var(&c.ids, "id", "the call with this `ID`; may be given several times")
	f.StringVar(&c.file, "file", "", "the calls in this `FILE`, each with what it is to be charged; - reads standard input")
	f.BoolVar(&c.unreported, "unreported", false, "all calls of which nobody knows what they used, those of a crash and those with an incredible report, too")
	f.StringVar(&c.since, "since", "", "of -unreported, those that began at this `TIME` or later: \"2026-11-21 14:00\", 2h")
	f.StringVar(&c.until, "until", "", "of -unreported, those that began before this `TIME`; without it, now")
	f.StringVar(&c.key, "key", "", "of -unreported, those of this key: its `NAME`")
	f.StringVar(&c.model, "model", "", "of -unreported, those for this model: its `NAME`, or a pattern with *")
	f.StringVar(&c.upstream, "upstream", "", "of -unreported, those of this upstream: its `NAME`")
	f.StringVar(&c.ending, "ending", "", "of -unreported, those that ended so: `crashed`, no_status, broken, incredible_usage")
	f.BoolVar(&c.nothing, "charge-nothing", false, "charge nothing")
	f.BoolVar(&c.counted, "counted", false, "charge the prompt, and no output")
	f.StringVar(&c.usage, "usage", "", "charge this usage: a `LIST` such as input=812,cached=512,output=96")
	f.StringVar(&c.cost, "cost", "", "charge this `AMOUNT` of dollars, as in $0.0123")
	f.StringVar(&c.reason, "reason", "", "why, in a `SENTENCE`: it is kept with the correction")
	f.BoolVar(&c.dryRun, "dry-run", false, "print what would change, and change nothing")
	f.BoolVar(&c.yes, "yes", false, "do it: without this, -unreported, -file and several ids only print what would change")
	f.Usage = func() {
		fmt.Fprint(f.Output(), ledgerCorrectHelp)
		f.PrintDefaults()
	}
	if code, ok := parseFlags(f, args, stdout); !ok {
		return code
	}
	figure, err := c.misuse()
	if err != nil {
		fmt.Fprintf(stderr, "tokenfare ledger correct: %v\n", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := loadBooksConfig(c.config)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if err := c.run(ctx, config, figure); err != nil {
		fmt.Fprintf(stderr, "tokenfare ledger correct: %v\n", err)
		return exitCode(err)
	}
	return 0
}

// onlyShows reports whether nothing is to change.
func (c *correction) onlyShows() bool {
	return c.dryRun || !c.yes && (c.unreported || c.file != "" || len(c.ids) > 1)
}
