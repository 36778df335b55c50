package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const healthHelp = `Ask a running proxy whether it is well. Exit code 0: it is; 1: it is not, or it cannot be reached.

  tokenfare health -config config.yaml                     asks the admin listener that the file names
  tokenfare health -url http://127.0.0.1:9090/readyz       asks whether it takes new calls

Made for container health checks: HEALTHCHECK CMD ["/tokenfare", "health"].

Flags:
`

func runHealth(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("health", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("config", "", "configuration `FILE` that the proxy runs with; without one, the default admin address")
	address := flags.String("url", "", "ask this `URL` instead")
	timeout := flags.Duration("timeout", 3*time.Second, "how long to wait for the answer")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), healthHelp)
		flags.PrintDefaults()
	}
	if code, ok := parseFlags(flags, args, stdout); !ok {
		return code
	}
	if *address == "" {
		config := defaultConfig()
		if *path != "" {
			var err error
			if config, err = loadConfig(*path); err != nil {
				fmt.Fprintln(stderr, err)
				return 1
			}
		}
		*address = "http://" + dialable(config.Admin.Listen) + "/healthz"
	}
	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	defer cancel()
	if err := probe(ctx, *address); err != nil {
		fmt.Fprintf(stderr, "tokenfare health: %v\n", err)
		return 1
	}
	fmt.Fprintln(stdout, "ok")
	return 0
}

// probe asks url and wants 200.
func probe(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, resp.Status)
	}
	return nil
}

// dialable turns a listening address into one to connect to: no host means every address of this machine.
func dialable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
