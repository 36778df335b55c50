package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const healthHelp = `Ask a running proxy whether it is well. Exit code 0: it is; 1: it is not, or it cannot be reached.

  tokenfare health -config config.yaml                     asks the admin listener that the file names
  tokenfare health -url http://127.0.0.1:9090/readyz       asks whether it takes new calls

Of the file only admin.listen is read: mistakes elsewhere in it say nothing about the proxy, which keeps running on what it
read before. Made for container health checks: HEALTHCHECK CMD ["/tokenfare", "health"].

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
	var trouble error
	if *address == "" {
		var listen string
		listen, trouble = adminAddress(*path)
		*address = "http://" + dialable(listen) + "/healthz"
	}
	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	defer cancel()
	if err := probe(ctx, *address); err != nil {
		fmt.Fprintf(stderr, "tokenfare health: %v\n", err)
		if trouble != nil {
			fmt.Fprintf(stderr, "tokenfare health: asked the default address, because %v\n", trouble)
		}
		return 1
	}
	fmt.Fprintln(stdout, "ok")
	return 0
}

// adminAddress reads admin.listen, and that alone, from the file at path. Where it cannot be told, it returns the default and
// why: whether the proxy is well must not hang on a file that the proxy itself would refuse and do without.
func adminAddress(path string) (address string, trouble error) {
	standard := defaultConfig().Admin.Listen
	if path == "" {
		return standard, nil
	}
	text, err := readBounded(path, maxSource)
	if err != nil {
		return standard, fmt.Errorf("%s cannot be read: %w", path, reason(err))
	}
	written, err := adminListen(text)
	if err != nil || written == "" {
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return standard, err
	}
	listen, unset := (&decoder{out: &problems{}}).expand(written)
	if unset != "" {
		return standard, fmt.Errorf("%s: admin.listen: the environment variable %s is not set", path, unset)
	}
	if _, _, err := net.SplitHostPort(listen); err != nil {
		return standard, fmt.Errorf("%s: admin.listen is not an address", path)
	}
	return listen, nil
}

// adminListen finds the scalar in a text. A text that is not YAML may still have an admin: block that is.
func adminListen(text []byte) (string, error) {
	var out problems
	s := &source{}
	if s.parse(text, &out); s.root == nil && len(out.list) > 0 {
		s.parse([]byte(block(s.lines, "admin")), &problems{})
		if s.root == nil {
			return "", errors.New("the file is not YAML")
		}
	}
	admin := child(s.root, "admin")
	if admin == nil {
		return "", nil
	}
	listen := child(deref(admin), "listen")
	if listen == nil {
		return "", nil
	}
	return deref(listen).Value, nil
}

// block is a member of the top with the lines that belong to it.
func block(lines []string, name string) string {
	for i, line := range lines {
		if !strings.HasPrefix(line, name+":") {
			continue
		}
		end := i + 1
		for end < len(lines) && (lines[end] == "" || strings.ContainsAny(lines[end][:1], " \t#")) {
			end++
		}
		return strings.Join(lines[i:end], "\n")
	}
	return ""
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
