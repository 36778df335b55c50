package reconcile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/tokenfare/tokenfare/cost/reconcile"
)

// FuzzCSV reads tables of strangers.
func FuzzCSV(f *testing.F) {
	seed(f, ".csv")
	f.Add([]byte("day,model,requests\n2026-08-01,m,9223372036854775807\n2026-08-01,m,9223372036854775807\n"))
	f.Add([]byte("start_time,end_time,amount_value\n1785542400,1785628800,-0.5e2\n"))
	f.Add([]byte("day\tmodel\tcost\n2026-08-01\tm\t$9223372036.854775807\n2026-08-02\tm\t-9223372036.854775807\n"))
	f.Fuzz(func(t *testing.T, file []byte) { strangers(t, file, reconcile.CSV) })
}

// FuzzJSON reads pages and answers of strangers.
func FuzzJSON(f *testing.F) {
	seed(f, ".json")
	f.Add([]byte(page(completion(`"input_tokens": 9223372036854775807, "output_tokens": 1e2, "num_model_requests": "1", "model": "m"`))))
	f.Add([]byte(page(`{"amount": {"value": "1E-400", "currency": "USD"}, "line_item": "m, input"}`)))
	f.Add([]byte(`[{"data": [[{"date": "2026-08-01", "model": "m", "requests": 1, "value": 3}]]}, {"results": null, "start_time": 0, "end_time": 1}]`))
	f.Fuzz(func(t *testing.T, file []byte) { strangers(t, file, reconcile.JSON) })
}

func seed(f *testing.F, ending string) {
	files, err := filepath.Glob("testdata/*" + ending)
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
}

// strangers reads a file and holds it to what any export must be.
func strangers(t *testing.T, file []byte, format reconcile.Format) {
	r := reconcile.NewReader()
	if err := r.File("stranger's", bytes.NewReader(file), format); err != nil {
		plain(t, err.Error())
		return
	}
	e, err := r.Export()
	if err != nil {
		plain(t, err.Error())
		return
	}
	for i, d := range e.Days {
		if d.Requests < 0 || d.Input < 0 || d.CachedInput < 0 || d.Output < 0 || d.Batch < 0 || d.Known == 0 && d.Input+d.Output+d.Requests != 0 || d.Model == "" {
			t.Fatalf("%+v", d)
		}
		if i > 0 && (e.Days[i-1].Date > d.Date || e.Days[i-1].Date == d.Date && e.Days[i-1].Model >= d.Model) {
			t.Fatalf("%+v before %+v", e.Days[i-1], d)
		}
		plain(t, d.Model)
	}
	if !slices.IsSorted(e.Usage) || !slices.IsSorted(e.Costs) {
		t.Fatalf("covered: %v %v", e.Usage, e.Costs)
	}
	report := reconcile.Compare(e.Days, e, reconcile.Options{})
	apart := func(d reconcile.Day) bool {
		return d.Fee || d.Model == reconcile.AllModels || d.Model == reconcile.FeesLine
	}
	if report.Drift() && !slices.ContainsFunc(e.Days, apart) {
		t.Fatalf("an export differs from itself: %+v", report.Lines)
	}
	var text, printed bytes.Buffer
	if err := report.Text(&text, true); err != nil {
		t.Fatal(err)
	}
	plain(t, text.String())
	if err := report.JSON(&printed); err != nil {
		t.Fatal(err)
	}
	nothing := reconcile.Compare(nil, e, reconcile.Options{Tolerance: reconcile.DefaultTolerance()})
	for _, l := range nothing.Lines {
		if (l.Beyond != 0) != (l.Why != "") {
			t.Fatalf("%+v", l)
		}
	}
}

// plain holds a text to what a terminal may be shown.
func plain(t *testing.T, text string) {
	t.Helper()
	if at := strings.IndexFunc(text, func(c rune) bool { return !unicode.IsPrint(c) && c != '\n' && c != unicode.ReplacementChar }); at >= 0 {
		t.Fatalf("%q has %q", text, text[at:])
	}
}
