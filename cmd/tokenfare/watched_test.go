package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestARefusedConfigurationIsWatchedInAllItsParts: whichever part is mended next, the running program must notice.
func TestARefusedConfigurationIsWatchedInAllItsParts(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const text = `
listen: nowhere
admin: { token_file: token.txt }
tls: { cert: cert.pem, key: key.pem }
upstreams:
  openai: { url: "https://example.com/v1", key_file: absent.key, ca_file: roots.pem, kye: "${TOKENFARE_TEST_UNSET}" }
include: ["keys.d/*.yaml", more.yaml]
`
	if err := os.WriteFile(at("config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loadConfig(at("config.yaml")); err == nil {
		t.Fatal("the mistakes were not found")
	}
	want := []string{
		at("absent.key"), at("cert.pem"), at("config.yaml"), at("key.pem"), at("keys.d/*.yaml"), at("more.yaml"), at("roots.pem"), at("token.txt"),
	}
	got := watchedBy(at("config.yaml"))
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("watched (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(at("broken.yaml"), []byte("upstreams: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"broken.yaml", "gone.yaml"} {
		if diff := cmp.Diff([]string{at(name)}, watchedBy(at(name))); diff != "" {
			t.Errorf("%s: watched (-want +got):\n%s", name, diff)
		}
	}
}
