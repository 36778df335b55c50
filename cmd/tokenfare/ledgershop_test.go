package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// shop is a proxy with a ledger, in this process, and one caller.
type shop struct {
	t      *testing.T
	config string // path of the configuration
	app    *app
	admin  *httptest.Server

	status atomic.Int64 // of the upstream's answers; 0 breaks the connection off
	absurd atomic.Bool  // whether they report what cannot be
}

const (
	shopToken = "0123456789abcdef"
	shopKey   = "tf-a-key-of-carol"
)

func openShop(t *testing.T) *shop {
	t.Helper()
	return openShopAt(t, "")
}

// openShopAt opens one with a ledger somewhere else than beside its configuration.
func openShopAt(t *testing.T, ledgerURL string) *shop {
	t.Helper()
	s := &shop{t: t, config: filepath.Join(t.TempDir(), "config.yaml")}
	s.status.Store(http.StatusOK)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		status := s.status.Load()
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(int(status))
		if s.absurd.Load() {
			io.WriteString(w, `{"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":1099511627776,"total_tokens":1099511627784}}`)
			return
		}
		io.WriteString(w, `{"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":1,"total_tokens":9}}`)
	}))
	t.Cleanup(up.Close)
	text := `
listen: "127.0.0.1:0"
admin: { listen: "127.0.0.1:0", token: ` + shopToken + ` }
upstreams: { up: { url: "` + up.URL + `/v1" } }
keys: { carol: { hash: "` + hashOf(shopKey) + `", limits: ["1000000 tokens in total", "$100 each month", "1000 requests each day"] } }
`
	if ledgerURL != "" {
		text += "ledger: { url: \"" + ledgerURL + "\" }\n"
	}
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.open()
	t.Cleanup(s.close)
	return s
}

// open starts the proxy; nothing listens but its admin side.
func (s *shop) open() {
	s.t.Helper()
	config, err := loadConfig(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	spec, _ := compileTest(s.t, config)
	if s.app, err = newApp(s.t.Context(), config, spec, slog.New(slog.DiscardHandler)); err != nil {
		s.t.Fatal(err)
	}
	s.app.books.run(s.t.Context())
	s.admin = httptest.NewServer(s.app.adminHandler())
}

func (s *shop) close() {
	if s.app == nil {
		return
	}
	s.admin.Close()
	if err := s.app.books.close(); err != nil {
		s.t.Error(err)
	}
	s.app = nil
}

// call makes a call that reserves at most 50 tokens of output, and returns its id once its end is in the ledger.
func (s *shop) call() ledger.ID {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"gpt-4o-mini","max_tokens":50,"messages":[{"role":"user","content":"Hi"}]}`))
	r.Header.Set("Authorization", "Bearer "+shopKey)
	s.app.server.ServeHTTP(httptest.NewRecorder(), r)
	if err := s.app.books.writer.Correct(nil).Stored(s.t.Context()); err != nil { // behind what was queued before
		s.t.Fatal(err)
	}
	calls := s.calls()
	return calls[len(calls)-1].Begin.Exchange
}

// calls are all that the ledger has.
func (s *shop) calls() (list []ledger.Exchange) {
	s.t.Helper()
	s.read(func(snapshot ledger.Snapshot) error {
		return snapshot.Began(s.t.Context(), dawnOfTests, duskOfTests, func(x *ledger.Exchange) error {
			list = append(list, *x)
			return nil
		})
	})
	return list
}

// corrections are those that the ledger has.
func (s *shop) corrections() (list []ledger.Correction) {
	s.t.Helper()
	s.read(func(snapshot ledger.Snapshot) error {
		return snapshot.Corrections(s.t.Context(), dawnOfTests, duskOfTests, func(c *ledger.Correction) error {
			list = append(list, *c)
			return nil
		})
	})
	return list
}

func (s *shop) read(f func(ledger.Snapshot) error) {
	s.t.Helper()
	snapshot, err := s.app.books.store.Snapshot(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	defer snapshot.Close()
	if err := f(snapshot); err != nil {
		s.t.Fatal(err)
	}
}

// used is what the budgets have counted, by their units.
func (s *shop) used() map[string]int64 {
	s.t.Helper()
	states, err := s.app.server.Budgets(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]int64{}
	for _, b := range states {
		out[b.Unit] = b.State.Used + b.State.Held
	}
	return out
}

// post asks the admin listener for corrections.
func (s *shop) post(token, body string) (status int, text string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.admin.URL+"/ledger/corrections", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.admin.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// command runs a subcommand of `tokenfare ledger` against it.
func (s *shop) command(name string, args ...string) (code int, said string) {
	s.t.Helper()
	url := "http://127.0.0.1:1"
	if s.app != nil {
		url = s.admin.URL
	}
	var out bytes.Buffer
	code = dispatch(s.t.Context(), append([]string{"ledger", name, "-config", s.config, "-admin", url}, args...), &out, &out)
	return code, out.String()
}

// balances wants books that balance and budgets that are those of the ledger.
func (s *shop) balances() {
	s.t.Helper()
	code, said := s.command("verify", "-json")
	var found verifiedJSON
	if err := json.Unmarshal([]byte(said), &found); err != nil || code != 0 || !found.Balances || len(found.Live.Budgets) != 3 {
		s.t.Fatalf("exit code %d, %v: %s", code, err, said)
	}
	for _, b := range found.Live.Budgets {
		if b.State != liveEqual {
			s.t.Errorf("%+v", b)
		}
	}
}
