package limitertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// remote is a Limiter whose budgets are in a Memory at the other end of a
// connection: it knows them by name, every call is a line of JSON there and
// one back, and a clock of milliseconds is all it has.
type remote struct {
	mu      sync.Mutex // one call at a time
	conn    net.Conn
	answers *json.Decoder

	names   sync.Mutex
	handles map[string]*limiter.Budget
}

// question and answer are what goes over the connection.
type question struct {
	Verb    string
	Call    int      // number of a reservation, for draw, settle and cancel
	Budgets []string // of the charges, or the name for budget
	N       []int64
	Kind    string // of the rule for budget
	Rule    json.RawMessage
	Zone    string
	Revised int64 // its generation, 0: none
}

type answer struct {
	Err      string
	Misuse   bool
	Call     int
	Decision limiter.Decision
	States   []limiter.State
}

func remoteHarness() Harness {
	return Harness{
		New: func(t testing.TB) limiter.Limiter {
			ours, theirs := net.Pipe()
			served := make(chan struct{})
			go func() {
				defer close(served)
				(&server{memory: limiter.NewMemory(), calls: map[int]*limiter.Reservation{}}).serve(theirs)
			}()
			t.Cleanup(func() {
				_ = ours.Close()
				<-served
			})
			return &remote{conn: ours, answers: json.NewDecoder(bufio.NewReader(ours)), handles: map[string]*limiter.Budget{}}
		},
		Advance: func(_ testing.TB, d time.Duration) { time.Sleep(d) },
		Tick:    time.Millisecond,
		Within:  synctest.Test,
	}
}

func (r *remote) ask(q question) (answer, error) {
	var a answer
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := json.NewEncoder(r.conn).Encode(q); err != nil {
		return a, err
	}
	if err := r.answers.Decode(&a); err != nil {
		return a, err
	}
	switch {
	case a.Misuse:
		return a, fmt.Errorf("%w: %s", limiter.ErrMisuse, a.Err)
	case a.Err != "":
		return a, errors.New(a.Err)
	}
	return a, nil
}

func (r *remote) Budget(name string, rule limiter.Rule) *limiter.Budget {
	q := question{Verb: "budget", Budgets: []string{name}}
	plain := rule
	if revision, ok := rule.(limiter.Revision); ok {
		if err := rule.Validate(); err != nil {
			panic("BUG: " + err.Error())
		}
		plain, q.Revised = revision.Rule, revision.Generation
	}
	r.names.Lock()
	defer r.names.Unlock()
	b := r.handles[name]
	if b == nil {
		b = limiter.NewBudget(r, name, rule, nil) // panics if the rule is not valid
		r.handles[name] = b
	} else {
		b.Revise(rule)
	}
	q.Kind = fmt.Sprintf("%T", plain)
	if quota, ok := plain.(limiter.CalendarQuota); ok && quota.Zone != nil {
		q.Zone, quota.Zone = quota.Zone.String(), nil
		plain = quota
	}
	var err error
	if q.Rule, err = json.Marshal(plain); err == nil {
		_, err = r.ask(q)
	}
	if err != nil {
		panic(fmt.Sprintf("BUG: budget %q: %v", name, err))
	}
	return b
}

func (r *remote) charged(q question, charges []limiter.Charge) (answer, error) {
	for _, c := range charges {
		if c.Budget == nil || c.Budget.Owner() != limiter.Limiter(r) {
			return answer{Decision: limiter.Decision{Refused: -1}}, fmt.Errorf("%w: not a budget of this limiter", limiter.ErrMisuse)
		}
		q.Budgets, q.N = append(q.Budgets, c.Budget.Name()), append(q.N, c.N)
	}
	a, err := r.ask(q)
	for i := range a.States {
		charges[i].State = a.States[i]
	}
	if err != nil {
		a.Decision = limiter.Decision{Refused: -1}
	}
	return a, err
}

func (r *remote) Reserve(_ context.Context, charges []limiter.Charge) (*limiter.Reservation, limiter.Decision, error) {
	a, err := r.charged(question{Verb: "reserve"}, charges)
	if err != nil || !a.Decision.OK {
		return nil, a.Decision, err
	}
	return limiter.NewReservation(remoteCall{r, a.Call}), a.Decision, nil
}

func (r *remote) TryAcquire(_ context.Context, charges []limiter.Charge) (limiter.Decision, error) {
	a, err := r.charged(question{Verb: "try"}, charges)
	return a.Decision, err
}

func (r *remote) Peek(_ context.Context, charges []limiter.Charge) (limiter.Decision, error) {
	a, err := r.charged(question{Verb: "peek"}, charges)
	return a.Decision, err
}

func (r *remote) Inc(_ context.Context, charges []limiter.Charge) error {
	_, err := r.charged(question{Verb: "inc"}, charges)
	return err
}

// remoteCall is the Backing of a reservation: its number at the other end.
type remoteCall struct {
	r  *remote
	id int
}

func (c remoteCall) Draw(_ context.Context, more []limiter.Charge) (limiter.Decision, error) {
	a, err := c.r.charged(question{Verb: "draw", Call: c.id}, more)
	return a.Decision, err
}

func (c remoteCall) Settle(_ context.Context, actual []int64) error {
	_, err := c.r.ask(question{Verb: "settle", Call: c.id, N: actual})
	return err
}

func (c remoteCall) Cancel(context.Context) error {
	_, err := c.r.ask(question{Verb: "cancel", Call: c.id})
	return err
}

// server is the other end.
type server struct {
	memory  *limiter.Memory
	handles map[string]*limiter.Budget
	calls   map[int]*limiter.Reservation
	zones   map[string]*time.Location
}

func (s *server) serve(conn net.Conn) {
	questions, answers := json.NewDecoder(conn), json.NewEncoder(conn)
	s.handles, s.zones = map[string]*limiter.Budget{}, map[string]*time.Location{}
	for {
		var q question
		if questions.Decode(&q) != nil {
			_ = conn.Close()
			return
		}
		a, err := s.answer(q)
		if err != nil {
			a.Err, a.Misuse = err.Error(), errors.Is(err, limiter.ErrMisuse)
		}
		if answers.Encode(a) != nil {
			return
		}
	}
}

func (s *server) answer(q question) (a answer, err error) {
	ctx, charges := context.Background(), make([]limiter.Charge, len(q.N))
	if q.Verb == "budget" {
		rule, err := s.rule(q)
		if err == nil {
			s.handles[q.Budgets[0]] = s.memory.Budget(q.Budgets[0], rule)
		}
		return a, err
	}
	for i := range q.Budgets {
		charges[i] = limiter.Charge{Budget: s.handles[q.Budgets[i]], N: q.N[i]}
	}
	switch q.Verb {
	case "reserve":
		var r *limiter.Reservation
		if r, a.Decision, err = s.memory.Reserve(ctx, charges); r != nil {
			a.Call = len(s.calls) + 1
			s.calls[a.Call] = r
		}
	case "try":
		a.Decision, err = s.memory.TryAcquire(ctx, charges)
	case "peek":
		a.Decision, err = s.memory.Peek(ctx, charges)
	case "inc":
		err = s.memory.Inc(ctx, charges)
	case "draw":
		a.Decision, err = s.calls[q.Call].Draw(ctx, charges)
	case "settle":
		return a, s.calls[q.Call].Settle(ctx, q.N)
	case "cancel":
		return a, s.calls[q.Call].Cancel(ctx)
	}
	for _, c := range charges {
		a.States = append(a.States, c.State)
	}
	return a, err
}

// zone keeps zones, as a rule with another copy of one is another rule.
func (s *server) zone(name string) (*time.Location, error) {
	if z := s.zones[name]; z != nil {
		return z, nil
	}
	z, err := time.LoadLocation(name)
	s.zones[name] = z
	return z, err
}

func (s *server) rule(q question) (rule limiter.Rule, err error) {
	switch q.Kind {
	case "limiter.TokenBucket":
		rule, err = decode[limiter.TokenBucket](q.Rule)
	case "limiter.SlidingWindow":
		rule, err = decode[limiter.SlidingWindow](q.Rule)
	case "limiter.CalendarQuota":
		quota, decodeErr := decode[limiter.CalendarQuota](q.Rule)
		if err = decodeErr; err == nil && q.Zone != "" {
			quota.Zone, err = s.zone(q.Zone)
		}
		rule = quota
	case "limiter.Total":
		rule, err = decode[limiter.Total](q.Rule)
	case "limiter.AtOnce":
		rule, err = decode[limiter.AtOnce](q.Rule)
	default:
		err = fmt.Errorf("a rule of kind %q", q.Kind)
	}
	if q.Revised != 0 {
		rule = limiter.Revision{Rule: rule, Generation: q.Revised}
	}
	return rule, err
}

func decode[R limiter.Rule](data json.RawMessage) (R, error) {
	var rule R
	err := json.Unmarshal(data, &rule)
	return rule, err
}

// TestRemote shows that the seam is wide enough for limiters behind a network.
// They take their time: it plays fewer histories.
func TestRemote(t *testing.T) { remoteHarness().run(t, *histories/4) }
