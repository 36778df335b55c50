package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tokenfare/tokenfare/cost/reconcile"
)

// ledgerBook is a ledger as the command reads it: what it is asked for, it gives.
type ledgerBook struct {
	days []reconcile.Day
	at   map[string]string // upstreams by model; without one, all went to it

	asked string // what it was asked for last
	err   error
}

func (b *ledgerBook) read(_ context.Context, config *Config, url string, first, last reconcile.Date, upstream string) ([]reconcile.Day, error) {
	if config != nil && url == "" {
		url = "the configuration's"
	}
	b.asked = strings.TrimSpace(url + " " + first.String() + " " + last.String() + " " + upstream)
	if b.err != nil {
		return nil, b.err
	}
	return slices.DeleteFunc(slices.Clone(b.days), func(d reconcile.Day) bool {
		return d.Date < first || d.Date > last || upstream != "" && b.at[d.Model] != "" && b.at[d.Model] != upstream
	}), nil
}

// reconciled runs the command over a ledger.
func reconciled(t *testing.T, book *ledgerBook, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = reconcileCommand(book.read).run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

const exportOfTwoDays = `day,model,requests,input_tokens,cached_input_tokens,output_tokens,cost
2026-08-01,gpt-5-mini-2025-08-07,120,60000,12000,9000,0.0303
2026-08-02,gpt-5-mini-2025-08-07,80,40000,0,6000,0.022
2026-08-02,o3,1,500,0,700,0.0066
`

// twoDays is a ledger that agrees with that export.
func twoDays(t *testing.T) *ledgerBook {
	t.Helper()
	reader := reconcile.NewReader()
	if err := reader.File("ledger", strings.NewReader(strings.ReplaceAll(exportOfTwoDays, "gpt-5-mini-2025-08-07", "fast")), reconcile.CSV); err != nil {
		t.Fatal(err)
	}
	e, err := reader.Export()
	if err != nil {
		t.Fatal(err)
	}
	return &ledgerBook{days: e.Days}
}

// exportFiles writes files into a directory of their own and makes that the working one.
func exportFiles(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(filepath.Clean(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const twoUpstreams = `upstreams: { openai: { url: "http://127.0.0.1:1/v1" }, azure: { url: "http://127.0.0.1:2/v1" } }
models: { fast: { upstream: openai, model: gpt-5-mini }, o3: { upstream: openai }, slow: { upstream: azure, model: fast } }
`

func TestReconcileAgreesOrShowsDrift(t *testing.T) {
	exportFiles(t, map[string]string{
		"export.csv": exportOfTwoDays,
		"one.yaml":   "upstreams: { openai: { url: \"http://127.0.0.1:1/v1\" } }\nmodels: { fast: { model: gpt-5-mini }, \"*\": {} }\n",
		"two.yaml":   twoUpstreams,
	})
	more := twoDays(t)
	more.days[0].Requests, more.days[0].Input = 150, 75_000
	elsewhere := twoDays(t)
	elsewhere.days = append(elsewhere.days, reconcile.Day{Date: elsewhere.days[0].Date, Model: "slow", Known: reconcile.Usage, Requests: 9, Input: 90_000})
	elsewhere.at = map[string]string{"slow": "azure", "fast": "openai", "o3": "openai"}
	const both = "the configuration's 2026-08-01 2026-08-02"
	for name, c := range map[string]struct {
		book  *ledgerBook
		args  string
		code  int
		asked string
		says  []string
	}{
		"agreed": {
			twoDays(t), "-config one.yaml -provider-export export.csv", 0, both,
			[]string{"No drift: 3 lines of a day and model compared", "Tolerance: 0.5%, 1000 tokens, 1 request, $0.01."},
		},
		"another ledger": {twoDays(t), "-config one.yaml -ledger sqlite:usage.db -provider-export export.csv", 0, "sqlite:usage.db 2026-08-01 2026-08-02", nil},
		"no configuration, no name": {
			twoDays(t), "-ledger sqlite:usage.db -provider-export export.csv", 1, "sqlite:usage.db 2026-08-01 2026-08-02",
			[]string{"if they are the same, say -model", "fast=gpt-5-mini-2025-08-07", "Drift: 4 of 5 lines"},
		},
		"the name as a flag":       {twoDays(t), "-ledger sqlite:usage.db -provider-export export.csv -model fast=gpt-5-mini", 0, "sqlite:usage.db 2026-08-01 2026-08-02", nil},
		"drift":                    {more, "-config one.yaml -provider-export export.csv", 1, both, []string{"the ledger has 30 requests and 15,000 tokens more", "Drift: 1 of 3 lines"}},
		"drift that is permitted":  {more, "-config one.yaml -provider-export export.csv -tolerance 25%", 0, both, nil},
		"days without drift":       {more, "-config one.yaml -provider-export export.csv -since 2026-08-02", 0, "the configuration's 2026-08-02 2026-08-02", []string{"2026-08-02 to 2026-08-02, 1 day"}},
		"days with it":             {more, "-config one.yaml -provider-export export.csv -until 2026-08-01", 1, "the configuration's 2026-08-01 2026-08-01", []string{"1 of 1 line"}},
		"one upstream of two":      {elsewhere, "-config two.yaml -provider-export export.csv -upstream openai", 0, both + " openai", nil},
		"lines that agree":         {twoDays(t), "-config one.yaml -provider-export export.csv -all", 0, both, []string{"2026-08-02  o3", "gpt-5-mini-2025-08-07 at the provider"}},
		"a format that is forced":  {twoDays(t), "-config one.yaml -provider-export export.csv -format csv", 0, both, nil},
		"a format that it is not":  {twoDays(t), "-config one.yaml -provider-export export.csv -format json", 1, "", []string{"tokenfare reconcile: export.csv: byte 0: it is not JSON"}},
		"a file that is not there": {twoDays(t), "-config one.yaml -provider-export exprot.csv", 1, "", []string{"exprot.csv"}},
		"no such configuration":    {twoDays(t), "-config none.yaml -provider-export export.csv", 1, "", []string{"none.yaml"}},
		"days it does not cover": {
			twoDays(t), "-config one.yaml -provider-export export.csv -since 2026-09-01", 1, "",
			[]string{"nothing to compare: the export covers days from 2026-08-01 to 2026-08-02, and none of them was asked for"},
		},
		"a ledger that is broken": {
			&ledgerBook{err: errors.New("the disk is gone")}, "-ledger x -provider-export export.csv", 1, "x 2026-08-01 2026-08-02",
			[]string{"tokenfare reconcile: read the ledger: the disk is gone"},
		},
	} {
		c.book.asked = ""
		code, out, errs := reconciled(t, c.book, strings.Fields(c.args)...)
		if code != c.code || c.book.asked != c.asked {
			t.Errorf("%s: code %d, want %d; asked %q, want %q\n%s%s", name, code, c.code, c.book.asked, c.asked, out, errs)
		}
		for _, says := range c.says {
			if !strings.Contains(strings.Join(strings.Fields(out+errs), " "), strings.Join(strings.Fields(says), " ")) {
				t.Errorf("%s: no %q in\n%s%s", name, says, out, errs)
			}
		}
	}
}

func TestReconcileIsMisused(t *testing.T) {
	exportFiles(t, map[string]string{"export.csv": exportOfTwoDays, "two.yaml": twoUpstreams})
	for args, says := range map[string]string{
		"":                            "name the provider's export: -provider-export usage.json",
		"-config two.yaml":            "name the provider's export",
		"-provider-export export.csv": "say where the ledger is: -config FILE of the proxy, or -ledger URL",
		"-ledger x export.csv":        `unexpected "export.csv"; name files with -provider-export`,
		"-ledger x -provider-export export.csv -provider-export export.csv":         "it is given twice",
		"-ledger x -provider-export export.csv -since 1.8.2026":                     "is not a day: write it like 2026-08-31",
		"-ledger x -provider-export export.csv -since 2026-08-02 -until 2026-08-01": "-until 2026-08-01 is before -since 2026-08-02",
		"-ledger x -provider-export export.csv -tolerance 5":                        "has no unit",
		"-ledger x -provider-export export.csv -format xlsx":                        "use auto, csv or json",
		"-ledger x -provider-export export.csv -model fast":                         "write it like fast=gpt-5-mini",
		"-config two.yaml -provider-export export.csv":                              "the configuration has 2 upstreams: say with -upstream whose export it is: openai, azure",
		"-config two.yaml -provider-export export.csv -upstream opnai":              "did you mean openai?",
	} {
		book := twoDays(t)
		if code, out, errs := reconciled(t, book, strings.Fields(args)...); code != 2 || !strings.Contains(errs, says) || out != "" || book.asked != "" {
			t.Errorf("%s: code %d, %s%s, want %q", args, code, out, errs, says)
		}
	}
	if code, out, _ := reconciled(t, twoDays(t), "--help"); code != 0 || !strings.Contains(out, "organization/usage/completions") || !strings.Contains(out, "-provider-export") {
		t.Errorf("%d %s", code, out)
	}
}

func TestReconcilePrintsJSON(t *testing.T) {
	exportFiles(t, map[string]string{"export.csv": exportOfTwoDays})
	book := twoDays(t)
	book.days[2].Output += 100_000
	code, out, errs := reconciled(t, book, "-ledger", "x", "-provider-export", "export.csv", "-model", "fast=gpt-5-mini", "-json")
	var report struct {
		Drift bool
		Lines []struct {
			Day, Model, Cause string
			Beyond            []string
			Difference        map[string]json.Number
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 1 || !report.Drift || len(report.Lines) != 3 {
		t.Fatalf("%d %v\n%s%s", code, err, out, errs)
	}
	if l := report.Lines[2]; l.Day != "2026-08-02" || l.Model != "o3" || l.Cause != "token_counts" || !slices.Equal(l.Beyond, []string{"output_tokens"}) || l.Difference["output_tokens"] != "-100000" {
		t.Errorf("%+v", l)
	}
}

// Today is still going on, and is only compared by those who ask for it. In the bubble it is the first of January 2000.
func TestReconcileLeavesTodayOut(t *testing.T) {
	exportFiles(t, map[string]string{
		"export.csv": "day,model,requests\n1999-12-31,m,5\n2000-01-01,m,5\n", "today.csv": "day,model,requests\n2000-01-01,m,5\n",
		"partly.csv": "start_time,end_time,model,requests\n946688400,946771200,m,5\n",
	})
	synctest.Test(t, func(t *testing.T) {
		for args, want := range map[string]struct {
			code        int
			asked, says string
		}{
			"-provider-export export.csv":                   {0, "x 1999-12-31 1999-12-31", "note: 2000-01-01 is not over, so it was left out."},
			"-provider-export export.csv -until 2000-01-01": {1, "x 1999-12-31 2000-01-01", "1999-12-31 to 2000-01-01, 2 days"},
			"-provider-export today.csv":                    {1, "", "nothing to compare: the export covers days from 2000-01-01 to 2000-01-01, and none of them was asked for: 2000-01-01 is not over"},
			"-provider-export partly.csv":                   {1, "", "nothing to compare: the export covers no whole day: 2000-01-01 is only partly in the export"},
		} {
			book := &ledgerBook{days: []reconcile.Day{{Date: 10_956, Model: "m", Known: reconcile.Requests, Requests: 5}}}
			code, out, errs := reconciled(t, book, append(strings.Fields(args), "-ledger", "x")...)
			if code != want.code || book.asked != want.asked || !strings.Contains(out+errs, want.says) {
				t.Errorf("%s: code %d, asked %q\n%s%s", args, code, book.asked, out, errs)
			}
		}
	})
}

func TestReconcileSaysWhenItCannotPrint(t *testing.T) {
	exportFiles(t, map[string]string{"export.csv": exportOfTwoDays})
	var errs bytes.Buffer
	code := runReconcile(t.Context(), twoDays(t).read, []string{"-ledger", "x", "-provider-export", "export.csv"}, full{}, &errs)
	if code != 1 || !strings.Contains(errs.String(), io.ErrShortWrite.Error()) {
		t.Errorf("%d %s", code, errs.String())
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
