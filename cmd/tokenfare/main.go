// Command tokenfare is a proxy that speaks the OpenAI API and charges every caller by tokens and money, before the call.
package main

import (
	"context"
	"fmt"
	"io"
	"log" //nolint:depguard // to silence it
	"os"
)

// command is one subcommand: its own arguments in, an exit code out.
type command struct {
	name, args, does string
	run              func(ctx context.Context, args []string, stdout, stderr io.Writer) int
}

// plain adapts a command that ends by itself.
func plain(run func(args []string, stdout, stderr io.Writer) int) func(context.Context, []string, io.Writer, io.Writer) int {
	return func(_ context.Context, args []string, stdout, stderr io.Writer) int { return run(args, stdout, stderr) }
}

func commands() []command {
	return []command{
		{"demo", "", "try it: the proxy, two keys and a simulated upstream, in one process", runDemo},
		{"serve", "[-config FILE]", "run the proxy", runServe},
		{"check", "-config FILE", "find every mistake in a configuration; print its limits in plain words", plain(runCheck)},
		{"keys", "new NAME…", "make keys for callers", plain(runKeys)},
		{"estimate", "[-config FILE] REQUEST.json", "what would this request be charged, and why", plain(runEstimate)},
		{"count", "[-model MODEL] FILE…", "how many tokens do files have", plain(func(args []string, stdout, stderr io.Writer) int {
			return runCount(args, os.Stdin, stdout, stderr)
		})},
		{"usage", "[-config FILE] [-by …]", "who used what: requests, tokens, cost, refusals, budgets left", runUsage},
		{"prices", "[-config FILE] [MODEL…]", "what do models cost, and who says so", plain(runPrices)},
		{"ledger", "verify | correct | backup", "prove the books, correct what a call was charged, copy them", runLedger},
		{"notify", "-test [-config FILE]", "post a test message to the webhook that is told of budgets", runNotify},
		reconcileCommand(readDays),
		{"health", "[-config FILE]", "ask a running proxy whether it is well, for container health checks", plain(runHealth)},
		{"version", "", "print the version", plain(runVersion)},
	}
}

func main() {
	// What net/http says to the standard logger quotes what upstreams send; our own log is another.
	log.SetOutput(io.Discard)
	os.Exit(dispatch(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// dispatch runs the subcommand that args name and returns its exit code: 0 done, 1 failed, 2 misused.
func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return 2
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if len(args) > 1 {
			args = []string{args[1], "--help"}
			break
		}
		usage(stdout)
		return 0
	case "-version", "--version":
		args = []string{"version"}
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "tokenfare: there is no command %q\n\n", args[0])
	usage(stderr)
	return 2
}

func usage(w io.Writer) {
	fmt.Fprint(w, `tokenfare gives everyone a key with a token or dollar budget for one OpenAI-compatible upstream.
The budget is taken before the call, so it cannot be overspent.

Usage:

`)
	for _, c := range commands() {
		fmt.Fprintf(w, "  tokenfare %-8s %-28s %s\n", c.name, c.args, c.does)
	}
	fmt.Fprint(w, `
Start here:

  tokenfare demo                          no account, no network, no files
  OPENAI_API_KEY=… tokenfare serve        watch your own traffic first: nothing is limited
  tokenfare serve -config config.yaml     keys and budgets for the team

"tokenfare COMMAND --help" explains a command by example.
`)
}
