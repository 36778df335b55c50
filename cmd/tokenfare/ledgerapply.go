package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// run carries the command out: a running proxy does it, or this process where none runs.
func (c *correction) run(ctx context.Context, config *Config, figure revision) error {
	if config.Ledger.URL == "" {
		return errNoLedger
	}
	proxy := newAdminClient(config, c.admin)
	var states budgetStates
	asked := proxy.ask(ctx, http.MethodGet, "/budgets", nil, &states)
	alone := errors.Is(asked, errNoProxy)
	switch {
	case c.onlyShows():
		return c.show(ctx, config, figure, alone)
	case alone:
		return c.alone(ctx, config, figure, proxy.base)
	case asked != nil:
		return asked
	}
	store, err := readLedger(ctx, config.Ledger.URL)
	if err != nil {
		return err
	}
	defer store.Close()
	p, err := c.plan(ctx, store, config.zone, figure)
	if err != nil {
		return err
	}
	return c.carryOut(p, config.zone, "by the proxy at "+proxy.base, func(part corrections) (*corrected, error) {
		made := &corrected{}
		return made, proxy.ask(ctx, http.MethodPost, "/ledger/corrections", part, made)
	})
}

// show prints what would change.
func (c *correction) show(ctx context.Context, config *Config, figure revision, alone bool) error {
	store, err := readLedger(ctx, config.Ledger.URL)
	if err != nil {
		return err
	}
	defer store.Close()
	p, err := c.plan(ctx, store, config.zone, figure)
	if err != nil {
		return err
	}
	p.print(c, config.zone)
	if alone && p.running > 0 {
		fmt.Fprintf(c.stdout, "%s had not ended when the proxy stopped: the next start, or -yes, charges them as crashed. They would then be among these.\n", pluralOf(int64(p.running), "call"))
	}
	switch {
	case len(p.calls) > 0 && c.dryRun:
		fmt.Fprintln(c.stdout, "Nothing was changed.")
	case len(p.calls) > 0 || alone && p.running > 0:
		fmt.Fprintln(c.stdout, "Nothing was changed. To do it, add -yes.")
	}
	return nil
}

// alone opens the ledger to write, which also charges what a crash has left.
func (c *correction) alone(ctx context.Context, config *Config, figure revision, asked string) (err error) {
	there, err := readLedger(ctx, config.Ledger.URL) // opening one to write would make it
	if err != nil {
		return err
	}
	there.Close()
	log := slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	b, err := openBooks(ctx, config.Ledger, log)
	if errors.Is(err, ledger.ErrLocked) {
		return fmt.Errorf("%w. No proxy answers at %s: name the admin listener of the one that runs by -admin URL", err, asked)
	}
	if err != nil {
		return err
	}
	b.run(ctx)
	defer func() { err = errors.Join(err, b.close()) }()
	// What a crash has left is queued; nothing that is queued later is durable before it.
	if err := b.writer.Correct(nil).Stored(ctx); err != nil {
		return err
	}
	p, err := c.plan(ctx, b.store, config.zone, figure)
	if err != nil {
		return err
	}
	maker := corrector{store: b.store, writer: b.writer}
	return c.carryOut(p, config.zone, "in the ledger, as no proxy answers; its budgets have it at the next start", func(part corrections) (*corrected, error) {
		return maker.correct(ctx, part)
	})
}

// carryOut makes the corrections of a plan, and says what it has done.
func (c *correction) carryOut(p *plan, zone *time.Location, where string, do func(corrections) (*corrected, error)) error {
	p.print(c, zone)
	done := 0
	for _, part := range p.parts(c.reason) {
		made, err := do(part)
		if err != nil {
			if done > 0 {
				err = fmt.Errorf("%w\n%s corrected before that; run the same command again for the others", err, pluralOf(int64(done), "call was", "calls were"))
			}
			return err
		}
		done += len(made.Corrected)
	}
	if done > 0 {
		fmt.Fprintf(c.stdout, "Corrected %s.\n", where)
	}
	return nil
}

// print says what changes.
func (p *plan) print(c *correction, zone *time.Location) {
	if len(p.calls) == 0 {
		switch {
		case p.unchanged > 0:
			fmt.Fprintf(c.stdout, "%s charged so already: nothing to correct.\n", pluralOf(int64(p.unchanged), "call is", "calls are"))
		default:
			fmt.Fprintln(c.stdout, "There are no such calls.")
		}
		return
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CALL\tBEGAN\tKEY\tMODEL\tWAS\tCOST\tBECOMES\tCOST")
	for i, call := range p.calls {
		if i == shownLines {
			break
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", call.ID, call.began.In(zone).Format("2006-01-02 15:04:05"), printable(call.key), printable(call.model),
			call.Was, call.is, call.becoming, call.to)
	}
	w.Flush()
	if more := len(p.calls) - shownLines; more > 0 {
		fmt.Fprintf(c.stdout, "… and %s more\n", thousands(int64(more)))
	}
	fmt.Fprintf(c.stdout, "\n%s: %s", pluralOf(int64(len(p.calls)), "call"), changeText("dollars", int64(p.change)))
	if p.unchanged > 0 {
		fmt.Fprintf(c.stdout, "; %s charged so already", pluralOf(int64(p.unchanged), "more is", "more are"))
	}
	fmt.Fprintln(c.stdout)
	p.printBudgets(c)
	fmt.Fprintln(c.stdout)
}

// printBudgets lists what changes for each budget, the largest change of money first.
func (p *plan) printBudgets(c *correction) {
	type line struct {
		ledger.Budget
		n int64
	}
	var lines []line
	for b, n := range p.budgets {
		if n != 0 {
			lines = append(lines, line{b, n})
		}
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(-cmp.Compare(boolInt(a.Unit == "dollars"), boolInt(b.Unit == "dollars")), -cmp.Compare(max(a.n, -a.n), max(b.n, -b.n)), cmp.Compare(a.Name, b.Name))
	})
	for i, l := range lines {
		if i == shownLines {
			fmt.Fprintf(c.stdout, "  … and %d budgets more\n", len(lines)-i)
			return
		}
		fmt.Fprintf(c.stdout, "  %s: %s\n", printable(l.Name), changeText(l.Unit, l.n))
	}
}

// changeText writes by how much something changes: "$0.25 less".
func changeText(unit string, n int64) string {
	switch {
	case n < 0:
		return strings.TrimSpace(figureText(unit, -n)) + " less"
	case n > 0:
		return figureText(unit, n) + " more"
	default:
		return "the same cost"
	}
}
