package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

const estimateHelp = `Say what a request would be charged, and why: tokens by part, the output bound, the budgets it draws on.
Nothing is sent anywhere.

  tokenfare estimate request.json                              counts and prices, without budgets
  tokenfare estimate request.json -config config.yaml -key alice
  tokenfare estimate -                                          reads the request from standard input
  tokenfare estimate request.json -endpoint responses
  tokenfare estimate -endpoint audio/transcriptions -form model=whisper-1 -form file=@talk.mp3

request.json is the body of a POST to the endpoint. Endpoints that take forms get the fields of one, as with curl -F.

Flags:
`

func runEstimate(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("estimate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("config", "", "configuration `FILE` with the budgets")
	key := flags.String("key", "", "`NAME` of the key whose budgets to draw on; may be left out if there is only one")
	endpoint := flags.String("endpoint", "chat/completions", "`PATH` that the request is for: "+endpointNames())
	var form formFields
	flags.Var(&form, "form", "`NAME=VALUE` of a form's field, or NAME=@FILE; may be given more than once")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), estimateHelp)
		flags.PrintDefaults()
	}
	files, code, proceed := interspersed(flags, args, stdout)
	if !proceed {
		return code
	}
	to, err := endpointNamed(*endpoint)
	switch {
	case err != nil:
	case to.TakesForm() && (len(files) != 0 || len(form) == 0):
		err = fmt.Errorf("%s takes a form: give its fields as -form NAME=VALUE and no file", to)
	case !to.TakesForm() && len(form) != 0:
		err = fmt.Errorf("%s takes no form: name one file with a request", to)
	case !to.TakesForm() && len(files) != 1:
		err = errors.New("name one file with a request, or - for standard input")
	}
	if err != nil {
		fmt.Fprintf(stderr, "tokenfare estimate: %v\n", err)
		return 2
	}
	request := asked{endpoint: to, contentType: "application/json"}
	if to.TakesForm() {
		request.body, request.contentType, err = form.encode()
	} else {
		request.body, err = readArgument(files[0])
	}
	if err == nil {
		err = estimate(*path, *key, request, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "tokenfare estimate: %v\n", err)
		return 1
	}
	return 0
}

// asked is a request to be estimated.
type asked struct {
	endpoint    wire.Endpoint
	contentType string
	body        []byte
}

// endpointNamed finds an endpoint by its path, with or without /v1/ before it; chat and responses are enough.
func endpointNamed(name string) (wire.Endpoint, error) {
	short := strings.Trim(strings.TrimPrefix(strings.Trim(name, "/"), "v1/"), "/")
	if short == "chat" {
		return wire.Chat, nil
	}
	for _, e := range wire.Endpoints() {
		if string(e) == "/v1/"+short {
			return e, nil
		}
	}
	return "", fmt.Errorf("there is no endpoint %q: use one of %s", name, endpointNames())
}

func endpointNames() string {
	var names []string
	for _, e := range wire.Endpoints() {
		names = append(names, strings.TrimPrefix(string(e), "/v1/"))
	}
	return strings.Join(names, ", ")
}

func readArgument(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

func estimate(path, key string, request asked, w io.Writer) error {
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
		if len(spec.Keys) == 0 {
			return fmt.Errorf("there are no keys in %s: add one with `tokenfare keys new`, or leave -config out", path)
		}
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
	e, err := server.Explain(context.Background(), key, request.endpoint, request.contentType, request.body)
	if err != nil {
		return err
	}
	return printEstimate(w, e)
}
