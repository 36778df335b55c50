package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHealthAsksTheAdminListener(t *testing.T) {
	healthy := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(healthy)
	}))
	file := filepath.Join(t.TempDir(), "config.yaml")
	content := "upstreams: { up: { url: 'http://127.0.0.1:1/v1' } }\nadmin: { listen: '" + strings.TrimPrefix(s.URL, "http://") + "' }\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func() (int, string) {
		var stderr bytes.Buffer
		code := dispatch(t.Context(), []string{"health", "-config", file}, io.Discard, &stderr)
		return code, stderr.String()
	}
	if code, said := ask(); code != 0 {
		t.Errorf("healthy: exit code %d: %s", code, said)
	}
	healthy = http.StatusServiceUnavailable
	if code, _ := ask(); code != 1 {
		t.Errorf("ill: exit code %d", code)
	}
	s.Close()
	if code, _ := ask(); code != 1 {
		t.Errorf("gone: exit code %d", code)
	}
}

// TestABadFileOnDiskDoesNotMakeAHealthyProxyIll: the proxy runs on what it read before, and so must the probe.
func TestABadFileOnDiskDoesNotMakeAHealthyProxyIll(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	defer s.Close()
	address := strings.TrimPrefix(s.URL, "http://")
	_, port, _ := strings.Cut(address, ":")
	t.Setenv("TOKENFARE_TEST_ADMIN", address)
	for name, text := range map[string]string{
		"unknown member":            "lisen: x\nadmin: { listen: '" + address + "', tokn: x }\n",
		"variable that is not set":  "upstreams: { up: { url: 'http://x/v1', key: '${TOKENFARE_TEST_UNSET}' } }\nadmin: { listen: '" + address + "' }\n",
		"secret that is not set":    "admin: { listen: '" + address + "', token: '${TOKENFARE_TEST_UNSET}' }\n",
		"variable that is set":      "admin:\n  listen: ${TOKENFARE_TEST_ADMIN}\n",
		"every address":             "admin: { listen: ':" + port + "' }\n",
		"no YAML further down":      "admin: { listen: '" + address + "' }\nkeys:\n\talice: {}\n",
		"no YAML further up":        "keys: [\nupstreams: }\n\nadmin:\n  # here\n\n  listen: \"" + address + "\"\nhelp: x\n",
		"an alias for the listener": "listen: &l '" + address + "'\nadmin: { listen: *l }\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			if code := runHealth([]string{"-config", file}, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
				t.Errorf("exits %d: %s", code, stderr.String())
			}
		})
	}
}

func TestWhereTheAddressCannotBeReadTheDefaultIsAsked(t *testing.T) {
	dir := t.TempDir()
	for text, why := range map[string]string{
		"":                                   "",
		"help: x\n":                          "",
		"admin: { token: x }\n":              "",
		"admin:\n":                           "",
		"- x\n":                              "",
		"admin: { listen: nowhere }\n":       "not an address",
		"admin: { listen: [a, b] }\n":        "",
		"admin: { listen: '${T_F_UNSET}' }":  "T_F_UNSET is not set",
		"keys: [\n":                          "not YAML",
		"admin: [\n":                         "not YAML",
		"admin: { listen: 'sk-12345678' }\n": "not an address",
	} {
		file := filepath.Join(dir, "config.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		address, trouble := adminAddress(file)
		if address != "127.0.0.1:9090" || (trouble == nil) != (why == "") || trouble != nil && !strings.Contains(trouble.Error(), why) {
			t.Errorf("%q: asks %s, because %v", text, address, trouble)
		}
		if trouble != nil && strings.Contains(trouble.Error(), "sk-12345678") {
			t.Errorf("%q: the file's text is shown: %v", text, trouble)
		}
	}
	if address, trouble := adminAddress(filepath.Join(dir, "absent.yaml")); address != "127.0.0.1:9090" || trouble == nil {
		t.Errorf("no file: asks %s, because %v", address, trouble)
	}
}
