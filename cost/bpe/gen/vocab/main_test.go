package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The tables that are embedded are those that would be written again, halves and shorter tokens and all.
func TestTablesAreReproducible(t *testing.T) {
	for _, name := range names {
		file := filepath.Join(t.TempDir(), name)
		if err := write(name, file); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "..", "tables", name+".bin"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s.bin is not what the vocabulary makes: run go generate", name)
		}
	}
}
