package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/upstream"
)

const serveHelp = `Run the proxy.

  OPENAI_API_KEY=sk-… tokenfare serve
      Without a configuration: on loopback only, one key is made and printed once, everything is
      observed and nothing is limited. OPENAI_BASE_URL names another upstream.

  tokenfare serve -config config.yaml
      With one. It is read again on SIGHUP and when its content changes; a file with mistakes keeps
      the running configuration and says so. What was consumed survives a reload.

What is spent is recorded in the ledger: usage.db beside the configuration, or in the directory that TOKENFARE_DATA names, or
where the configuration says. Budgets are rebuilt from it at the next start.

SIGTERM and Ctrl-C let running calls end (timeouts.drain), then exit 0. A second signal ends them.

Flags:
`

func runServe(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("config", "", "configuration `FILE`; see config.example.yaml")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), serveHelp)
		flags.PrintDefaults()
	}
	if code, ok := parseFlags(flags, args, stdout); !ok {
		return code
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "tokenfare serve: unexpected %q; a configuration is named by -config\n", flags.Arg(0))
		return 2
	}
	if err := serve(ctx, *path, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// serve builds everything from the configuration at path, or from the environment if path is empty, and runs it until a
// signal or ctx ends it.
func serve(ctx context.Context, path string, stdout, stderr io.Writer) error {
	config, spec, warnings, err := configure(path, stdout)
	if err != nil {
		return err
	}
	logs := newBufferedWriter(stderr)
	defer logs.Close()
	log := slog.New(slog.NewJSONHandler(logs, nil))
	for _, w := range warnings {
		log.Warn("config", "warning", w)
	}
	app, err := prepareApp(config, spec, log)
	if err != nil {
		return err
	}
	if path != "" {
		app.reload = newReloader(path, config, app)
	}
	return app.run(ctx)
}

// configure reads the configuration, or makes the one for a look without any.
func configure(path string, stdout io.Writer) (*Config, proxy.Spec, []string, error) {
	if path == "" {
		return observeOnly(stdout)
	}
	config, err := loadConfig(path)
	if err != nil {
		return nil, proxy.Spec{}, nil, err
	}
	spec, warnings, err := config.compile()
	if err != nil {
		return nil, proxy.Spec{}, nil, err
	}
	return config, spec, warnings, nil
}

// observeOnly is what runs without a configuration: loopback, one key made on the spot, no limits.
func observeOnly(stdout io.Writer) (*Config, proxy.Spec, []string, error) {
	key := os.Getenv("OPENAI_API_KEY")
	if key == "" {
		return nil, proxy.Spec{}, nil, errors.New("tokenfare serve: there is no configuration and no OPENAI_API_KEY.\n" +
			"  To look first, without limits:  OPENAI_API_KEY=sk-… tokenfare serve\n" +
			"  With keys and budgets:          tokenfare serve -config config.yaml   (see config.example.yaml)\n" +
			"  Without any account:            tokenfare demo")
	}
	base := os.Getenv("OPENAI_BASE_URL")
	if base == "" {
		base = "https://api.openai.com/v1"
	}
	if msg, fix := baseURL(base); msg != "" {
		return nil, proxy.Spec{}, nil, errors.New((&secrets{}).mask("tokenfare serve: OPENAI_BASE_URL " + msg + ": " + fix))
	}
	config := defaultConfig()
	secret, err := mintKey()
	if err != nil {
		return nil, proxy.Spec{}, nil, err
	}
	spec := proxy.Spec{
		Keys:      []proxy.KeySpec{{Name: "local", Hashes: [][32]byte{sha256.Sum256([]byte(secret))}}},
		Models:    []proxy.ModelSpec{{Pattern: "*", Upstream: "openai"}},
		Upstreams: []proxy.UpstreamSpec{{Name: "openai", URL: base, Key: key, HeaderTimeout: config.Timeouts.Headers}},
	}
	fmt.Fprintf(stdout, `No configuration: everything is observed, nothing is limited, loopback only.

  base_url  http://%s/v1
  api_key   %s      (shown once; gone when this process ends)
  metrics   http://%s/metrics

Next: tokenfare keys new NAME, and config.example.yaml.
`, config.Listen, secret, config.Admin.Listen)
	return config, spec, nil, nil
}

// newApp wires the parts together. Nothing listens yet.
func newApp(ctx context.Context, config *Config, spec proxy.Spec, log *slog.Logger) (*app, error) {
	a, err := prepareApp(config, spec, log)
	if err == nil {
		err = a.open(ctx)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// prepareApp makes what needs no ledger.
func prepareApp(config *Config, spec proxy.Spec, log *slog.Logger) (*app, error) {
	if err := mayListen(config.Listen, spec); err != nil {
		return nil, err
	}
	catalog, err := config.priceList()
	if err != nil {
		return nil, fmt.Errorf("read the built-in price list: %w", err)
	}
	spec.Files = upstream.NewFiles(connections(openFiles()))
	a := &app{config: config, spec: spec, catalog: catalog, log: log, registry: newRegistry()}
	a.reloads = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tokenfare_config_reloads_total", Help: "Times the configuration was read again, by result: ok or refused.",
	}, []string{"result"})
	a.registry.MustRegister(a.reloads)
	return a, nil
}

// open opens the ledger, rebuilds the budgets from it, and makes the server. An error leaves nothing open; after one that may
// pass it can be called again.
func (a *app) open(ctx context.Context) (err error) {
	a.limiter = limiter.NewMemory()
	a.restorer = proxy.NewRestorer(a.limiter)
	policy, err := proxy.NewPolicy(a.spec, a.limiter, a.catalog)
	if err != nil {
		return err
	}
	if a.books, err = openBooks(ctx, a.config.Ledger, a.log); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.books.close())
			a.books, a.server = nil, nil
		}
	}()
	if err := a.restore(ctx, policy); err != nil {
		return err
	}
	a.outage.over(a.registry)
	estimator := cost.NewEstimator()
	letGarbageGather()
	go warm(estimator, encodings(a.spec.Models, a.catalog))
	a.server, err = proxy.New(proxy.Options{ //nolint:contextcheck // calls are settled though their callers are gone
		Limiter: a.limiter, Estimator: estimator, Ledger: a.books.ledger(), Registry: a.registry, Log: a.log,
		MaxBody: a.config.MaxBody, MaxBuffered: a.config.MaxBuffered,
		BodyTimeout: a.config.Timeouts.RequestBody, StrayTimeout: a.config.Timeouts.RequestHeader, IdleTimeout: a.config.Timeouts.Idle,
		DrawTimeout: a.config.Timeouts.Draw,
	}, policy)
	if err != nil {
		return err
	}
	if a.books != nil {
		a.corrects = &corrector{store: a.books.store, writer: a.books.writer, live: func() (amendment, error) { return a.restorer.Amend() }}
	}
	a.notifier, err = newNotifier(a)
	return err
}

// mayListen refuses to open the proxy to others while nobody needs a key.
func mayListen(address string, spec proxy.Spec) error {
	if len(spec.Keys) > 0 || isLoopback(address) {
		return nil
	}
	return fmt.Errorf("listen: %q can be reached by others, and no keys are configured. Add keys (tokenfare keys new NAME), or listen on 127.0.0.1:8080", address)
}

// parseFlags parses args. It returns false when the command is done already: help was asked for, which is no mistake and goes to
// stdout, or the flags are wrong.
func parseFlags(flags *flag.FlagSet, args []string, stdout io.Writer) (code int, proceed bool) {
	for _, a := range args {
		if a == "-h" || a == "-help" || a == "--help" {
			flags.SetOutput(stdout)
			flags.Usage()
			return 0, false
		}
		if a == "--" {
			break
		}
	}
	if err := flags.Parse(args); err != nil {
		return 2, false
	}
	return 0, true
}
