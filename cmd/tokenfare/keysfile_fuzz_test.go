package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzAddKey: a key is added to a file, which then holds what it held and that key; or the file is left alone. Whether it has more mistakes
// then is for FuzzConfig, which is slower.
func FuzzAddKey(f *testing.F) {
	files, err := filepath.Glob("testdata/config/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, seed := range []string{"", "keys: {}\n", "keys:\n  bob: { hash: \"x\", limits: none }\r\n", "keys: [", "upstreams: {}\nkeys:\n\n# the end", "? keys\n: a: b\n", "---\nkeys: {a: b}\n...\n", "keys: &k\n  a: *k\n"} {
		f.Add([]byte(seed))
	}
	made := []entry{{name: "newcomer", secret: "tf-a-secret", limits: []string{"$50 each month"}}}
	f.Fuzz(func(t *testing.T, old []byte) {
		fresh, err := withKeys("config.yaml", old, made)
		if err != nil {
			if fresh != nil || strings.Contains(err.Error(), "tf-a-secret") {
				t.Fatalf("%q and %v", fresh, err)
			}
			return
		}
		before, err := parsed("config.yaml", old)
		if err != nil {
			t.Fatalf("a key was added to what cannot be read: %v", err)
		}
		after, err := parsed("config.yaml", fresh)
		if err != nil {
			t.Fatalf("%q became %q: %v", old, fresh, err)
		}
		if key := child(child(after.root, "keys"), "newcomer"); key == nil || !bytes.Contains(fresh, []byte(hashOf("tf-a-secret"))) || bytes.Contains(fresh, []byte("tf-a-secret")) {
			t.Fatalf("%q became %q", old, fresh)
		}
		if keys := child(before.root, "keys"); keys != nil {
			for i := 0; i+1 < len(keys.Content); i += 2 {
				if child(child(after.root, "keys"), keys.Content[i].Value) == nil {
					t.Fatalf("key %s is gone: %q", keys.Content[i].Value, fresh)
				}
			}
		}
	})
}
