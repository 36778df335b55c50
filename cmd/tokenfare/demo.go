package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/tokenfare/tokenfare/cmd/tokenfare/simulated"
	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

const (
	demoModel = "gpt-4o-mini"
	demoDrain = time.Second // the viewer does not want to wait for a story to end

	// What bob may spend, the output limit of the call he makes and the wait his second call is told belong together: a call
	// reserves 202 tokens (12 of prompt) of 300 and uses them all in just under 4 seconds, in which 37 come back. The 67 that
	// the next call is then short of take 6.7 seconds more; openai-go, too, has the patience for that (8 seconds).
	demoMaxOutput = 190
	demoWait      = 7
)

// demoKeys are the demo's callers. Their secrets are fixed so that what was pasted once works in the next run, too; they open
// nothing but a simulation.
var demoKeys = [...]demoKey{
	{Name: "alice", Secret: "sk-demo-alice", Limits: []string{"200k tokens per minute", "$10 each month"}},
	{Name: "bob", Secret: "sk-demo-bob", Limits: []string{"600 tokens per minute, burst 300"}},
}

type demoKey struct {
	Name, Secret string
	Limits       []string // as a configuration would say them
}

const demoHelp = `Try it: the proxy with two keys in front of a simulated OpenAI, in one process. It prints what to paste to
stream an answer, to call it from Python and Node, and to run into a budget.

  tokenfare demo
      On 127.0.0.1:8080, or another port if that one is taken.

  tokenfare demo -listen 127.0.0.1:9000
      On that one.

No account, no network, no files. Ctrl-C ends it.
`

// runDemo is the demo command. It runs until ctx ends or a signal comes, and returns the exit code.
func runDemo(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	listen := flags.String("listen", "", "")
	flags.Usage = func() { fmt.Fprint(flags.Output(), demoHelp) }
	if code, ok := parseFlags(flags, args, stdout); !ok {
		return code
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "tokenfare demo: unexpected %q; an address is named by -listen\n", flags.Arg(0))
		return 2
	}
	if err := demo(ctx, *listen, stdout); err != nil {
		fmt.Fprintln(stderr, "tokenfare demo:", err)
		return 1
	}
	return 0
}

// demo runs everything a deployment has, and the upstream as well, in this process. An empty listen means the usual port, or
// a free one.
func demo(ctx context.Context, listen string, stdout io.Writer) error {
	upstream, err := net.Listen("tcp", freePort)
	if err != nil {
		return fmt.Errorf("listen for the simulated upstream: %w", err)
	}
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		return fmt.Errorf("read the built-in price list: %w", err)
	}
	stop := serveSimulated(upstream, catalog) //nolint:contextcheck // what it counts is short
	defer stop()

	config := defaultConfig()
	config.Listen, config.Admin.Listen = listen, freeOr(config.Admin.Listen)
	if listen == "" {
		config.Listen = freeOr(defaultConfig().Listen)
	}
	config.Timeouts.Drain = demoDrain
	spec, err := demoSpec("http://" + upstream.Addr().String() + "/v1")
	if err != nil {
		return err
	}
	page := newBufferedWriter(stdout) // a terminal that is stopped (Ctrl-S) must not stop calls
	defer page.Close()
	app, err := newApp(ctx, config, spec, slog.New(newActivity(page)))
	if err != nil {
		return err
	}
	app.ready = func(proxy, admin string) {
		guide := demoGuide{
			BaseURL: "http://" + dialable(proxy) + "/v1", MetricsURL: "http://" + dialable(admin) + "/metrics",
			Model: demoModel, Keys: demoKeys[:], MaxOutput: demoMaxOutput, Wait: demoWait,
		}
		guide.write(page, isTerminal(stdout)) //nolint:errcheck // without an output there is nobody to guide
	}
	return app.run(ctx)
}

// demoSpec is the configuration a file would hold: two keys, and one upstream for every model.
func demoSpec(upstreamURL string) (proxy.Spec, error) {
	spec := proxy.Spec{
		Upstreams: []proxy.UpstreamSpec{{Name: "simulated", URL: upstreamURL, Key: "sk-simulated"}},
		Models:    []proxy.ModelSpec{{Pattern: "*", Upstream: "simulated"}},
		Zone:      time.Local, // "each month" begins where the viewer's month does
	}
	for _, k := range demoKeys {
		key := proxy.KeySpec{Name: k.Name, Hashes: [][32]byte{sha256.Sum256([]byte(k.Secret))}}
		for _, sentence := range k.Limits {
			l, err := limit.Parse(sentence, spec.Zone)
			if err != nil {
				return proxy.Spec{}, fmt.Errorf("key %s: %w", k.Name, err)
			}
			key.Limits = append(key.Limits, l)
		}
		spec.Keys = append(spec.Keys, key)
	}
	return spec, nil
}

// serveSimulated serves the simulated upstream on l until the returned function is called.
func serveSimulated(l net.Listener, c *cost.Catalog) (stop func()) {
	estimator := cost.NewEstimator()
	count := func(model, text string) int64 { return estimator.Count(c.Model(model), text) }
	server := &http.Server{Handler: simulated.New(simulated.Options{Count: count}), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // ends with Close; should it end before, calls fail and the proxy says why
	}()
	return func() {
		_ = server.Close() // answers still under way end with it
		<-done
	}
}

// freePort makes the system choose a port.
const freePort = "127.0.0.1:0"

// freeOr returns the usual address if nobody listens there, and freePort otherwise.
func freeOr(usual string) string {
	l, err := net.Listen("tcp", usual)
	if err != nil {
		return freePort
	}
	l.Close()
	return usual
}
