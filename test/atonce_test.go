package test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// Slow streams hold the places there are; who comes then is told so, and gets a place as soon as a stream has ended or its
// client has left.
func TestStreamsAtOnce(t *testing.T) {
	up := fakeopenai.New(t)
	end := make(chan struct{})
	up.Always(model, fakeopenai.Answer{Text: words(20), Pause: end, PauseAt: 5})
	p := harness.Start(t, harness.Config{
		Upstream: up.URL, Limits: []string{"3 at once"}, BobLimits: []string{"1m tokens in total"},
		More: "groups:\n  team: { keys: [alice, bob], limits: [\"4 requests at once\"] }\n",
	})
	body := ask(`"stream": true`, `"max_tokens": 50`)
	open := func(key string) (*http.Response, context.CancelFunc) {
		t.Helper()
		ctx, leave := context.WithCancel(t.Context())
		resp := p.Open(ctx, t, key, body)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d while there is a place", resp.StatusCode)
		}
		readEvents(t, resp.Body, 5)
		return resp, leave
	}
	full := func(key, says string) {
		t.Helper()
		refused := p.Chat(t, key, body)
		problem := refused.WantError(t, http.StatusTooManyRequests)
		if problem.CodeText() != "rate_limit_exceeded" || problem.Type != "requests" || !strings.Contains(problem.Message, says) || !strings.Contains(problem.Message, "must end first") {
			t.Errorf("%s %s: %s", problem.Type, problem.CodeText(), problem.Message)
		}
		if wait := waitOf(t, refused).Seconds(); wait < 1 || wait > 15 || refused.Header.Get("X-Should-Retry") == "false" {
			t.Errorf("Retry-After %v s, x-should-retry %q, want a guess of 1 to 15 s", wait, refused.Header.Get("X-Should-Retry"))
		}
	}
	var streams []*http.Response
	var leave context.CancelFunc
	for range 3 {
		var resp *http.Response
		resp, leave = open(harness.Alice)
		streams = append(streams, resp)
	}
	full(harness.Alice, `key alice, budget "3 at once"`)
	fourth, _ := open(harness.Bob)
	full(harness.Bob, `group team, budget "4 requests at once"`)
	up.WantCalls(t, 4)
	wantOpen(t, p, map[string]int{"alice": 3, "bob": 1})

	leave() // alice's third
	harness.Eventually(t, "the place of a client that left is free", func() bool {
		left, _ := p.Metrics(t).Sum("rate_limit_tokens", "budget", "3 at once")
		return left == 1
	})
	third, _ := open(harness.Alice)
	full(harness.Alice, `key alice, budget "3 at once"`)

	close(end)
	for _, resp := range append(streams[:2], third, fourth) {
		if rest := harness.Read(resp); rest.Err != nil || !strings.HasSuffix(rest.Body, "data: [DONE]\n\n") {
			t.Errorf("a stream was cut: %v %q", rest.Err, rest.Body)
		}
		p.Chat(t, harness.Alice, body).WantOK(t) // no sooner ended than free
	}
	p.WantIdle(t)
	wantOpen(t, p, map[string]int{})
}

// wantOpen asks the admin listener which calls run.
func wantOpen(t *testing.T, p *harness.Program, want map[string]int) {
	t.Helper()
	resp, err := p.HTTP.Get(p.Admin + "/open")
	if err != nil {
		t.Fatal(err)
	}
	listed := harness.Read(resp)
	var list struct{ Open []struct{ ID, Key string } }
	if err := json.Unmarshal([]byte(listed.Body), &list); err != nil || listed.Status != http.StatusOK {
		t.Fatalf("GET /open: %d, %v: %s", listed.Status, err, listed.Body)
	}
	got, ids := map[string]int{}, map[string]bool{}
	for _, call := range list.Open {
		got[call.Key]++
		ids[call.ID] = true
	}
	if len(got) != len(want) || got["alice"] != want["alice"] || got["bob"] != want["bob"] || len(ids) != len(list.Open) {
		t.Errorf("GET /open lists calls of %v, want %v: %s", got, want, listed.Body)
	}
	for _, secret := range []string{harness.Alice, harness.Bob, harness.UpstreamKey} {
		if strings.Contains(listed.Body, secret) {
			t.Errorf("GET /open shows a key: %s", listed.Body)
		}
	}
}

// However many calls arrive at once, no more than the limit are ever under way at the upstream; and however they end, all places
// are free afterwards.
func TestAStormNeverExceedsTheCallsAtOnce(t *testing.T) {
	const most, callers, each = 7, 60, 5
	up := fakeopenai.New(t)
	pace := make(chan struct{}) // answers wait for each other, so that places are taken
	up.Always(model, fakeopenai.Answer{Text: words(30), Pause: pace, PauseAt: fakeopenai.BeforeHeaders})
	go func() {
		for tick := time.NewTicker(2 * time.Millisecond); ; {
			select {
			case <-tick.C:
			case <-t.Context().Done():
				return
			}
			if up.PeakCalls() < most { // all places are to be taken once
				continue
			}
			select {
			case pace <- struct{}{}:
			default:
			}
		}
	}()
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{itoa(most) + " at once"}})
	bodies := []string{ask(`"stream": true`, `"max_tokens": 50`), ask(`"max_tokens": 50`)}
	storm := func(leave bool) {
		t.Helper()
		var passed, refused atomic.Int64
		var wait sync.WaitGroup
		for caller := range callers {
			wait.Go(func() {
				for call := range each {
					ctx, cancel := context.WithCancel(t.Context())
					request := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", harness.Alice, bodies[(caller+call)%2])
					resp, err := p.HTTP.Do(request.WithContext(ctx))
					if err != nil {
						cancel()
						t.Error(err)
						return
					}
					if leave && caller%2 == 0 { // in the middle
						cancel()
					}
					if answer := harness.Read(resp); answer.Err != nil && !leave {
						t.Error(answer.Err)
					}
					cancel()
					switch resp.StatusCode {
					case http.StatusOK:
						passed.Add(1)
					case http.StatusTooManyRequests:
						refused.Add(1)
					default:
						t.Errorf("status %d", resp.StatusCode)
					}
				}
			})
		}
		wait.Wait()
		p.WantIdle(t)
		if passed.Load() == 0 || refused.Load() == 0 {
			t.Errorf("%d passed, %d were refused, want some of both", passed.Load(), refused.Load())
		}
		if left := p.Remaining(t, "alice"); left != most {
			t.Errorf("%d places are free in the end, want all %d", left, most)
		}
	}
	storm(false)
	storm(true)
	if peak := up.PeakCalls(); peak != most {
		t.Errorf("%d calls were under way at the upstream at the same time, want all of %d places taken and no more", peak, most)
	}
	for range 2 * most {
		p.Chat(t, harness.Alice, bodies[0]).WantOK(t)
	}
}
