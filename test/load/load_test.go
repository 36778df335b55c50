package load

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// TestSlowStreams holds many streams at once, each of which says a word now and then.
func TestSlowStreams(t *testing.T) {
	over, ok := ways[*secure]
	if !ok {
		t.Fatalf("-load.tls=%s: write no, h1 or h2", *secure)
	}
	for _, c := range []struct {
		streams int
		prompt  int           // bytes
		opening int           // streams that are opened at the same time
		pace    time.Duration // between words
		most    int64         // bytes that the program may have resident
		always  bool
	}{
		{streams: 1000, prompt: 1 << 10, opening: 100, pace: time.Second, most: 256 << 20, always: true},
		{streams: 1000, prompt: 1 << 20, opening: 1000, pace: time.Second, most: 400 << 20},
		{streams: 10_000, prompt: 1 << 10, opening: 100, pace: 5 * time.Second, most: 1 << 30},
	} {
		if !c.always && !*all {
			continue
		}
		if *opening > 0 {
			c.opening, c.most = *opening, 1<<40 // it is for looking
		}
		if harness.Race { // it takes ten times as much memory, and as long
			c.streams, c.most = c.streams/10, 1<<40
		}
		t.Run(fmt.Sprintf("%d with %d kB", c.streams, c.prompt>>10), func(t *testing.T) {
			c.streams = allow(t, c.streams)
			up := newUpstream(t, c.pace, over)
			limits := []string{"1b tokens per minute", "$100000 each month", "20000 at once"}
			p := harness.Start(t, harness.Config{
				Upstream: up.url, UpstreamExtra: fakeopenai.Trust(up.caFile), Limits: limits, BobLimits: limits,
				More: "groups:\n  all: { keys: [\"*\"], limits: [\"10b tokens in any minute\"] }\n",
			})
			before := p.RSS(t)
			p.ResetPeak(t)
			began := time.Now()
			clients := make([]*client, c.streams)
			room := make(chan struct{}, c.opening)
			var opened, ended sync.WaitGroup
			for i := range clients {
				clients[i] = &client{name: nameOf(i)}
				room <- struct{}{}
				opened.Add(1)
				ended.Go(func() {
					clients[i].run(strings.TrimPrefix(p.URL, "http://"), c.prompt, func() { <-room; opened.Done() })
				})
			}
			opened.Wait()
			took := time.Since(began)
			running, _ := p.Metrics(t).Sum("tokenfare_open_reservations")
			if int(running) != c.streams {
				t.Errorf("%v streams run at the same time, want %d", running, c.streams)
			}
			opening := p.PeakRSS(t)
			p.ResetPeak(t)
			<-time.After(2 * c.pace) // they say a word or two, all of them
			slow := p.PeakRSS(t)
			close(up.end)
			ended.Wait()
			peak := max(opening, slow, p.PeakRSS(t))

			wrong := 0
			for _, one := range clients {
				if err := one.check(up.words[one.name]); err != nil {
					if wrong++; wrong <= 3 {
						t.Errorf("%s: %v", one.name, err)
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d streams are not what the upstream sent", wrong, c.streams)
			}
			if asked := up.asked.Load(); int(asked) != c.streams {
				t.Errorf("the upstream was asked %d times", asked)
			}
			p.WantIdle(t)
			if complete, _ := p.Metrics(t).Sum("tokenfare_endings_total", "ending", "complete"); int(complete) != c.streams {
				t.Errorf("%v calls are complete", complete)
			}
			t.Logf("opened in %s; MiB resident: %d before, at most %d while they open, %d while they run, %d altogether: %.1f KiB a stream",
				took.Round(100*time.Millisecond), before>>20, opening>>20, slow>>20, peak>>20, float64(peak-before)/1024/float64(c.streams))
			if peak > c.most {
				t.Errorf("%d MiB were resident, and may be %d", peak>>20, c.most>>20)
			}
		})
	}
}
