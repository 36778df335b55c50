package notify_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/notify"
)

func TestOnceForEachThresholdAndPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		r.uses(month("alice", 79, firstOf(time.February)))
		r.hears(time.Minute)
		r.uses(month("alice", 80, firstOf(time.February)))
		r.hears(time.Second, "key alice has used 80 %")
		r.wantKept("key alice: dollars each month 2000-02-01 80%")
		r.hears(time.Hour)
		r.uses(month("alice", 99, firstOf(time.February)))
		r.hears(time.Hour)
		r.uses(month("alice", 100, firstOf(time.February)))
		r.hears(time.Second, "Its calls are refused until it resets on Tuesday 1 February 2000 00:00 UTC")
		r.wantKept("key alice: dollars each month 2000-02-01 100%")
		r.uses(month("alice", 104, firstOf(time.February)))
		r.hears(time.Hour)

		r.uses(month("alice", 3, firstOf(time.March)))
		r.hears(time.Hour)
		r.uses(month("alice", 85, firstOf(time.March)))
		r.hears(time.Second, "key alice has used 85 %")
		r.wantKept("key alice: dollars each month 2000-03-01 80%")
	})
}

func TestOfSeveralThresholdsTheHighestIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		r.uses(month("alice", 101, firstOf(time.February)))
		r.hears(time.Minute, "key alice has used 101 %")
		r.wantKept("key alice: dollars each month 2000-02-01 80%", "key alice: dollars each month 2000-02-01 100%")
		r.uses(month("alice", 85, firstOf(time.February))) // its limit was raised, or a charge was corrected
		r.hears(time.Hour)
	})
}

// A budget is most often used up without the last of it ever being used: then calls are refused.
func TestWhatIsRefusedIsUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		refused := month("alice", 85, firstOf(time.February))
		refused.Refused = true
		r.uses(refused) // a single large one
		r.hears(time.Minute, "key alice has used 85 %")
		refused.Percent = 98
		r.uses(refused)
		r.hears(time.Second, "98 %")
		r.wantKept("key alice: dollars each month 2000-02-01 80%", "key alice: dollars each month 2000-02-01 100%")
		r.uses(month("alice", 100, firstOf(time.February)))
		r.hears(time.Minute)
	})
}

// That is what 100 % stands for, and no other threshold, be it the only one.
func TestWhatIsRefusedIsAThresholdOfItsOwn(t *testing.T) {
	for at, heard := range map[int64]bool{95: false, 100: true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRoom(t)
			r.notifier.Set(notify.Settings{URL: webhook, At: []int64{at}})
			refused := month("alice", 92, firstOf(time.February))
			refused.Refused = true
			r.uses(refused)
			if heard {
				r.hears(time.Minute, "92 %")
			} else {
				r.hears(time.Minute)
			}
		})
	}
}

func TestARestartDoesNotRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		february, total := firstOf(time.February).Unix(), proxy.Quota{Name: "key bob: tokens in total", Owner: "key bob", Limit: parse("100 tokens in total"), Percent: 90, State: limiter.State{Limit: 100}}
		r := newRoom(
			t,
			ledger.Notice{Budget: "key alice: dollars each month", Period: february, At: "80%"},
			ledger.Notice{Budget: "key carol: dollars each month", Period: february, At: "100%"},
			ledger.Notice{Budget: "key carol: dollars each month", Period: february, At: "80%"},
			ledger.Notice{Budget: "key dave: dollars each month", Period: firstOf(time.January).Unix(), At: "100%"},
			ledger.Notice{Budget: "key eve: dollars each month", Period: february, At: "most of it"},
			ledger.Notice{Budget: total.Name, At: "80% of 100"},
		)
		r.uses(month("alice", 90, firstOf(time.February)), month("carol", 110, firstOf(time.February)), total)
		r.hears(time.Hour)
		total.Percent = 100
		r.uses(month("alice", 100, firstOf(time.February)), month("dave", 80, firstOf(time.February)), month("eve", 80, firstOf(time.February)), total)
		r.hears(time.Second, "key alice has used 100 %")
		r.wantKept("key alice: dollars each month 2000-02-01 100%", "key dave: dollars each month 2000-02-01 80%", "key eve: dollars each month 2000-02-01 80%", "key bob: tokens in total never 100% of 100")
	})
}

// A budget that never resets is told of anew when it was topped up, and only then.
func TestAToppedUpTotalIsToldOfAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		total := func(percent, amount int64) proxy.Quota {
			return proxy.Quota{Name: "key bob: tokens in total", Owner: "key bob", Limit: parse("100 tokens in total"), Percent: percent, State: limiter.State{Limit: amount}}
		}
		r := newRoom(t)
		r.uses(total(100, 100))
		r.hears(time.Second, "key bob has used 100 %")
		r.uses(total(10, 1000))
		r.hears(time.Hour)
		r.uses(total(85, 1000))
		r.hears(time.Second, "key bob has used 85 %")
		r.uses(total(75, 1000)) // something was given back
		r.hears(time.Second)
		r.uses(total(85, 1000))
		r.hears(time.Hour)
	})
}

// Of several processes with one ledger the first tells, whatever the others know by themselves.
func TestWhatAnotherProcessTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		february := firstOf(time.February)
		r.uses(month("alice", 81, february))
		r.hears(time.Second, "81 %")
		r.mu.Lock()
		r.past = []ledger.Notice{
			{Budget: "key alice: dollars each month", Period: february.Unix(), At: "100%"},
			{Budget: "key alice: dollars each month", Period: february.Add(time.Hour).Unix(), At: "80%"}, // its clocks are another zone's
			{Budget: "key bob: dollars each month", Period: february.Add(time.Hour).Unix(), At: "80%"},
		}
		r.mu.Unlock()
		r.uses(month("alice", 100, february), month("bob", 80, february))
		r.hears(time.Hour, "key bob has used 80 %")
	})
}

// While the ledger cannot be read nobody knows who was told, so nobody is.
func TestWhileTheLedgerCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		r.noLedger = errors.New("read ledger: no such table")
		r.uses(month("alice", 81, firstOf(time.February)))
		r.hears(time.Minute)
		if log := r.log.String(); strings.Count(log, "no such table") != 6 {
			t.Errorf("the log does not say why, or says it too often: %s", log)
		}
		r.mu.Lock()
		r.noLedger = nil
		r.mu.Unlock()
		r.hears(time.Minute, "81 %")
	})
}

func TestWhileTheReceiverIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		r.down()
		r.uses(month("alice", 80, firstOf(time.February)), month("bob", 80, firstOf(time.January).Add(20*time.Minute)))
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		seconds := func(s ...int) (out []time.Duration) {
			for _, n := range s {
				out = append(out, time.Duration(n)*time.Second)
			}
			return out
		}
		// 1, 2, 4 … seconds after each other, never more than five minutes.
		if diff := cmp.Diff(seconds(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 812, 1112), r.tries); diff != "" {
			t.Errorf("tries (-want +got):\n%s", diff)
		}
		if n := testutil.ToFloat64(gauge{r.registry, "tokenfare_notices_waiting"}); n != 2 {
			t.Errorf("%v notices wait, want 2", n)
		}
		r.wantKept()
		r.uses(month("alice", 93, firstOf(time.February))) // bob's period is over
		r.up()
		r.hears(5*time.Minute, "key alice has used 93 %")
		r.wantKept("key alice: dollars each month 2000-02-01 80%")
		r.hears(time.Hour)
		const want = `
# HELP tokenfare_notices_total Tries to tell somebody of a budget, by result: delivered or failed.
# TYPE tokenfare_notices_total counter
tokenfare_notices_total{result="delivered"} 1
tokenfare_notices_total{result="failed"} 13
# HELP tokenfare_notices_waiting Budgets of which somebody is to be told and was not yet.
# TYPE tokenfare_notices_waiting gauge
tokenfare_notices_waiting 0
`
		if err := testutil.GatherAndCompare(r.registry, strings.NewReader(want)); err != nil {
			t.Error(err)
		}
		if log := r.log.String(); !strings.Contains(log, "the webhook answered 500") || strings.Contains(log, "hooks.example.com") || strings.Contains(log, "the-secret-token") {
			t.Errorf("the log does not say why, or shows the address:\n%s", log)
		}
	})
}

// gauge collects one metric of a registry.
type gauge struct {
	from *prometheus.Registry
	name string
}

func (g gauge) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(g, out) }

func (g gauge) Collect(out chan<- prometheus.Metric) {
	families, _ := g.from.Gather()
	for _, f := range families {
		if f.GetName() == g.name {
			out <- prometheus.MustNewConstMetric(prometheus.NewDesc(g.name, f.GetHelp(), nil, nil), prometheus.GaugeValue, f.GetMetric()[0].GetGauge().GetValue())
		}
	}
}

// A receiver that wants to be left alone is, for as long as it says; but not for ever.
func TestRetryAfterIsHeard(t *testing.T) {
	for after, want := range map[string][]time.Duration{
		"60":     {time.Second, 61 * time.Second},
		"86400":  {time.Second, 301 * time.Second},
		"-3":     {time.Second, 2 * time.Second},
		"a week": {time.Second, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRoom(t)
			r.answers(func(*http.Request) (*http.Response, error) {
				r.up()
				busy := reply(429)
				busy.Header.Set("Retry-After", after)
				return busy, nil
			})
			r.uses(month("alice", 80, firstOf(time.February)))
			r.hears(10*time.Minute, "key alice")
			if diff := cmp.Diff(want, r.tries); diff != "" {
				t.Errorf("Retry-After: %s: tries (-want +got):\n%s", after, diff)
			}
		})
	}
}

// Whatever a receiver minds about one message, the others get through.
func TestAMessageThatIsMindedKeepsNoOtherFromBeingTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		r.answers(func(request *http.Request) (*http.Response, error) {
			if body, err := io.ReadAll(request.Body); err != nil || bytes.Contains(body, []byte("key bad")) {
				return reply(400), err
			}
			return reply(200), nil
		})
		february := firstOf(time.February)
		r.uses(month("bad", 80, february), month("alice", 80, february), month("bob", 80, february))
		r.hears(time.Minute, "key alice", "key bob")
		r.uses(month("bad", 80, february), month("alice", 80, february), month("bob", 80, february), month("carol", 80, february))
		r.hears(10*time.Minute, "key carol")
	})
}

func TestWhatIsDueTogetherIsOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		var all []proxy.Quota
		for i := range 40 {
			all = append(all, month("k"+string(rune('a'+i)), 80, firstOf(time.February)))
		}
		r.uses(all...)
		time.Sleep(time.Minute)
		synctest.Wait()
		lines := 0
		for i, text := range r.heard {
			lines += strings.Count(text, "\n") + 1
			if len(text) > 1600 {
				t.Errorf("message %d has %d bytes", i, len(text))
			}
			if i > 0 && r.tries[i]-r.tries[i-1] != time.Second {
				t.Errorf("message %d came %v after the last", i, r.tries[i]-r.tries[i-1])
			}
		}
		if lines != 40 || len(r.heard) < 2 || len(r.heard) > 6 {
			t.Errorf("%d notices in %d messages, want 40 in a few", lines, len(r.heard))
		}
	})
}

func TestSettingsChangeWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		r.answers(func(request *http.Request) (*http.Response, error) {
			if request.URL.String() == webhook {
				return reply(404), nil
			}
			return reply(200), nil
		})
		february := firstOf(time.February)
		r.uses(month("alice", 85, february))
		r.hears(10 * time.Minute)
		r.notifier.Set(notify.Settings{URL: "https://chat.example.org/hook", At: []int64{80, 100}, Help: "Ask in #ai."})
		r.hears(time.Second, "key alice has used 85 % of \"$50 each month\": $42.50 of $50.00. It resets on Tuesday 1 February 2000 00:00 UTC. Ask in #ai.")
		r.notifier.Set(notify.Settings{})
		r.uses(month("alice", 100, february))
		r.hears(time.Hour)
		// A threshold between two that were told is news once; one below is not.
		r.uses(month("alice", 92, february))
		r.notifier.Set(notify.Settings{URL: "https://chat.example.org/hook", At: []int64{50}})
		r.hears(time.Hour)
		r.notifier.Set(notify.Settings{URL: "https://chat.example.org/hook", At: []int64{50, 90}})
		r.hears(time.Second, "92 %")
		r.wantKept("key alice: dollars each month 2000-02-01 80%", "key alice: dollars each month 2000-02-01 90%")
	})
}

// A receiver that never answers is given ten seconds, and two when the program ends.
func TestAReceiverThatHangs(t *testing.T) {
	hang := func(request *http.Request) (*http.Response, error) {
		<-request.Context().Done()
		return nil, request.Context().Err()
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		r.answers(hang)
		r.uses(month("alice", 80, firstOf(time.February)))
		r.hears(10 * time.Second)
		r.up()
		r.hears(2*time.Second, "key alice")
		if !strings.Contains(r.log.String(), "did not answer in time") {
			t.Errorf("the log does not say why: %s", r.log.String())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		r.answers(hang)
		r.uses(month("alice", 80, firstOf(time.February)))
		time.Sleep(1500 * time.Millisecond)
		ended := time.Now()
		r.stop()
		time.Sleep(time.Hour) // the bubble ends only if Run does
		synctest.Wait()
		if log := r.log.String(); !strings.Contains(log, "the program ended before the webhook answered") || !strings.Contains(log, ended.Add(2*time.Second).Format("15:04:05")) {
			t.Errorf("it was not cut after two seconds: %s", log)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		r.answers(func(*http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return reply(200), nil
		})
		r.uses(month("alice", 80, firstOf(time.February)))
		time.Sleep(1500 * time.Millisecond)
		r.stop()
		r.hears(time.Minute, "key alice")
		r.wantKept("key alice: dollars each month 2000-02-01 80%") // what was taken is known to be
	})
}
