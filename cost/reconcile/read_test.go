package reconcile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost/reconcile"
)

// read gathers an export of texts; those that name a file of testdata are that file's.
func read(t *testing.T, texts ...string) reconcile.Export {
	t.Helper()
	e, err := tryRead(t, texts...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func tryRead(t *testing.T, texts ...string) (reconcile.Export, error) {
	t.Helper()
	r := reconcile.NewReader()
	for i, text := range texts {
		name := fmt.Sprintf("file%d", i+1)
		if strings.HasPrefix(text, "testdata/") {
			name = filepath.Base(text)
			raw, err := os.ReadFile(text)
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		}
		if err := r.File(name, strings.NewReader(text), reconcile.Auto); err != nil {
			return reconcile.Export{}, err
		}
	}
	return r.Export()
}

// shown prints the days of an export, each on a line, with a dash for what is not known; then what it covers.
func shown(e reconcile.Export) string {
	var b strings.Builder
	for _, d := range e.Days {
		figure := func(f reconcile.Figures, n any) string {
			if d.Known&f == 0 {
				return "-"
			}
			return fmt.Sprint(n)
		}
		fmt.Fprintf(&b, "%s %s: %s requests, %s in, %s cached, %s out, %s", d.Date, d.Model, figure(reconcile.Requests, d.Requests), figure(reconcile.Input, d.Input),
			figure(reconcile.CachedInput, d.CachedInput), figure(reconcile.Output, d.Output), figure(reconcile.Cost, d.Cost))
		if d.Batch > 0 {
			fmt.Fprintf(&b, ", %d batch", d.Batch)
		}
		if d.Fee {
			b.WriteString(", fee")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "usage %v costs %v\n", e.Usage, e.Costs)
	for _, n := range e.Notes {
		b.WriteString(n + "\n")
	}
	return b.String()
}

func TestExportsAsProvidersWriteThem(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string
	}{
		{
			[]string{"testdata/openai-usage.json"}, // two pages; the second number would not survive a float
			`2026-08-01 gpt-5-mini-2025-08-07: 130 requests, 65000 in, 12000 cached, 10000 out, -, 10 batch
2026-08-03 gpt-5: 1 requests, 9007199254740993 in, 0 cached, 1 out, -
usage [2026-08-01 2026-08-02 2026-08-03] costs []
page 1 of openai-usage.json says that there are more (has_more): pages that are missing here are days that are not compared
`,
		},
		{
			[]string{"testdata/openai-usage.json", "testdata/openai-embeddings.json", "testdata/openai-costs.json"},
			`2026-08-01 evals | gpt-4o-mini-2024-07-18, input: - requests, - in, - cached, - out, $0.50, fee
2026-08-01 gpt-5-mini-2025-08-07: 130 requests, 65000 in, 12000 cached, 10000 out, $0.03355, 10 batch
2026-08-01 gpt-image-2-2026-04-21: - requests, - in, - cached, - out, $0.000000001
2026-08-01 text-embedding-3-small: 16 requests, 4000 in, - cached, - out, -
2026-08-01 web search tool calls: - requests, - in, - cached, - out, $0.25, fee
2026-08-03 gpt-5: 1 requests, 9007199254740993 in, 0 cached, 1 out, -
usage [2026-08-01 2026-08-02 2026-08-03] costs [2026-08-01 2026-08-02]
page 1 of openai-usage.json says that there are more (has_more): pages that are missing here are days that are not compared
page 1 of openai-embeddings.json says that there are more (has_more): pages that are missing here are days that are not compared
`,
		},
		{
			[]string{"testdata/openai-completions.csv", "testdata/openai-cost.csv"},
			`2026-08-01 (all models): - requests, - in, - cached, - out, $1.23456
2026-08-01 gpt-5-2025-08-07: 9 requests, 41000 in, 2048 cached, 7350 out, -
2026-08-03 gpt-5-mini-2025-08-07: 2 requests, 1300 in, 0 cached, 410 out, -, 2 batch
usage [2026-08-01 2026-08-02 2026-08-03] costs [2026-08-01 2026-08-02]
`,
		},
		{
			[]string{"testdata/azure-metrics.json"},
			`2026-08-01 chat-prod: 12 requests, 3400 in, - cached, 560 out, -
2026-08-02 chat-prod: 0 requests, 0 in, - cached, 0 out, -
usage [2026-08-01 2026-08-02] costs []
metric "AzureOpenAITimeToResponse" is not compared
`,
		},
		{
			[]string{"testdata/openrouter.csv"},
			`2026-08-01 openai/gpt-5-mini: 41 requests, 30000 in, - cached, 7000 out, $0.0215
2026-08-03 openai/gpt-5-mini: 1 requests, 400 in, - cached, 200 out, $0.0005
usage [2026-08-01 2026-08-02 2026-08-03] costs [2026-08-01 2026-08-02 2026-08-03]
`,
		},
		{
			[]string{"testdata/openrouter-calls.csv"},
			`2026-08-01 openai/gpt-5-mini-2025-08-07: 2 requests, 2150 in, 512 cached, 123 out, $0.0035
usage [2026-08-01] costs [2026-08-01]
`,
		},
		{
			[]string{"testdata/openrouter.json"},
			`2026-08-01 openai/gpt-4.1: 7 requests, 900 in, - cached, 210 out, $0.031
2026-08-02 openai/gpt-4.1: 2 requests, 80 in, - cached, 44 out, $0.004
usage [2026-08-01 2026-08-02] costs [2026-08-01 2026-08-02]
`,
		},
		{
			[]string{"testdata/anthropic.csv"},
			`2026-08-01 claude-sonnet-4-20250514: - requests, 9332 in, 4000 cached, 80 out, -
usage [2026-08-01] costs []
`,
		},
		{
			[]string{"testdata/plain.csv"},
			`2026-08-01 gpt-5-mini: 120 requests, 60000 in, 12000 cached, 9000 out, $0.0303
2026-08-02 gpt-5-mini: 80 requests, 40000 in, 0 cached, 6000 out, $0.022
usage [2026-08-01 2026-08-02] costs [2026-08-01 2026-08-02]
`,
		},
		{
			[]string{"testdata/semicolons.csv"},
			`2026-08-01 gpt-5: - requests, 1000 in, - cached, 20 out, -
usage [2026-08-01] costs []
`,
		},
	} {
		if diff := cmp.Diff(c.want, shown(read(t, c.files...))); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.files, diff)
		}
	}
}
