package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestOpenListsTheCallsThatRun: who runs, since when, and what is held; to those who know the token, if there is one.
func TestOpenListsTheCallsThatRun(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-release
		io.WriteString(w, `{"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":1,"total_tokens":9}}`)
	}))
	defer up.Close()
	const key = "tf-a-key-of-carol"
	config := parseTest(t, `
admin: { listen: "127.0.0.1:0", token: 0123456789abcdef }
ledger: none
upstreams: { up: { url: "`+up.URL+`/v1" } }
keys: { carol: { hash: "`+hashOf(key)+`", limits: ["1000 tokens each month", "2 at once"] } }
`)
	spec, _ := compileTest(t, config)
	app, err := newApp(t.Context(), config, spec, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	admin := app.adminHandler()
	get := func(token string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/open", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		rec := httptest.NewRecorder()
		admin.ServeHTTP(rec, r)
		return rec
	}
	if rec := get("wrong"); rec.Code != http.StatusUnauthorized {
		t.Errorf("with a wrong token: %d", rec.Code)
	}
	if rec := get("0123456789abcdef"); rec.Code != 200 || strings.Join(strings.Fields(rec.Body.String()), "") != `{"open":[]}` {
		t.Errorf("while nothing runs: %d %s", rec.Code, rec.Body)
	}
	done := make(chan int)
	go func() {
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"gpt-4o-mini","max_tokens":50,"messages":[{"role":"user","content":"Hi"}]}`))
		r.Header.Set("Authorization", "Bearer "+key)
		rec := httptest.NewRecorder()
		app.server.ServeHTTP(rec, r)
		done <- rec.Code
	}()
	<-arrived
	rec := get("0123456789abcdef")
	var list struct {
		Open []struct {
			ID, Key string
			AgeMS   *int64 `json:"age_ms"`
			Holds   []struct {
				Budget string
				Amount int64
			}
		}
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &list); err != nil || len(list.Open) != 1 {
		t.Fatalf("%v: %s", err, rec.Body)
	}
	call := list.Open[0]
	held := map[string]int64{}
	for _, h := range call.Holds {
		held[h.Budget] = h.Amount
	}
	if !strings.HasPrefix(call.ID, "req_") || call.Key != "carol" || call.AgeMS == nil || *call.AgeMS < 0 || len(held) != 2 ||
		held["key carol: tokens each month"] != 58 || held["key carol: requests at once"] != 1 {
		t.Errorf("%s", rec.Body)
	}
	if strings.Contains(rec.Body.String(), key) {
		t.Errorf("the key is shown: %s", rec.Body)
	}
	close(release)
	if code := <-done; code != 200 {
		t.Errorf("the call ended with %d", code)
	}
	if rec := get("0123456789abcdef"); !strings.Contains(rec.Body.String(), `"open": []`) {
		t.Errorf("after the call: %s", rec.Body)
	}
}

// TestWithoutATokenNobodyCorrects: what changes charges is closed where no token is set, and what only shows is open.
func TestWithoutATokenNobodyCorrects(t *testing.T) {
	config := parseTest(t, "ledger: none\nupstreams: { up: { url: \"http://127.0.0.1:1/v1\" } }\n")
	spec, _ := compileTest(t, config)
	app, err := newApp(t.Context(), config, spec, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"POST /ledger/corrections": http.StatusForbidden, "GET /open": http.StatusOK} {
		method, path, _ := strings.Cut(path, " ")
		rec := httptest.NewRecorder()
		app.adminHandler().ServeHTTP(rec, httptest.NewRequest(method, path, strings.NewReader("{}")))
		if rec.Code != want {
			t.Errorf("%s %s: %d %s", method, path, rec.Code, rec.Body)
		}
	}
}
