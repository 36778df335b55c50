package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/cost/reconcile"
)

// parseReconcile reads the arguments, and the configuration that they name.
func parseReconcile(args []string, stdout, stderr io.Writer) (_ *reconciling, code int, proceed bool) {
	r := &reconciling{options: reconcile.Options{Tolerance: reconcile.DefaultTolerance(), Renames: map[string]string{}}}
	flags := flag.NewFlagSet("reconcile", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("config", "", "configuration `FILE` of the proxy")
	flags.StringVar(&r.ledger, "ledger", "", "read the ledger at this `URL` instead of the configuration's")
	flags.StringVar(&r.upstream, "upstream", "", "compare only calls to this upstream; needed where there are several: its `NAME`")
	flags.Func("provider-export", "`FILE` of the provider's usage or costs, - for standard input; may be given more than once", r.file)
	flags.Func("format", "`FORMAT` of the files: auto, csv or json (default auto)", func(s string) (err error) {
		r.format, err = reconcile.ParseFormat(s)
		return err
	})
	flags.Func("since", "first `DAY` to compare, such as 2026-08-01 (default the first that the export covers)", dayFlag(&r.since))
	flags.Func("until", "last `DAY` to compare (default the last that the export covers, yesterday at most)", dayFlag(&r.until))
	flags.Func("tolerance", "how far the sides may be apart in a day and model: a part, or fixed amounts where they are more; `AMOUNTS` such as \"1%, 5000 tokens, 2 requests, $0.10\", or exact (default \""+r.options.Tolerance.String()+"\")", func(s string) (err error) {
		r.options.Tolerance, err = reconcile.ParseTolerance(s)
		return err
	})
	flags.Func("model", "`ASKED=PROVIDER`: the provider's name for a model of the ledger; may be given more than once", r.rename)
	flags.BoolVar(&r.all, "all", false, "print lines within the tolerance, too")
	flags.BoolVar(&r.json, "json", false, "print one JSON object, with all lines")
	flags.Usage = func() {
		_, _ = io.WriteString(flags.Output(), reconcileHelp) // not Fprint, which vet warns of: date takes a +%s
		flags.PrintDefaults()
	}
	if code, proceed := parseFlags(flags, args, stdout); !proceed {
		return nil, code, false
	}
	if *path != "" {
		var err error
		if r.config, err = loadConfig(*path); err != nil {
			fmt.Fprintln(stderr, err)
			return nil, 1, false
		}
		r.renamesOfConfig()
	}
	if err := r.verify(flags.Args()); err != nil {
		fmt.Fprintf(stderr, "tokenfare reconcile: %v\n", err)
		return nil, 2, false
	}
	return r, 0, true
}

func dayFlag(to **reconcile.Date) func(string) error {
	return func(s string) error {
		d, err := reconcile.ParseDate(s)
		*to = &d
		return err
	}
}

// file takes the name of a file.
func (r *reconciling) file(name string) error {
	if slices.Contains(r.files, name) {
		return errors.New("it is given twice")
	}
	r.files = append(r.files, name)
	return nil
}

// rename takes a name of the ledger and the provider's for it.
func (r *reconciling) rename(s string) error {
	asked, provider, ok := strings.Cut(s, "=")
	if !ok || asked == "" || provider == "" {
		return errors.New("write it like fast=gpt-5-mini: the ledger's name, then the provider's")
	}
	r.options.Renames[asked] = provider
	return nil
}

// renamesOfConfig takes the names that the configuration has for models of the upstream, where -model says nothing else.
func (r *reconciling) renamesOfConfig() {
	for _, model := range r.config.Models {
		for _, m := range model.places() {
			if _, said := r.options.Renames[m.Pattern]; m.Model != "" && !said && (m.Upstream == "" || r.upstream == "" || m.Upstream == r.upstream) {
				r.options.Renames[m.Pattern] = m.Model
			}
		}
	}
}

// verify finds what is misused.
func (r *reconciling) verify(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected %q; name files with -provider-export", rest[0])
	case len(r.files) == 0:
		return errors.New("name the provider's export: -provider-export usage.json   (tokenfare reconcile --help says how to get it)")
	case r.config == nil && r.ledger == "":
		return errors.New("say where the ledger is: -config FILE of the proxy, or -ledger URL")
	case r.since != nil && r.until != nil && *r.until < *r.since:
		return fmt.Errorf("-until %s is before -since %s", *r.until, *r.since)
	case r.config == nil:
		return nil
	}
	var names []string
	for _, u := range r.config.Upstreams {
		names = append(names, u.Name)
	}
	switch {
	case r.upstream != "" && !slices.Contains(names, r.upstream):
		return fmt.Errorf("there is no upstream %q: %s", r.upstream, suggest(r.upstream, names))
	case r.upstream == "" && len(names) > 1:
		return fmt.Errorf("the configuration has %d upstreams: say with -upstream whose export it is: %s", len(names), strings.Join(names, ", "))
	}
	return nil
}
