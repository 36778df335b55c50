package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// adminClient asks the admin listener of a running proxy.
type adminClient struct {
	base  string // http://127.0.0.1:9090
	token string
}

// newAdminClient asks where the configuration says, or at another address if there is one.
func newAdminClient(c *Config, address string) adminClient {
	if address == "" {
		address = "http://" + dialable(c.Admin.Listen)
	}
	return adminClient{base: strings.TrimRight(address, "/"), token: c.Admin.Token}
}

// Bounds of asking.
const (
	adminPatience = 30 * time.Second // more than a ticket of the ledger waits
	mostAdmin     = 64 << 20         // bytes of an answer
)

var (
	// errNoProxy says that nothing listens there.
	errNoProxy = errors.New("no proxy answers")
	// errRefused says that the proxy has understood, and will not.
	errRefused = errors.New("the proxy refuses")
)

// askError is why a proxy could not be asked, whatever else is well.
type askError struct{ error }

// Unwrap returns the cause.
func (e askError) Unwrap() error { return e.error }

// ask sends in as JSON, if there is any, and reads the answer into out. An error matches errNoProxy if nothing was sent.
func (a adminClient) ask(ctx context.Context, method, path string, in, out any) error {
	if err := a.exchange(ctx, method, path, in, out); err != nil {
		return askError{err}
	}
	return nil
}

func (a adminClient) exchange(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, adminPatience)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, a.base+path, body)
	if err != nil {
		return fmt.Errorf("ask the proxy: %w", err)
	}
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
			return fmt.Errorf("%w at %s", errNoProxy, a.base)
		}
		return fmt.Errorf("ask the proxy at %s: %w", a.base, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAdmin))
	if err != nil {
		return fmt.Errorf("ask the proxy at %s: %w", a.base, err)
	}
	if resp.StatusCode != http.StatusOK {
		return a.refusal(resp, path, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("what answers at %s is no proxy of this version: %w", a.base, err)
	}
	return nil
}

// refusal says why there is no answer.
func (a adminClient) refusal(resp *http.Response, path string, text []byte) error {
	var said adminError
	switch {
	case json.Unmarshal(text, &said) == nil && said.Error.Message != "":
		return fmt.Errorf("%w: %s", errRefused, said.Error.Message)
	case resp.StatusCode == http.StatusUnauthorized && a.token == "":
		return fmt.Errorf("%w: the one at %s asks for admin.token, and the configuration has none", errRefused, a.base)
	case resp.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: admin.token is not that of the one at %s; it was started with another", errRefused, a.base)
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("what answers at %s is no proxy of this version: it knows no %s", a.base, path)
	default:
		return fmt.Errorf("%w: the one at %s answered %s", errRefused, a.base, resp.Status)
	}
}
