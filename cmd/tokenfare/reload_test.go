package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/notify"
)

// TestARefusedReloadChangesNothing: neither who may call nor who is told, also where the file is right in itself and only does
// not fit the listener that the program has opened.
func TestARefusedReloadChangesNothing(t *testing.T) {
	const up = "ledger: none\nupstreams: { up: { url: \"http://127.0.0.1:1/v1\" } }\n"
	const elsewhere = "notify: { url: \"http://elsewhere.example/hook\" }\n"
	for name, fresh := range map[string]string{
		"a mistake":                      elsewhere + up + "lisen: nowhere\n",
		"no keys, and the port is open":  elsewhere + up + "listen: 127.0.0.1:8080\n",
		"a group of keys that is absent": elsewhere + up + "groups: { all: { keys: [bob], limits: [5 requests in total] } }\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "config.yaml")
				write := func(text string) {
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				write(up + "listen: \":8080\"\nnotify: { url: \"http://here.example/hook\" }\n" +
					fmt.Sprintf("keys: { alice: { hash: \"sha256:%x\", limits: [5 requests in total] } }\n", sha256.Sum256([]byte("tf-alice"))))
				config, err := loadConfig(path)
				if err != nil {
					t.Fatal(err)
				}
				spec, _ := compileTest(t, config)
				app, err := newApp(t.Context(), config, spec, slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				told := make(hosts, 1)
				if app.notifier, err = notify.New(notify.Options{Quotas: usedUp{}, Transport: told}); err != nil {
					t.Fatal(err)
				}
				app.notifier.Set(config.notices())
				write(fresh)
				newReloader(path, config, app).reload(t.Context(), "test")
				if status := askAs(app, "tf-alice"); status != http.StatusBadRequest { // and not 401
					t.Errorf("alice is answered %d", status)
				}
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				go app.notifier.Run(ctx) // ends without an error
				if host := <-told; host != "here.example" {
					t.Errorf("%s is told", host)
				}
				stop()
			})
		})
	}
}

// askAs sends what is no call with a key, and returns the status of the answer.
func askAs(a *app, key string) int {
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader("{"))
	r.Header.Set("Authorization", "Bearer "+key)
	rec := httptest.NewRecorder()
	a.server.ServeHTTP(rec, r)
	return rec.Code
}

// hosts are those of the webhooks that are told.
type hosts chan string

// RoundTrip takes a message.
func (h hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	h <- r.URL.Host
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("ok"))}, nil
}

// usedUp has one quota, of which nothing is left.
type usedUp struct{}

// Quotas returns it.
func (usedUp) Quotas(context.Context, int64) ([]proxy.Quota, error) {
	return []proxy.Quota{{Name: "key alice: requests in total", Owner: "key alice", Percent: 100}}, nil
}
