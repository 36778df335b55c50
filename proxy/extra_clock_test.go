package proxy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// TestExtrasFollowTheClock wherever it is set, backwards, too; as long as no date is passed, the policy is one and the same.
func TestExtrasFollowTheClock(t *testing.T) {
	l, err := limit.Parse("100 tokens in total", nil)
	if err != nil {
		t.Fatal(err)
	}
	var extra []limit.Extra
	for _, s := range []string{"+50 tokens until 2130-01-01", "+7 tokens until 2140-01-01"} {
		e, err := limit.ParseExtra(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		extra = append(extra, e)
	}
	memory := limiter.NewMemory()
	policy, err := NewPolicy(Spec{
		Upstreams: []UpstreamSpec{{Name: "up", URL: "http://127.0.0.1:1/v1"}},
		Keys:      []KeySpec{{Name: "alice", Hashes: [][32]byte{{1}, {2}}, Limits: []limit.Limit{l}, Extra: extra}, {Name: "bob", Hashes: [][32]byte{{3}}}},
	}, memory, &cost.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Limiter: memory, Estimator: cost.NewEstimator()}, policy)
	if err != nil {
		t.Fatal(err)
	}
	last := policy
	for _, c := range []struct {
		day   string
		want  int64
		moved bool
	}{
		{"2129-12-31", 157, false},
		{"2130-01-01", 107, true},
		{"2139-12-31", 107, false},
		{"2129-12-30", 157, true},
		{"2141-01-01", 100, true},
		{"2199-01-01", 100, false},
		{"2000-01-01", 157, true},
		{"2135-01-01", 107, true},
		{"2145-01-01", 100, true},
		{"2135-01-01", 107, true},
	} {
		at, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		s.wall = func() time.Time { return at }
		p := s.current()
		if (p != last) != c.moved {
			t.Errorf("%s: another policy: %v, want %v", c.day, p != last, c.moved)
		}
		last = p
		alice, bob := p.callers[[32]byte{1}], p.callers[[32]byte{3}]
		if alice != p.callers[[32]byte{2}] || alice.bodies != policy.callers[[32]byte{1}].bodies || bob.name != "bob" || len(p.callers) != 3 {
			t.Fatalf("%s: callers %+v", c.day, p.callers)
		}
		if p.budgets[0] != alice.budgets[0] || alice.budgets[0].series == nil {
			t.Fatalf("%s: alice's budget %+v is not the policy's %+v", c.day, alice.budgets[0], p.budgets[0])
		}
		if got := alice.budgets[0].limit.Amount; got != c.want {
			t.Errorf("%s: alice's limit is %d, want %d", c.day, got, c.want)
		}
		if diff := cmp.Diff(limiter.Rule(limiter.Total{Limit: c.want}), alice.budgets[0].handle.Rule()); diff != "" {
			t.Errorf("%s: the rule in effect (-want +got):\n%s", c.day, diff)
		}
	}
}
