package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bounds of one message.
const (
	postTime  = 10 * time.Second // for all of it
	lastTime  = 2 * time.Second  // for one that is on its way when the program ends
	mostRead  = 64 << 10         // of the answer, so that the connection can be used again
	mostShown = 60               // of the answer, in bytes, where it is a code
)

// hook posts to webhooks.
type hook struct{ client *http.Client }

func newHook(t http.RoundTripper) hook {
	if t == nil {
		t = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    5 * time.Second,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		}
	}
	return hook{&http.Client{
		Transport: t,
		// The message was meant for this receiver, and what comes after is not what was configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// post sends a text as Slack's webhooks take it. What it returns does not repeat the address, nor what the receiver says,
// which may hold the address.
func (h hook) post(ctx context.Context, url, text string) error {
	body, err := json.Marshal(struct {
		Text string `json:"text"`
	}{text})
	if err != nil {
		return fmt.Errorf("write notice: %w", err)
	}
	// When the program ends, what the receiver may have taken already should still be known to be taken.
	posting, cancel := context.WithTimeout(context.WithoutCancel(ctx), postTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastTime, cancel) })()
	r, err := http.NewRequestWithContext(posting, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the url of the webhook cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "tokenfare")
	resp, err := h.client.Do(r)
	if err != nil {
		return reason(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostRead))
	switch {
	case resp.StatusCode/100 != 2:
		return &refusal{status: resp.StatusCode, code: code(answer, url), after: delay(resp.Header.Get("Retry-After"))}
	case err != nil:
		return reason(err)
	}
	return nil
}

// refusal is an answer other than 2xx.
type refusal struct {
	status int
	code   string // the receiver's own, such as channel_is_archived; may be empty
	after  time.Duration
}

// Error says what the webhook answered, and what to do about it.
func (r *refusal) Error() string {
	text := "the webhook answered " + strconv.Itoa(r.status)
	if r.code != "" {
		text += " " + r.code
	}
	switch {
	case r.status/100 == 3:
		text += ": redirects are not followed, so give the address that it leads to"
	case r.status == http.StatusForbidden, r.status == http.StatusNotFound, r.status == http.StatusGone:
		text += ": perhaps it was removed, or its address is not whole"
	}
	return text
}

// retryAfter is how long the receiver asks to be left alone.
func retryAfter(err error) time.Duration {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.after
	}
	return 0
}

// delay reads the number of seconds in a Retry-After.
func delay(header string) time.Duration {
	seconds, err := strconv.ParseInt(header, 10, 32)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

var codePattern = regexp.MustCompile(`^[a-z]+(?:[_ ][a-z]+)*$`)

// code is an answer that is nothing but a code of a few words, as Slack's are, and no part of the address.
func code(answer []byte, url string) string {
	text := strings.TrimSpace(string(answer))
	if len(text) > mostShown || !codePattern.MatchString(text) || strings.Contains(url, text) {
		return ""
	}
	return text
}

// reason says why nothing was delivered without repeating the address: errors of net/http quote it, and what the receiver sends.
func reason(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return fmt.Errorf("the webhook cannot be reached: %w", number)
	}
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("the program ended before the webhook answered")
	case is[*net.DNSError](err):
		return errors.New("the webhook cannot be reached: its host's name is not known here")
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("the webhook did not answer in time")
	case is[*tls.CertificateVerificationError](err):
		return errors.New("the webhook's certificate is not trusted here")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the webhook closed the connection early")
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return fmt.Errorf("the webhook could not be asked (%T)", err)
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}
