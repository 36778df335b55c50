package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

const estimateHelp = `Say what a request would be charged, and why: tokens by part, the output bound, the budgets it draws on.
Nothing is sent anywhere.

  tokenfare estimate request.json                              counts and prices, without budgets
  tokenfare estimate request.json -config config.yaml -key alice
  tokenfare estimate -                                          reads the request from standard input

request.json is the body of a POST to /v1/chat/completions.

Flags:
`

func runEstimate(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("estimate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("config", "", "configuration `FILE` with the budgets")
	key := flags.String("key", "", "`NAME` of the key whose budgets to draw on; may be left out if there is only one")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), estimateHelp)
		flags.PrintDefaults()
	}
	files, code, proceed := interspersed(flags, args, stdout)
	if !proceed {
		return code
	}
	if len(files) != 1 {
		fmt.Fprintln(stderr, "tokenfare estimate: name one file with a request, or - for standard input")
		return 2
	}
	body, err := readArgument(files[0])
	if err == nil {
		err = estimate(*path, *key, body, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "tokenfare estimate: %v\n", err)
		return 1
	}
	return 0
}

func readArgument(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

func estimate(path, key string, body []byte, w io.Writer) error {
	spec := proxy.Spec{
		Keys:      []proxy.KeySpec{{Name: "anybody", Hashes: [][32]byte{sha256.Sum256(nil)}}},
		Models:    []proxy.ModelSpec{{Pattern: "*", Upstream: "upstream"}},
		Upstreams: []proxy.UpstreamSpec{{Name: "upstream", URL: "http://upstream/v1"}},
	}
	config := defaultConfig()
	if path != "" {
		var err error
		if config, err = loadConfig(path); err != nil {
			return err
		}
		if spec, _, err = config.compile(); err != nil {
			return err
		}
	}
	if key == "" {
		if len(spec.Keys) != 1 {
			return fmt.Errorf("%d keys are configured; choose one with -key NAME", len(spec.Keys))
		}
		key = spec.Keys[0].Name
	}
	catalog, err := config.priceList()
	if err != nil {
		return err
	}
	memory := limiter.NewMemory()
	policy, err := proxy.NewPolicy(spec, memory, catalog)
	if err != nil {
		return err
	}
	server, err := proxy.New(proxy.Options{Limiter: memory, Estimator: cost.NewEstimator()}, policy)
	if err != nil {
		return err
	}
	e, err := server.Explain(context.Background(), key, body)
	if err != nil {
		return err
	}
	return printEstimate(w, e)
}

func printEstimate(out io.Writer, e *proxy.Explanation) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "model\t%s\n", e.Model)
	if e.ServedAs != e.Model {
		fmt.Fprintf(w, "served as\t%s\n", e.ServedAs)
	}
	counted := e.Facts.Encoding
	if !e.Facts.KnownEncoding {
		counted += ", a guess: the model's own vocabulary is not known"
	}
	if e.Facts.Ratio > 0 {
		counted += ", times " + e.Facts.Ratio.String()
	}
	fmt.Fprintf(w, "counted with\t%s\n", counted)
	fmt.Fprintf(w, "basis\t%s\n\n", e.Estimate.Basis)
	fmt.Fprintln(w, "INPUT\tTOKENS\tBASIS")
	for part, n := range e.Estimate.ByPart {
		if n > 0 {
			fmt.Fprintf(w, "%s\t%d\t%s\n", cost.Part(part), n, e.Estimate.BasisOf[part])
		}
	}
	fmt.Fprintf(w, "total\t%d\n\n", e.Estimate.Input)
	fmt.Fprintln(w, "OUTPUT\tTOKENS")
	how := "as the request says"
	switch {
	case e.Inserted > 0:
		how = "no limit in the request: this one would be inserted"
	case e.Estimate.Basis == cost.Assumed:
		how = "no limit in the request, and no budget that needs one: assumed"
	}
	fmt.Fprintf(w, "at most\t%d\t%s\n", e.Estimate.MaxOutput, how)
	if e.Choices > 1 {
		fmt.Fprintf(w, "choices\t%d\t%d tokens each\n", e.Choices, e.Estimate.MaxOutput/e.Choices)
	}
	fmt.Fprintln(w)
	switch {
	case !e.Facts.Priced:
		fmt.Fprintln(w, "cost\tunknown: the model has no price; add one under models in the configuration")
	default:
		fmt.Fprintf(w, "cost\t%s … %s\n", e.Floor, e.Ceiling)
		fmt.Fprintf(w, "\tleast: every token of input from the cache, and %s of output\n", plural(int(e.FloorOutput), "token"))
		fmt.Fprintln(w, "\tmost: what a budget in dollars reserves")
		if e.Facts.Source == cost.FromRule {
			fmt.Fprintln(w, "\tthe model has no price of its own: `unpriced` in the configuration says what it costs")
		}
	}
	if len(e.Draws) > 0 {
		fmt.Fprintln(w, "\nBUDGET\tLIMIT\tWOULD TAKE\tOF")
	}
	for _, d := range e.Draws {
		note := ""
		if d.Observed {
			note = "\t(only observed)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s%s\n", d.Owner, d.Limit, d.Amount, d.Capacity, note)
	}
	if e.NeverPasses != "" {
		fmt.Fprintf(w, "\nIt can never pass:\t%s\n", e.NeverPasses)
	}
	return w.Flush()
}
