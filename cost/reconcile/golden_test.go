package reconcile_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost/reconcile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// aWeek is a report in which a bit of everything has happened.
func aWeek(t *testing.T) reconcile.Report {
	t.Helper()
	ledger := []reconcile.Day{
		use(1, "gpt-5-mini", 120, 60_000, 12_000, 9_000, "0.0303"), use(2, "gpt-5-mini", 80, 40_000, 0, 6_000, "0.022"),
		use(3, "gpt-5-mini", 90, 45_000, 0, 7_000, "0.02525"), use(4, "gpt-5-mini", 100, 50_000, 0, 8_000, "0.0285"),
		use(1, "gpt-5", 10, 1_234_567, 0, 98_765, "2.53085875"), use(2, "gpt-5", 10, 1_234_567, 0, 98_765, "2.53085875"),
		unreported(use(3, "gpt-5", 12, 1_484_567, 0, 148_765, "3.34335875"), reconcile.Share{Requests: 2, Input: 250_000, Output: 50_000, Cost: 812_500_000}, reconcile.Share{}),
		feed(use(2, "o3", 1, 500, 0, 700, "0.0166"), "0.01"), use(9, "gpt-5", 1, 1, 0, 1, "0.00001125"),
	}
	export := exported(
		4,
		use(1, "gpt-5-mini-2025-08-07", 120, 60_000, 12_000, 9_000, "0.0303"), use(2, "gpt-5-mini-2025-08-07", 131, 65_500, 0, 9_800, "0.035975"),
		use(3, "gpt-5-mini-2025-08-07", 90, 45_000, 0, 7_000, "0.02525"), use(4, "gpt-5-mini-2025-08-07", 100, 50_000, 0, 8_000, "0.0285"),
		use(1, "gpt-5", 10, 1_234_567, 0, 98_765, "1.265429375"), use(2, "gpt-5", 10, 1_234_567, 0, 98_765, "1.265429375"), use(3, "gpt-5", 10, 1_234_567, 0, 98_765, "1.265429375"),
		use(2, "o3", 1, 500, 0, 700, "0.0066"), charge(2, "web search tool calls", "0.01", true),
	)
	export.Notes = []string{"2026-08-05 is only partly in the export (completions), so it was left out: export whole days, from midnight to midnight UTC"}
	return reconcile.Compare(ledger, export, reconcile.Options{Tolerance: reconcile.DefaultTolerance()})
}

func TestReportsAsTheyArePrinted(t *testing.T) {
	report := aWeek(t)
	for name, all := range map[string]bool{"report.txt": false, "report-all.txt": true} {
		var out bytes.Buffer
		if err := report.Text(&out, all); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.Bytes())
		for line := range strings.Lines(out.String()) {
			if trimmed := strings.TrimRight(line, " \n"); trimmed+"\n" != line || len([]rune(trimmed)) > 110 {
				t.Errorf("%s: a line that is too long, or ends in blanks: %q", name, line)
			}
		}
	}
	var out bytes.Buffer
	if err := report.JSON(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", out.Bytes())
}

func TestReportsOfNothing(t *testing.T) {
	for name, c := range map[string]struct {
		report reconcile.Report
		want   string
	}{
		"no day": {reconcile.Compare([]reconcile.Day{mini}, reconcile.Export{}, reconcile.Options{}), "Nothing was compared: the export covers no whole day.\nnote: the ledger has calls on 1 day that the export does not cover, the first of them 2026-08-01:\n  not compared.\n"},
		"no use": {reconcile.Compare(nil, exported(2), reconcile.Options{}), "2026-08-01 to 2026-08-02, 2 days. Tolerance: exact.\nNothing was compared: neither side has any use on these days.\n"},
		"no drift": {
			reconcile.Compare([]reconcile.Day{without(mini, reconcile.Usage)}, exported(1, mini), reconcile.Options{}),
			`2026-08-01 to 2026-08-01, 1 day. Tolerance: exact.

DAY       MODEL       FIGURE   LEDGER  PROVIDER  DIFFERENCE
all days  all models  cost    $0.2875   $0.2875           -

No drift: 1 line of a day and model compared, none of them beyond the tolerance.
`,
		},
	} {
		var out bytes.Buffer
		if err := c.report.Text(&out, false); err != nil || out.String() != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, out.String(), c.want)
		}
		var parsed struct {
			Drift bool
			Lines []any
			Notes []any
		}
		out.Reset()
		if err := c.report.JSON(&out); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), &parsed); err != nil || parsed.Drift || parsed.Lines == nil || parsed.Notes == nil {
			t.Errorf("%s: %v, %s", name, err, out.Bytes())
		}
	}
}
