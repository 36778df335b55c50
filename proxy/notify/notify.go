package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy"
)

// Quotas tells the quotas of which at least that percentage is used. [proxy.Server] does.
type Quotas interface {
	Quotas(ctx context.Context, percent int64) ([]proxy.Quota, error)
}

// Ledger remembers of what people were told, whichever process told them.
type Ledger interface {
	Told(ctx context.Context) ([]ledger.Notice, error)
	Tell(n ledger.Notice) // does not wait until it is kept
}

// Options are what a [Notifier] is made of. Quotas is required.
type Options struct {
	Quotas    Quotas
	Ledger    Ledger                // remembers who was told; nil: this process alone does
	Registry  prometheus.Registerer // nil: no metrics are exported
	Log       *slog.Logger          // nil: nothing is logged
	Transport http.RoundTripper     // nil: one of its own
}

// Settings say whom to tell, and when. Their zero value tells nobody.
type Settings struct {
	URL  string         // of a webhook that takes what Slack's take; a secret
	At   []int64        // percentages from 1 to 100, rising; at least one if there is a URL
	Zone *time.Location // of the dates in messages; nil means UTC
	Help string         // last sentence of every message; may be empty
}

// How often budgets are looked at, and how long is waited after failures, twice as long after each.
const (
	lookEvery  = time.Second
	firstRetry = time.Second
	slowRetry  = 5 * time.Minute
)

// Notifier tells people of their budgets.
type Notifier struct {
	options  Options
	hook     hook
	metrics  *metrics
	settings atomic.Pointer[Settings]

	// Belongs to Run.
	current  *Settings
	told     record
	failures int       // in a row
	again    time.Time // not before then
}

// New makes a Notifier that tells nobody before Set.
func New(o Options) (*Notifier, error) {
	if o.Quotas == nil {
		return nil, errors.New("notify: Options.Quotas is missing")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	n := &Notifier{options: o, hook: newHook(o.Transport), metrics: newMetrics(), current: &Settings{}, told: record{}}
	n.settings.Store(n.current)
	if o.Registry != nil {
		if err := n.metrics.register(o.Registry); err != nil {
			return nil, fmt.Errorf("notify: register metrics: %w", err)
		}
	}
	return n, nil
}

// Set changes whom to tell, and when. It may be called at any time, from any goroutine. Another receiver is tried at once,
// however often the old one has failed. A URL without thresholds panics: the configuration is checked before it gets here.
func (n *Notifier) Set(s Settings) {
	if s.URL != "" && len(s.At) == 0 {
		panic("BUG: notify: somebody is to be told, and nobody said when")
	}
	if s.Zone == nil {
		s.Zone = time.UTC
	}
	n.settings.Store(&s)
}

// Run tells people until ctx ends, and then returns nil; a message that is on its way is given two more seconds. Call it once.
func (n *Notifier) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			n.look(ctx)
		}
	}
}

// look tells what is due, as much of it as one message holds.
func (n *Notifier) look(ctx context.Context) {
	s := n.settings.Load()
	if s.URL != n.current.URL {
		n.failures, n.again = 0, time.Time{}
	}
	n.current = s
	if s.URL == "" {
		n.metrics.waiting.Set(0)
		return
	}
	if time.Now().Before(n.again) {
		return
	}
	quotas, err := n.options.Quotas.Quotas(ctx, min(s.At[0], almost))
	if err != nil {
		n.failed(err, 0)
		return
	}
	list, err := n.due(ctx, quotas, s.At)
	if err != nil {
		n.failed(err, 0)
		return
	}
	if len(list) == 0 {
		return
	}
	list = n.next(list)
	text, fit := message(list, s)
	n.tell(ctx, s, list[:fit], text)
}

// due lists the quotas of which somebody is to be told. Whoever was told by another process, be it an earlier one, is not.
func (n *Notifier) due(ctx context.Context, quotas []proxy.Quota, at []int64) ([]due, error) {
	list := n.told.due(quotas, at)
	n.metrics.waiting.Set(float64(len(list)))
	if len(list) == 0 {
		return nil, nil
	}
	n.told.forget(time.Now())
	if n.options.Ledger == nil {
		return list, nil
	}
	kept, err := n.options.Ledger.Told(ctx)
	if err != nil {
		return nil, err
	}
	n.told.learn(kept, time.Now())
	list = n.told.due(quotas, at)
	n.metrics.waiting.Set(float64(len(list)))
	return list, nil
}

// next is what to try next of what is due. After a failure that is a single notice, another one each time: whatever the
// receiver minds about one of them, it does not keep the others from being told.
func (n *Notifier) next(list []due) []due {
	if n.failures == 0 {
		return list
	}
	i := n.failures % len(list)
	return list[i : i+1]
}

func (n *Notifier) tell(ctx context.Context, s *Settings, list []due, text string) {
	if err := n.hook.post(ctx, s.URL, text); err != nil {
		n.metrics.failed.Add(float64(len(list)))
		n.failed(err, retryAfter(err))
		return
	}
	n.failures, n.again = 0, time.Time{}
	n.metrics.delivered.Add(float64(len(list)))
	n.metrics.waiting.Sub(float64(len(list)))
	for _, d := range list {
		for _, notice := range n.told.add(d, s.At) {
			if n.options.Ledger != nil {
				n.options.Ledger.Tell(notice)
			}
		}
		n.options.Log.Info("notice delivered", "budget", d.Name, "at_percent", d.at, "used_percent", d.Percent)
	}
}

// failed waits before the next try, at least as long as the receiver has asked for, if that is not too long.
func (n *Notifier) failed(err error, atLeast time.Duration) {
	wait := min(max(firstRetry<<min(n.failures, 20), atLeast), slowRetry)
	n.failures++
	n.again = time.Now().Add(wait)
	n.options.Log.Error("notice not delivered", "error", err.Error(), "failures", n.failures, "again_in_s", int64(wait/time.Second))
}
