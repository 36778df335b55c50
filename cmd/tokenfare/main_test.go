package main

import (
	"os"
	"testing"

	"github.com/tokenfare/tokenfare/test/harness"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(writerVariable); path != "" {
		writeForEver(path)
		return
	}
	os.Exit(harness.Main(m))
}
