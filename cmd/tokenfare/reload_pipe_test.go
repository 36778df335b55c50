//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe in the place of the configuration is refused, and nothing waits for it: a file that takes its place is read.
func TestAPipeIsNoConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	of := func(key string) []byte {
		return fmt.Appendf(nil, "ledger: none\nupstreams: { up: { url: \"http://127.0.0.1:1/v1\" } }\nkeys: { a: { hash: \"sha256:%x\", limits: [5 requests in total] } }\n", sha256.Sum256([]byte(key)))
	}
	if err := os.WriteFile(path, of("tf-alice"), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := loadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := compileTest(t, config)
	var log bytes.Buffer
	app, err := newApp(t.Context(), config, spec, slog.New(slog.NewJSONHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	r := newReloader(path, config, app)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if contentOf([]string{path}) == r.content {
		t.Error("that the file has gone is not seen")
	}
	r.reload(t.Context(), "test")
	if !strings.Contains(log.String(), "it is a pipe") || askAs(app, "tf-alice") != http.StatusBadRequest { // and not 401
		t.Errorf("alice is answered %d: %s", askAs(app, "tf-alice"), log.String())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, of("tf-bob"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.reload(t.Context(), "test")
	if alice, bob := askAs(app, "tf-alice"), askAs(app, "tf-bob"); alice != http.StatusUnauthorized || bob != http.StatusBadRequest {
		t.Errorf("alice is answered %d, bob %d: %s", alice, bob, log.String())
	}
}
