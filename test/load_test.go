package test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// A reverse proxy that hands the incoming body to its transport cuts about one stream in a thousand, and only under
// load. Every stream here is compared with what the upstream sent, to the byte.
func TestStreamsArriveWholeUnderLoad(t *testing.T) {
	streams, workers := 3000, 64
	switch {
	case *long:
		streams = 60_000
	case harness.Race:
		streams = 1000
	}
	for _, c := range []struct {
		name    string
		members string
		chunked bool // the client sends its body without a length
	}{
		{"usage asked", `"stream": true, "stream_options": {"include_usage": true}`, false},
		{"usage withheld", `"stream": true`, true},
		{"plain", `"stream": false`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			up := fakeopenai.New(t)
			up.Always(model, fakeopenai.Answer{Text: words(12)})
			p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1m tokens in any second", "2m requests in any day", "$1000000 each month"}})

			type result struct {
				user string
				body string
			}
			results := make([]result, streams)
			var next atomic.Int64
			var wait sync.WaitGroup
			for range workers {
				wait.Go(func() {
					for {
						i := int(next.Add(1)) - 1
						if i >= streams {
							return
						}
						user := fmt.Sprintf("u%06d", i)
						filler := strings.Repeat("x ", 50+i%13*200) // bodies from 300 bytes to 5 kB
						body := ask(c.members, `"max_tokens": 64`, `"user": "`+user+`"`, `"metadata": {"filler": "`+filler+`"}`)
						request := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", harness.Alice, body)
						if c.chunked {
							request.Body, request.ContentLength, request.GetBody = io.NopCloser(strings.NewReader(body)), -1, nil
						}
						resp, err := p.HTTP.Do(request)
						if err != nil {
							t.Error(err)
							return
						}
						got := harness.Read(resp)
						if got.Status != http.StatusOK || got.Err != nil {
							t.Errorf("%s: status %d, read error %v: %.200s", user, got.Status, got.Err, got.Body)
						}
						results[i] = result{user, got.Body}
					}
				})
			}
			wait.Wait()
			if t.Failed() {
				return
			}
			sent := map[string]string{}
			for _, call := range up.Calls() {
				sent[call.User] = call.Sent()
			}
			wrong := 0
			for _, r := range results {
				want, _ := withhold(sent[r.user], c.name == "usage withheld")
				if r.body != want || want == "" {
					if wrong++; wrong <= 3 {
						t.Errorf("%s: got %d bytes, the upstream sent %d:\n%s", r.user, len(r.body), len(want), r.body)
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d answers differ", wrong, streams)
			}
			p.WantIdle(t)
		})
	}
}
