package ledgertest

import (
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// A ledger of the first version opens, says what it said, is written to, and is as if it had been made by this program.
func (s Schema) opens(t *testing.T) {
	l, db := s.frozen(t)
	if behind(t, db) == 0 {
		t.Error("all rows of the frozen ledger are in its sums, and nothing is left to be added")
	}
	want := frozenBooks()
	store := l.Open(t)
	s.upToDate(t, db)
	same(t, "opened", glance(t, store, want.read), want)
	balances(t, store, 1)
	s.drawnThen(t, store)

	open, _ := unended()
	w, _, stop := writing(t, store, ledger.Options{RollEvery: time.Millisecond})
	s.drawnThen(t, store)
	eventually(t, "what had not ended is ended", func() bool { return len(glance(t, store, view.unfinished)) == 0 })
	crashed := glance(t, store, func(v view) *ledger.Exchange { return v.find(open.Begin.Exchange) }).End
	if died := made("03-10 12:07:30"); crashed.Seq <= died || crashed.Seq.Time().Sub(died.Time()) > time.Millisecond {
		t.Errorf("what had not ended was ended at %v, and its process was last seen at %v", crashed.Seq.Time(), died.Time())
	}
	s.drawnThen(t, store)
	want.crash(crashed.Seq)
	writeBeside(t, w, store, want)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	same(t, "written to", glance(t, store, want.read), want)
	balances(t, store, 0)
	if n := behind(t, db); n != 0 {
		t.Errorf("%d rows are not in the sums", n)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}

	store = l.Open(t)
	defer store.Close()
	_, again, stop := writing(t, store, ledger.Options{RollEvery: time.Millisecond})
	if err := stop(); err != nil || again != 0 {
		t.Errorf("opened again: %d exchanges are ended, %v", again, err)
	}
	same(t, "opened again", glance(t, store, want.read), want)
	same(t, "read by others", glance(t, reading(t, l), want.read), want)
	balances(t, store, 0)
	s.upToDate(t, db)
}

// drawnThen fails the test if what was drawn is dated later than its process was seen alive: nothing was spent then. It is so before
// the exchange is ended, while that is being done, and after.
func (Schema) drawnThen(t *testing.T, store ledger.Store) {
	t.Helper()
	next := made("03-10 12:15:00").Time()
	since := func(at time.Time, of ledger.Budget) ledger.Want {
		return ledger.Want{Budget: of.Name, Since: at, Detail: ledger.BySlot}
	}
	same(t, "charged since the process was seen last", glance(t, store, func(v view) []int64 {
		return v.spent(since(next, dollarsOfBob), since(next, outputOfBob))
	}), []int64{0, 0})
	same(t, "charged in the quarter of an hour before", glance(t, store, func(v view) []int64 {
		return v.spent(since(next.Add(-ledger.SlotLength), dollarsOfBob), since(next.Add(-ledger.SlotLength), outputOfBob))
	}), []int64{3_625_000 + 31_950, 300 + 45}) // with that of another call
}

// upToDate fails the test unless the tables are those of a ledger that is new.
func (s Schema) upToDate(t *testing.T, db *sql.DB) {
	t.Helper()
	fresh, tables := s.New(t)
	fresh.Open(t).Close()
	same(t, "schema, beside that of a new ledger", s.shape(t, db), s.shape(t, tables))
	if got := s.version(t, db); got != len(s.Steps) {
		t.Errorf("the schema has version %d, want %d", got, len(s.Steps))
	}
}

// behind is how many rows are not in the sums.
func behind(t *testing.T, db *sql.DB) int64 {
	t.Helper()
	return number(t, db, `SELECT (SELECT COUNT(*) FROM ends e JOIN writers w ON w.slot = e.seq % 1024 WHERE e.seq > w.rolled) +
		(SELECT COUNT(*) FROM corrections c JOIN writers w ON w.slot = c.seq % 1024 WHERE c.seq > w.rolled)`)
}

// balances proves the books of what is left of the frozen ledger, and of what was written besides.
func balances(t *testing.T, store ledger.Store, open int64) {
	t.Helper()
	v := look(t, store)
	defer v.close()
	r, err := ledger.Verify(t.Context(), v.s, ledger.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Balances() || len(r.Unknown) != 0 {
		t.Errorf("the books do not balance: %+v, unknown units %q", r.Differences, r.Unknown)
	}
	if got, want := r.Exchanges, int64(len(v.began(ever.from, ever.to))); got != want || r.Open.N != open || r.Corrections < 3 || r.Hours < 9 {
		t.Errorf("the proof is of %d exchanges, %d corrections and %d hours, and %d exchanges are open; want %d, 3, 9 and %d", got, r.Corrections, r.Hours, r.Open.N, want, open)
	}
}

// writeBeside writes rows of every kind beside those that are there: with names that are known, and with new ones.
func writeBeside(t *testing.T, w *ledger.Writer, store ledger.Store, b *books) {
	t.Helper()
	known := call("alice", tokensOfGroup.Name, 70)
	known.Series, known.Price = aliceChat, "p2"
	for _, begin := range []*ledger.Begin{known, call("carol", "key carol: tokens each day", 50)} {
		begin.Exchange = w.IDs().Next()
		x := ledger.Exchange{Begin: *begin}
		durable(t, w.Begin(begin))
		d := ledger.Draw{Exchange: begin.Exchange, Step: 1, More: cost.Usage{Output: 5}, Reserved: 5000, Charges: []ledger.Charge{{Budget: begin.Charges[0].Budget, N: 5}}}
		x.Draws = []ledger.Draw{d}
		durable(t, w.Draw(&d))
		x.End = answer(&x.Begin, begin.Charges[0].N, 3)
		e := *x.End
		durable(t, w.End(&e))
		x.End.Seq = e.Seq
		c := *amend(&x.Begin, x.End, -2)
		r := c
		durable(t, w.Correct([]*ledger.Correction{&r}))
		c.Seq = r.Seq
		b.add(x, c)
	}
	w.Price(ledger.PriceCard{Version: "p1", Card: "another"}) // a version that is there stays as it is
	w.Price(ledger.PriceCard{Version: "p3", Card: "{}"})
	b.Prices["p3"] = "{}"
	notice := ledger.Notice{Budget: "key carol: tokens each day", Period: time.Now().Add(time.Hour).Unix(), At: "80%"}
	b.All.Notices = append(b.All.Notices, notice, ledger.Notice{Budget: dollarsOfBob.Name, At: "80%"})
	w.Notify(b.All.Notices[len(b.All.Notices)-1])
	refused := ledger.Refusal{Hour: ledger.HourOf(time.Now()), Key: "carol", Model: "gpt-5", Code: "rate_limit_exceeded", N: 1}
	w.Refused(refused.Key, refused.Model, refused.Code)
	next := ledger.HourOf(time.Now())
	durable(t, w.Notify(notice))
	if !slices.Contains(glance(t, store, func(v view) []ledger.Refusal { return v.refusals(ever.from, ever.to) }), refused) {
		refused.Hour = next // the hour may just have ended
	}
	b.All.Refusals = append(b.All.Refusals, refused)
	b.sort()
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !so(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("after a minute it is still not so: %s", what)
		}
	}
}
