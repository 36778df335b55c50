package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// pager makes pages that say how many there have been.
func pager() func() (string, error) {
	n := 0
	return func() (string, error) {
		n++
		return fmt.Sprintf("page %d\nof many\n", n), nil
	}
}

func TestLivePrintsEveryTwoSeconds(t *testing.T) {
	for _, c := range []struct {
		screen bool
		want   string
	}{
		{false, "page 1\nof many\n\npage 2\nof many\n\npage 3\nof many\n\n"},
		{true, liveBegin + "\x1b[Hpage 1\x1b[K\nof many\x1b[K\n\x1b[J\x1b[Hpage 2\x1b[K\nof many\x1b[K\n\x1b[J\x1b[Hpage 3\x1b[K\nof many\x1b[K\n\x1b[J" + liveEnd},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			var out bytes.Buffer
			if err := repeat(ctx, &out, c.screen, pager()); err != nil || out.String() != c.want {
				t.Errorf("screen %v: %v, %q", c.screen, err, out.String())
			}
		})
	}
}

func TestLiveEndsWithAnError(t *testing.T) {
	broken := errors.New("the disk is gone")
	var out bytes.Buffer
	err := repeat(t.Context(), &out, true, func() (string, error) { return "", broken })
	if !errors.Is(err, broken) || out.String() != liveBegin+liveEnd {
		t.Errorf("%v, %q: the terminal is left as it was", err, out.String())
	}
	// What the end of a run breaks off is no error.
	ctx, cancel := context.WithCancel(t.Context())
	err = repeat(ctx, &out, false, func() (string, error) {
		cancel()
		return "", ctx.Err()
	})
	if err != nil {
		t.Error(err)
	}
}

// firstLine tells when something is written.
type firstLine struct {
	mu      sync.Mutex
	all     strings.Builder
	written chan struct{}
}

func (f *firstLine) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all.Len() == 0 {
		close(f.written)
	}
	return f.all.Write(p)
}

// TestCtrlCEndsLive: it is how a person ends it, and no failure.
func TestCtrlCEndsLive(t *testing.T) {
	u := aWeek(t)
	out := &firstLine{written: make(chan struct{})}
	var errs bytes.Buffer
	c := usageCommand{now: func() time.Time { return usageNow }, left: u.left, stdout: out, stderr: &errs}
	ended := make(chan int)
	go func() { ended <- c.run(t.Context(), []string{"-live", "-config", u.dir + "/config.yaml"}) }()
	<-out.written
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != 0 || errs.Len() > 0 || out.all.String() != u.prints()+"\n" {
		t.Errorf("%d %s%s", code, out.all.String(), errs.String())
	}
}

// TestAPageThatIsTooLongKeepsItsTotal where it is printed in place.
func TestAPageThatIsTooLongKeepsItsTotal(t *testing.T) {
	u := aWeek(t)
	c := usageCommand{now: func() time.Time { return usageNow }, left: u.left, since: "7d"}
	store, err := readLedger(t.Context(), "sqlite:"+u.dir+"/usage.db")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	by, err := parseBy("day,model")
	if err != nil {
		t.Fatal(err)
	}
	reading := usageReading{usageCommand: &c, store: store, zone: time.UTC, by: by}
	page, err := reading.page(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(page, "\n")
	if len(lines) < 8 || lines[6] != "… and 7 more" || !strings.HasPrefix(lines[7], "total  ") || !strings.Contains(lines[7], " 162 ") {
		t.Errorf("\n%s", page)
	}
}
