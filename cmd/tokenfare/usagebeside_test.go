package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// writerVariable makes this test binary a program that writes to the ledger it names.
const writerVariable = "TOKENFARE_TEST_WRITER"

// writeForEver records exchanges of 7 tokens and 1,000 nano-dollars each, four at a time, and prints how many have ended and are
// durable.
func writeForEver(path string) {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	store, err := sqlite.Open(ctx, path)
	must(err)
	w, _, err := ledger.Open(ctx, store, ledger.Options{RollEvery: 20 * time.Millisecond})
	must(err)
	go func() { must(w.Run(ctx)) }()
	for n := 0; ; n += 4 {
		var tickets []ledger.Ticket
		for i := range 4 {
			b := &ledger.Begin{
				Exchange: w.IDs().Next(), Series: ledger.Series{Key: "key-" + strconv.Itoa(i), Groups: "all"}, Model: "m", Label: strconv.Itoa(n % 3),
				Most: cost.Usage{Input: 7, Output: 3}, Reserved: 5000,
			}
			must(w.Begin(b).Wait(ctx))
			tickets = append(tickets, w.End(&ledger.End{Exchange: b.Exchange, Status: 200, Ending: "complete", Basis: ledger.Reported, Usage: cost.Usage{Input: 7}, Cost: 1000}))
		}
		for _, t := range tickets {
			must(t.Wait(ctx))
		}
		fmt.Println(n + 4)
	}
}

// TestUsageOfALedgerThatIsBeingWritten: each report is of one instant, to the last exchange, whatever the sums are behind; and
// so is the one after the writer was killed.
func TestUsageOfALedgerThatIsBeingWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	writer := exec.CommandContext(t.Context(), self)
	writer.Env = append(os.Environ(), writerVariable+"="+path)
	writer.Stderr = os.Stderr
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	recorded := func() (n int64) {
		t.Helper()
		if !lines.Scan() {
			t.Fatal("the writer has ended")
		}
		if _, err := fmt.Sscan(lines.Text(), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := int64(0)
	for i := range 30 {
		at := recorded()
		before = usageAtLeast(t, path, max(at, before), []string{"key", "day,model", "key,label", "group"}[i%4])
	}
	if err := writer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		if _, err := fmt.Sscan(lines.Text(), &before); err != nil {
			t.Fatal(err)
		}
	}
	_ = writer.Wait() // says that it was killed
	usageAtLeast(t, path, before, "key")
}

// usageAtLeast wants a report that holds together, of no less than so many exchanges, and returns how many.
func usageAtLeast(t *testing.T, path string, least int64, by string) int64 {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := runUsage(t.Context(), []string{"-ledger", "sqlite:" + path, "-json", "-by", by}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	type line struct {
		Requests int64
		Input    int64 `json:"input_tokens"`
		Cost     int64 `json:"cost_nano_usd"`
		Running  struct {
			Requests int64
			Cost     int64 `json:"cost_nano_usd"`
		}
	}
	var got struct {
		Rows  []line
		Total line
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, stdout.String())
	}
	sum, total := line{}, got.Total
	for _, r := range got.Rows {
		sum.Requests += r.Requests
		sum.Input += r.Input
		sum.Cost += r.Cost
		sum.Running.Requests += r.Running.Requests
		sum.Running.Cost += r.Running.Cost
	}
	if sum != total || total.Requests < least || total.Input != 7*total.Requests || total.Cost != 1000*total.Requests || total.Running.Cost != 5000*total.Running.Requests {
		t.Fatalf("-by %s: %d were recorded; lines sum up to %+v, and the total is %+v", by, least, sum, total)
	}
	return total.Requests
}
