package proxy_test

import (
	"os"
	"strings"
	"testing"
)

// TestTheReadmeKnowsEveryMetricAndEnding: what can be seen in metrics is explained.
func TestTheReadmeKnowsEveryMetricAndEnding(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, alice(t, "1000 tokens in total"), answerWith(200, plainAnswer(8, 3)))
	h.chat(hi)
	h.chat(`{}`)
	families, err := h.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) < 10 {
		t.Errorf("only %d metrics were gathered", len(families))
	}
	for _, f := range families {
		if !strings.Contains(string(readme), "`"+f.GetName()) {
			t.Errorf("the README does not explain %s", f.GetName())
		}
		if f.GetHelp() == "" {
			t.Errorf("%s has no help", f.GetName())
		}
	}
}
