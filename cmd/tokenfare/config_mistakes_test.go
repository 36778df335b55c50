package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with a file, or rewrites the file under -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); go test -update rewrites it:\n%s", file, diff)
	}
}

// TestConfigMistakes loads one tiny file for every way a configuration can be wrong.
func TestConfigMistakes(t *testing.T) {
	t.Setenv("TOKENFARE_TEST_KEY", "sk-the-key-in-the-environment")
	t.Chdir("testdata/config")
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) < 35 {
		t.Fatalf("found %d fixtures, %v", len(files), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(f, ".yaml")
		t.Run(name, func(t *testing.T) {
			_, err := loadConfig(f)
			if err == nil {
				t.Fatal("the mistake was not found")
			}
			text := err.Error()
			for _, secret := range []string{"hunter2", "0123456789abcdefghij", "sk-the-key", "the-secret-in", "must-not-be-shown"} {
				if strings.Contains(text, secret) {
					t.Errorf("the message shows a secret:\n%s", text)
				}
			}
			if name != "everything" && strings.Contains(text, "problems.") {
				t.Errorf("one mistake, several problems:\n%s", text)
			}
			golden(t, name+".golden", text+"\n")
		})
	}
}
