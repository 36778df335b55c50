package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

const usage = `Measure what the proxy costs: CPU, added latency and memory, next to a bare reverse proxy.

  go run ./test/bench                          everything; two to three minutes
  go run ./test/bench -only chat-20k -rounds 3 one workload, quickly
  go run ./test/bench -json > figures.json     for a program to read
  go run ./test/bench -ledger                  what the ledger costs: the program with one and without, in turns

Workloads:
`

func main() {
	if name, ok := roleAsked(os.Args); ok {
		os.Exit(play(name))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is the whole command: 0 measured, 1 something went wrong, 2 asked for wrongly.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := defaultSettings()
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&s.rounds, "rounds", s.rounds, "how often each workload is measured on each server")
	flags.IntVar(&s.requests, "requests", s.requests, "requests a round in chat-1k; the others get a share that takes as long")
	callers := flags.Int("callers", fewConns, "connections that ask at the same time, each the next as soon as its last was answered; not in stream-slow. With -ledger 32 if this is not given")
	only := flags.String("only", "", "comma-separated `WORKLOADS` to measure; all if empty")
	asJSON := flags.Bool("json", false, "print JSON in place of the table")
	withLedger := flags.Bool("ledger", false, "measure what the ledger costs instead")
	flags.StringVar(&s.binary, "binary", "", "measure this `FILE`, a built program, in place of building ./cmd/tokenfare")
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		for _, w := range s.workloads {
			fmt.Fprintf(stderr, "  %-16s %s\n", w.name, w.about)
		}
		fmt.Fprintln(stderr, "\nWorkloads of -ledger:")
		for _, w := range ledgerWorkloads() {
			fmt.Fprintf(stderr, "  %-16s %s\n", w.name, w.about)
		}
		fmt.Fprintln(stderr, "\nFlags:")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if *withLedger {
		l := ledgerSettings()
		flags.Visit(func(f *flag.Flag) {
			switch f.Name {
			case "rounds":
				l.rounds = s.rounds
			case "requests":
				l.requests = s.requests
			case "callers":
				l.ask(*callers)
			}
		})
		l.binary = s.binary
		s = l
	} else {
		s.ask(*callers)
	}
	if err := s.choose(*only); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 2
	}
	if s.rounds < 1 || s.requests < 1 || *callers < 1 || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "bench: -rounds, -requests and -callers must be at least 1, and there are no other arguments")
		return 2
	}
	if runtime.GOOS != "linux" {
		fmt.Fprintln(stderr, "bench: CPU and memory are read from /proc, so this runs on Linux only")
		return 1
	}
	report, err := measureOne(ctx, s, *withLedger, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	if *asJSON {
		out := json.NewEncoder(stdout)
		out.SetIndent("", "  ")
		err = out.Encode(report)
	} else {
		err = report.writeTable(stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

// measureOne runs one of the two kinds of measurement.
func measureOne(ctx context.Context, s settings, withLedger bool, progress io.Writer) (interface{ writeTable(to io.Writer) error }, error) {
	if withLedger {
		return measureLedger(ctx, s, progress)
	}
	return measure(ctx, s, progress)
}

// choose keeps the workloads that are named; an empty list keeps all.
func (s *settings) choose(only string) error {
	if only == "" {
		return nil
	}
	var names []string
	known := map[string]workload{}
	for _, w := range s.workloads {
		names = append(names, w.name)
		known[w.name] = w
	}
	var chosen []workload
	for name := range strings.SplitSeq(only, ",") {
		w, ok := known[strings.TrimSpace(name)]
		if !ok {
			return fmt.Errorf("-only: there is no workload %q; choose from %s", name, strings.Join(names, ", "))
		}
		chosen = append(chosen, w)
	}
	s.workloads = chosen
	return nil
}
