package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost/reconcile"
)

const reconcileHelp = `Compare the ledger with the provider's own usage export, by model and day. Drift is shown with a suspected cause.
Exit code 0: within the tolerance; 1: drift, or nothing could be compared; 2: misused.

  tokenfare reconcile -config config.yaml -provider-export usage.json
  tokenfare reconcile -config config.yaml -provider-export usage.json -provider-export costs.json -since 2026-08-01
  tokenfare reconcile -config config.yaml -provider-export usage.csv -upstream openai -model fast=gpt-5-mini
  tokenfare reconcile -config config.yaml -provider-export usage.csv -tolerance "0.1%, 0 tokens, $0.10" -json

Only days that the export covers in full are compared, and today is not: it goes on. An alias and its dated snapshots
(gpt-5-mini, gpt-5-mini-2025-08-07) are one model unless both sides have the same snapshots.

What an export can be: the CSV files of OpenAI's usage and cost dashboards; answers of its Usage and Costs APIs, all pages
of them, one behind the other; az monitor metrics list; the activity of OpenRouter; or a table for any other provider:

  day,model,requests,input_tokens,cached_input_tokens,output_tokens,cost

To ask OpenAI for a month, whole days in UTC, with an admin key (embeddings and the like have tables of their own):

  curl -sG https://api.openai.com/v1/organization/usage/completions -H "Authorization: Bearer $OPENAI_ADMIN_KEY" \
    -d start_time=$(date -ud 2026-08-01 +%s) -d end_time=$(date -ud 2026-09-01 +%s) -d bucket_width=1d -d limit=31 \
    -d group_by=model -d group_by=batch > usage.json
  curl -sG https://api.openai.com/v1/organization/costs -H "Authorization: Bearer $OPENAI_ADMIN_KEY" \
    -d start_time=$(date -ud 2026-08-01 +%s) -d end_time=$(date -ud 2026-09-01 +%s) -d limit=31 \
    -d group_by=line_item > costs.json

Where others use the same account, add -d api_key_ids=KEY or -d project_ids=PROJECT of this proxy.

Flags:
`

// ledgerDays sums up what a ledger has from one day to another, both included, by UTC day of the call's start and model: a
// reconcile.Day for each, or several. url is what -ledger says; empty: the ledger of the configuration, which is nil where
// none is given. upstream picks the calls that went to one; empty: all.
type ledgerDays func(ctx context.Context, config *Config, url string, first, last reconcile.Date, upstream string) ([]reconcile.Day, error)

// reconcileCommand is the subcommand, over a way to read ledgers.
func reconcileCommand(days ledgerDays) command {
	return command{"reconcile", "-provider-export FILE", "compare the ledger with the provider's usage export", func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return runReconcile(ctx, days, args, stdout, stderr)
	}}
}

// reconciling is what a run was asked for.
type reconciling struct {
	config       *Config // nil: none was given
	ledger       string
	upstream     string
	files        []string
	format       reconcile.Format
	since, until *reconcile.Date // nil: as far as the export goes
	options      reconcile.Options
	all, json    bool
}

func runReconcile(ctx context.Context, days ledgerDays, args []string, stdout, stderr io.Writer) int {
	asked, code, proceed := parseReconcile(args, stdout, stderr)
	if !proceed {
		return code
	}
	report, err := asked.compare(ctx, days, time.Now())
	if err == nil {
		if asked.json {
			err = report.JSON(stdout)
		} else {
			err = report.Text(stdout, asked.all)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "tokenfare reconcile: %v\n", err)
		return 1
	}
	if report.Drift() {
		return 1
	}
	return 0
}

// compare reads both sides and sets them beside each other.
func (r *reconciling) compare(ctx context.Context, days ledgerDays, now time.Time) (*reconcile.Report, error) {
	export, err := r.export()
	if err != nil {
		return nil, err
	}
	covered := export.Covers()
	if len(covered) == 0 {
		return nil, errors.New("nothing to compare: the export covers no whole day" + because(export.Notes))
	}
	first, last := covered[0], covered[len(covered)-1]
	if today := reconcile.DateOf(now); r.until == nil && last >= today {
		last = today - 1
		export.Notes = append(export.Notes, fmt.Sprintf("%s is not over, so it was left out", today))
	}
	if r.since != nil {
		first = max(first, *r.since)
	}
	if r.until != nil {
		last = min(last, *r.until)
	}
	export = export.Between(first, last)
	if len(export.Covers()) == 0 {
		return nil, fmt.Errorf("nothing to compare: the export covers days from %s to %s, and none of them was asked for%s", covered[0], covered[len(covered)-1], because(export.Notes))
	}
	ledger, err := days(ctx, r.config, r.ledger, first, last, r.upstream)
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	report := reconcile.Compare(ledger, export, r.options)
	return &report, nil
}

// because adds notes to an error.
func because(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return ": " + strings.Join(notes, "; ")
}

// export reads the files.
func (r *reconciling) export() (reconcile.Export, error) {
	reader := reconcile.NewReader()
	for _, name := range r.files {
		if err := readExport(reader, name, r.format); err != nil {
			return reconcile.Export{}, err
		}
	}
	return reader.Export()
}

func readExport(reader *reconcile.Reader, name string, f reconcile.Format) error {
	if name == "-" {
		return reader.File("standard input", os.Stdin, f)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return reader.File(name, file, f)
}
