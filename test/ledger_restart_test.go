package test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// withLedger is a configuration whose ledger is at path.
func withLedger(up *fakeopenai.Server, path string, limits ...string) harness.Config {
	return harness.Config{Upstream: up.URL, Limits: limits, More: fmt.Sprintf("ledger: { url: %q, sync: always }\n", "sqlite:"+path)}
}

// An upgrade is a stop and a start: nobody gets a fresh budget by it, whatever its kind. Neither does anybody by a crash.
func TestBudgetsOutlastAStop(t *testing.T) {
	sentences := map[string]string{
		"total": "320 tokens in total", "month": "320 tokens each month", "window": "320 tokens in any hour", "bucket": "320 tokens per hour, burst 320",
		"minute": "320 tokens per minute, burst 320", "calls": "3 requests in any minute", "day": "3 requests each day",
		"dollars": "$0.0003 each quarter", "rolling": "$0.0003 in any day",
	}
	keys := ""
	for name, sentence := range sentences {
		keys += fmt.Sprintf("  %s: { hash: %q, limits: [%q] }\n", name, harness.Hash("secret of "+name), sentence)
	}
	for how, end := range map[string]func(*harness.Program){
		"stop": func(p *harness.Program) { p.Stop(t) },
		"kill": func(p *harness.Program) { p.Kill(t) },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			up := fakeopenai.New(t)
			up.Always(model, fakeopenai.Answer{SpendAll: true, Text: words(60)})
			config := withLedger(up, filepath.Join(t.TempDir(), "usage.db")).YAML()
			p := harness.StartYAML(t, strings.Replace(config, "\nkeys:\n", "\nkeys:\n"+keys, 1))
			body := ask(`"max_tokens": 90`)
			for name := range sentences {
				served := 0
				for p.Chat(t, "secret of "+name, body).Status == http.StatusOK {
					served++
				}
				if served < 2 || served > 10 {
					t.Fatalf("%d calls were served before %q was used up", served, sentences[name])
				}
			}
			end(p)
			p = p.Restart(t)
			// A burst, as of clients that have waited for the restart.
			again := map[string]int{}
			var mu sync.Mutex
			var all sync.WaitGroup
			for name := range sentences {
				for range 8 {
					all.Go(func() {
						if p.Chat(t, "secret of "+name, body).Status == http.StatusOK {
							mu.Lock()
							defer mu.Unlock()
							again[name]++
						}
					})
				}
			}
			all.Wait()
			delete(again, "minute") // it has got some tokens back meanwhile, five a second
			for name, n := range again {
				t.Errorf("%q served %d calls after a restart, though it was used up", sentences[name], n)
			}
			p.Stop(t)
		})
	}
}

// SIGTERM writes everything: no exchange is left without its end, though some are cut off by the end of the drain.
func TestTermWritesEverything(t *testing.T) {
	up := fakeopenai.New(t)
	up.Script(func(*fakeopenai.Call) fakeopenai.Answer {
		a := fakeopenai.Answer{Text: words(30), Pace: time.Duration(rand.IntN(6)) * time.Millisecond}
		if rand.IntN(4) == 0 {
			a.Pause, a.PauseAt = fakeopenai.Forever(), 5
		}
		return a
	})
	path := filepath.Join(t.TempDir(), "usage.db")
	config := withLedger(up, path, "1m tokens in total", "$5 each month")
	config.More += "timeouts: { drain: 300ms }\n"
	p := harness.Start(t, config)
	var all sync.WaitGroup
	for range 40 {
		request := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", harness.Alice, ask(`"stream": true`, `"max_tokens": 50`))
		all.Go(func() {
			if resp, err := p.HTTP.Do(request); err == nil {
				harness.Read(resp)
			}
		})
	}
	up.Await(t, 40)
	p.Stop(t)
	all.Wait()
	b := readBook(t, path)
	if b.unfinished != 0 || len(b.all) != 40 {
		t.Errorf("%d exchanges, %d of them without an end, want 40 with one", len(b.all), b.unfinished)
	}
	b.addsUp()
	cut := 0
	for _, x := range b.all {
		if x.End.Ending == "broken_stream" {
			cut++
		}
	}
	if cut == 0 || cut == len(b.all) {
		t.Errorf("%d of %d calls were cut off; this shows little", cut, len(b.all))
	}
}

// A ledger has one writer: a second program says who has it, and touches nothing. Readers come and go.
func TestSecondWriterIsTurnedAway(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	path := filepath.Join(t.TempDir(), "usage.db")
	config := withLedger(up, path, "1m tokens in total")
	p := harness.Start(t, config)
	p.Chat(t, harness.Alice, ask()).WantOK(t)

	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config.YAML()), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := harness.Run(t, dir, nil, "serve", "-config", "config.yaml")
	if says := stdout + stderr; status != 1 || !strings.Contains(says, fmt.Sprintf("process %d has it open", p.PID())) || !strings.Contains(says, path) {
		t.Errorf("the second program: status %d, %s", status, says)
	}
	harness.Eventually(t, "a reader sees the call", func() bool { return len(readBook(t, path).all) == 1 })
	p.Chat(t, harness.Alice, ask()).WantOK(t)
	harness.Eventually(t, "a reader sees the other call", func() bool { return len(readBook(t, path).all) == 2 })
	p.Kill(t) // nothing that is left keeps the next one out
	p = p.Restart(t)
	p.Chat(t, harness.Alice, ask()).WantOK(t)
	p.Stop(t)
	b := readBook(t, path)
	b.addsUp()
	if len(b.all) != 3 {
		t.Errorf("%d exchanges at the end", len(b.all))
	}
}

// A file that is no ledger, or a damaged one, is left as it is, byte for byte, with whatever lies beside it.
func TestDamagedLedgerIsLeftAlone(t *testing.T) {
	up := fakeopenai.New(t)
	path := filepath.Join(t.TempDir(), "usage.db")
	p := harness.Start(t, withLedger(up, path, "1m tokens in total"))
	for range 30 {
		p.Chat(t, harness.Alice, ask(`"max_tokens": 10`)).WantOK(t)
	}
	p.Kill(t) // leaves a write-ahead log
	whole, log := read(t, path), read(t, path+"-wal")
	if len(log) == 0 {
		t.Fatal("there is no write-ahead log")
	}
	p = p.Restart(t)
	p.Stop(t)
	closed := read(t, path) // all in one file

	damaged := func(b []byte, damage func([]byte)) []byte {
		b = bytes.Clone(b)
		damage(b)
		return b
	}
	for name, c := range map[string]struct{ db, wal []byte }{
		"another program's text":      {[]byte(strings.Repeat("key: value\n", 100)), nil},
		"empty":                       {[]byte{}, nil},
		"empty, and a log":            {[]byte{}, log},
		"another database, and a log": {damaged(whole, func(b []byte) { clear(b[68:72]) }), log}, // the application's id, see SQLite's file format
		"the header overwritten":      {damaged(closed, func(b []byte) { clear(b[:100]) }), nil},
		"the header, and a log":       {damaged(whole, func(b []byte) { copy(b, "no database here") }), log},
		"the schema overwritten":      {damaged(closed, func(b []byte) { fill(b[100:4096]) }), nil},
		"every page but the first":    {damaged(closed, func(b []byte) { fill(b[4096:]) }), nil},
		"cut off after the first":     {closed[:4096], nil},
		"cut off in the middle":       {closed[:len(closed)/2], nil},
		"the file gone, its log left": {nil, log},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "usage.db")
			for file, content := range map[string][]byte{path: c.db, path + "-wal": c.wal} {
				if content == nil {
					continue
				}
				if err := os.WriteFile(file, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			config := filepath.Join(dir, "config.yaml")
			if err := os.WriteFile(config, []byte(withLedger(up, path, "1m tokens in total").YAML()), 0o600); err != nil {
				t.Fatal(err)
			}
			stdout, stderr, status := harness.Run(t, dir, nil, "serve", "-config", config)
			if says := stdout + stderr; status != 1 || !strings.Contains(says, path) || !strings.Contains(says, "restore") && !strings.Contains(says, "name another file") {
				t.Errorf("status %d: %s", status, says)
			}
			for file, content := range map[string][]byte{path: c.db, path + "-wal": c.wal} {
				if content == nil {
					if _, err := os.Stat(file); err == nil {
						t.Errorf("%s is there now", filepath.Base(file))
					}
				} else if !bytes.Equal(read(t, file), content) {
					t.Errorf("%s has been changed", filepath.Base(file))
				}
			}
		})
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// fill overwrites a part with what no database has there.
func fill(b []byte) {
	for i := range b {
		b[i] = 0xa5
	}
}
