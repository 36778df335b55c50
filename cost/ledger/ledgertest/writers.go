package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Many callers share a writer. Every row they were told is durable is there, at once and after the writer has ended.
func manyCallers(t *testing.T, _ Harness, l Ledger) {
	const callers, calls = 50, 20
	store := l.Open(t)
	defer store.Close()
	reader := reading(t, l)
	w, _, stop := writing(t, store, ledger.Options{RollEvery: 5 * time.Millisecond})
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			key := fmt.Sprint("key", i)
			for n := range calls {
				b := call(key, key, int64(n+1))
				b.Exchange = w.IDs().Next()
				ticket := w.Begin(b)
				if err := ticket.Wait(t.Context()); err != nil {
					t.Error(err)
					return
				}
				if n == calls/2 && glance(t, reader, func(v view) *ledger.Exchange { return v.find(b.Exchange) }) == nil {
					t.Errorf("%v is said to be durable, and is not found", b.Exchange)
				}
				d := &ledger.Draw{Exchange: b.Exchange, Step: 1, More: cost.Usage{Output: 1}, Charges: []ledger.Charge{{Budget: tokens(key), N: 1}}}
				if err := w.Draw(d).Wait(t.Context()); err != nil {
					t.Error(err)
					return
				}
				e := answer(b, int64(n+1), 1)
				w.End(e)
				if n%5 == 0 {
					w.Correct([]*ledger.Correction{amend(b, e, 1000)})
				}
				w.Refused(key, "model", "code")
			}
		})
	}
	wg.Wait()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if s := w.Stats(); s.Lost != 0 || s.Failures != 0 || s.Queued != 0 || s.Rows < 3*callers*calls {
		t.Errorf("%+v", s)
	}
	v := look(t, reader)
	defer v.close()
	hours := v.hours(ledger.HourQuery{From: ever.from, To: ever.to, Series: true})
	refused := map[string]int64{}
	for _, r := range v.refusals(ever.from, ever.to) {
		refused[r.Key] += r.N
	}
	const used = calls*(calls+1)/2 + calls + 4*1000
	for i := range callers {
		key := fmt.Sprint("key", i)
		s := hours[ledger.Hour{Series: call(key, key, 1).Series}]
		if spent := v.spent(ledger.Want{Budget: key})[0]; s.Requests != calls || s.Cost != 1000*used || spent != used || refused[key] != calls {
			t.Errorf("%s: sums %+v, %d spent, %d refused; want %d calls, %d spent, %d refused", key, s, spent, refused[key], calls, used, calls)
		}
	}
}

// mortal is a store that its process dies with: from then on nothing reaches the ledger.
type mortal struct {
	ledger.Store
	dead atomic.Bool
}

var errDead = errors.New("this process is dead")

func (m *mortal) Commit(ctx context.Context, b *ledger.Batch) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Commit(ctx, b)
}

// Processes die at moments that nobody chose. What was durable counts: as it ended, or, where that is not known, as reserved.
func dyingProcesses(t *testing.T, _ Harness, l Ledger) {
	const lives, callers = 12, 8
	var mu sync.Mutex
	reserved, ends := map[ledger.ID]int64{}, map[ledger.ID]int64{} // what of each exchange is durable for sure
	for life := range lives {
		store := &mortal{Store: l.Open(t)}
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		w, _, err := ledger.Open(ctx, store, ledger.Options{RollEvery: time.Duration(life%4) * 2 * time.Millisecond, Gap: time.Microsecond, Patience: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		calling, hangUp := context.WithCancel(t.Context())
		before := len(reserved)
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				for n := int64(1); ; n++ {
					b := call("key", "budget", 10*n)
					b.Exchange = w.IDs().Next()
					if w.Begin(b).Wait(calling) != nil {
						return
					}
					mu.Lock()
					reserved[b.Exchange] = 10 * n
					mu.Unlock()
					if n%3 == 0 {
						continue // it never ends
					}
					if w.End(answer(b, n, 0)).Wait(calling) != nil {
						return
					}
					mu.Lock()
					ends[b.Exchange] = n
					mu.Unlock()
				}
			})
		}
		// So many of this life's own that some caller has begun a third one, which never ends: each life leaves something to charge.
		for enough := before + 5*callers; ; {
			mu.Lock()
			n := len(reserved)
			mu.Unlock()
			if n >= enough || t.Failed() {
				break
			}
			<-time.After(time.Millisecond)
		}
		store.dead.Store(true)
		cancel()
		hangUp()
		wg.Wait()
		l.Crash(t, store.Store)
	}
	store := l.Open(t)
	defer store.Close()
	w, crashed, stop := writing(t, store, ledger.Options{})
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	v := look(t, store)
	defer v.close()
	var spent, charged int64
	for _, x := range v.ended(ever.from, ever.to) {
		id, n := x.Begin.Exchange, x.End.Charges[0].N
		spent += n
		if r, known := reserved[id]; known {
			if e, known := ends[id]; known && n != e || n != r && n != r/10 {
				t.Errorf("%v had reserved %d, was charged %d, and had ended with %d", id, r, n, e)
			}
			charged++
		}
	}
	if int(charged) != len(reserved) || len(v.unfinished()) > 0 {
		t.Errorf("%d exchanges are durable, %d were charged, and %d are unfinished", len(reserved), charged, len(v.unfinished()))
	}
	if crashed == 0 || w.Err() != nil {
		t.Errorf("%d had crashed; %v", crashed, w.Err())
	}
	same(t, "charged", v.spent(ledger.Want{Budget: "budget"}), []int64{spent})
	sums := v.hours(ledger.HourQuery{From: ever.from, To: ever.to})[ledger.Hour{}]
	if int64(sums.Cost) != 1000*spent || int(sums.Requests) != len(v.ended(ever.from, ever.to)) {
		t.Errorf("sums %+v; %d was charged", sums, spent)
	}
}
