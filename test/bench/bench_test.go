package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain lets the test binary play the roles that measure starts it in.
func TestMain(m *testing.M) {
	if name, ok := roleAsked(os.Args); ok {
		os.Exit(play(name))
	}
	os.Exit(m.Run())
}

func TestMeasuresEverythingOnEveryServer(t *testing.T) {
	s := defaultSettings()
	s.rounds, s.requests, s.rate, s.samples = 1, 12, 100, 2
	s.ask(5)
	for i := range s.workloads {
		if w := &s.workloads[i]; w.pace > 0 {
			w.pace, w.conns, w.requests = time.Millisecond, 3, 3
		}
	}
	report, err := measure(t.Context(), s, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, row := range report.Rows {
		got[row.Workload] = append(got[row.Workload], row.Target)
		if want := map[bool]int{false: 5, true: 3}[row.Workload == "stream-slow"]; row.Callers != want {
			t.Errorf("%s, %s: %d callers, want %d", row.Workload, row.Target, row.Callers, want)
		}
		if row.Requests == 0 {
			t.Errorf("%s, %s: no requests", row.Workload, row.Target)
		}
		if timed := row.Workload != "stream-slow"; timed != (row.P50 != nil) {
			t.Errorf("%s, %s: latency measured: %v, want %v", row.Workload, row.Target, !timed, timed)
		}
	}
	all, slow := []string{"mock", "bare proxy", "tokenfare", "mock again"}, []string{"bare proxy", "tokenfare"}
	if _, err := exec.LookPath("nginx"); err == nil {
		all, slow = slices.Insert(all, 2, "nginx"), slices.Insert(slow, 1, "nginx")
	}
	want := map[string][]string{
		"chat-1k": all, "chat-20k": all, "stream": all, "stream-withheld": all, "refused": all,
		"stream-slow": slow,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	var table strings.Builder
	if err := report.writeTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{report.Machine.Go, "chat-20k", "×bare", "mock again"} {
		if !strings.Contains(table.String(), part) {
			t.Errorf("the table does not say %q:\n%s", part, table.String())
		}
	}
}

func TestMeasuresTheLedger(t *testing.T) {
	s := ledgerSettings()
	s.rounds, s.requests, s.rate, s.samples = 1, 12, 100, 3
	report, err := measureLedger(t.Context(), s, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Rows) != 9 {
		t.Errorf("%d rows, want three workloads on three servers", len(report.Rows))
	}
	for _, row := range report.Rows {
		if thinks := strings.HasPrefix(row.Workload, "think"); row.P50 <= 0 || row.P99 < row.P50 || row.Rate <= 0 || thinks && row.P50 < 50 {
			t.Errorf("%+v", row)
		}
	}
	var table strings.Builder
	if err := report.writeTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"think-stream", "no ledger again", "exchanges/s", "p99"} {
		if !strings.Contains(table.String(), part) {
			t.Errorf("the table does not say %q:\n%s", part, table.String())
		}
	}
}

// direct starts a mock and returns it as a target.
func direct(t *testing.T) *target {
	t.Helper()
	mock, err := startRole(roleMock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mock.stop(); err != nil {
			t.Error(err)
		}
	})
	return newTarget("mock", mock)
}

func TestAWrongAnswerIsNoticed(t *testing.T) {
	mock := direct(t)
	right := workload{name: "chat", prompt: 100}
	for name, spoil := range map[string]func(c *connection){
		"of another request": func(c *connection) { c.want.slots = nil },
		"one byte":           func(c *connection) { c.want.text[40] ^= 1 },
		"cut short":          func(c *connection) { c.want.text = append(c.want.text, '\n') },
		"too long":           func(c *connection) { c.want.text = c.want.text[:len(c.want.text)-1] },
	} {
		t.Run(name, func(t *testing.T) {
			c, err := dial(mock, &right)
			if err != nil {
				t.Fatal(err)
			}
			defer c.close()
			if _, err := c.ask(); err != nil {
				t.Fatalf("before anything was wrong: %v", err)
			}
			spoil(c)
			if _, err := c.ask(); err == nil || !strings.Contains(err.Error(), "differs") {
				t.Errorf("got %v, want an error that tells where the answer differs", err)
			}
		})
	}
}

func TestARefusalMustBeOne(t *testing.T) {
	quota := `{"error":{"message":"Budget used up","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`
	for _, c := range []struct {
		status int
		body   string
		ok     bool
	}{
		{http.StatusTooManyRequests, quota, true},
		{http.StatusOK, quota, false},
		{http.StatusTooManyRequests, chatBody(), false},
		{http.StatusTooManyRequests, "busy", false},
	} {
		if err := checkRefusal(c.status, []byte(c.body)); (err == nil) != c.ok {
			t.Errorf("%d %.20q…: %v, want it to pass: %v", c.status, c.body, err, c.ok)
		}
	}
}

func TestNoTwoPromptsAreAlike(t *testing.T) {
	a, w := newAuthor(), workload{prompt: 1_000}
	seen := map[string]bool{}
	for n := range 1_000 {
		number := []byte(strings.Repeat("0", len(blank)-3) + string([]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10)}))
		body := a.appendBody(nil, &w, number, "")
		_, prompt, _ := bytes.Cut(body, []byte(`"role":"user"`))
		if len(prompt) < 900 || len(prompt) > 1_300 {
			t.Fatalf("prompt %d has %d bytes, want about 1,000", n, len(prompt))
		}
		if seen[string(prompt)] {
			t.Fatalf("prompt %d has been there before", n)
		}
		seen[string(prompt)] = true
	}
}

func TestTheMiddleRoundsCount(t *testing.T) {
	rounds := []spent{{90, 1, 9}, {10, 1, 1}, {20, 1, 2}, {30, 1, 3}}
	if got, want := typical(rounds), (spent{50, 2, 5}); got != want {
		t.Errorf("typical of %v is %v, want %v", rounds, got, want)
	}
	if got, want := typical(rounds[:3]), (spent{120, 3, 12}); got != want {
		t.Errorf("typical of three is %v, want all of them: %v", got, want)
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"-only", "chat-2k"}, 2, "choose from chat-1k, chat-20k"},
		{[]string{"-rounds", "0"}, 2, "at least 1"},
		{[]string{"-callers", "0"}, 2, "at least 1"},
		{[]string{"chat-1k"}, 2, "no other arguments"},
		{[]string{"-h"}, 0, "-binary"},
	} {
		var stdout, stderr bytes.Buffer
		if got := run(t.Context(), c.args, &stdout, &stderr); got != c.status || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%v: status %d, %q; want %d and %q", c.args, got, stderr.String(), c.status, c.says)
		}
	}
}
