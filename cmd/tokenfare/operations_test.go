package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// What a kill loses is said in docs/operations.md, with the figures of the code.
func TestOperationsSayWhatAKillLoses(t *testing.T) {
	document, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(document)) {
		if !strings.HasPrefix(line, "| the process is killed") {
			continue
		}
		rows++
		for _, lost := range []string{"refusals counted", fmt.Sprintf("lines of the log of the last %d ms", flushEvery.Milliseconds())} {
			if !strings.Contains(line, lost) {
				t.Errorf("%q is not said to be lost: %s", lost, line)
			}
		}
	}
	if rows != 2 {
		t.Errorf("docs/operations.md has %d rows of a process that is killed, want 2", rows)
	}
}
