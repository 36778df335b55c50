package ledger

import (
	"time"

	"github.com/tokenfare/tokenfare/cost"
)

// Hour names one hourly sum: of an hour of UTC, in which the exchanges began, and what they have in common.
type Hour struct {
	Start  int64 // Unix seconds
	Series Series
	Model  string
	Served string // empty: the model asked for
	Label  string
}

// Sums are what a number of exchanges come to.
type Sums struct {
	Requests   int64 // exchanges that ended
	Failed     int64 // the part of Requests that was charged nothing
	Unreported int64 // the part of Requests whose charge rests on what was reserved
	Counted    int64 // the part of Requests whose charge rests on what was counted
	Retries    int64 // the part of Requests that their clients had tried before

	Input, CachedInput, CacheWrite   int64 // tokens; the latter two are parts of the first
	Output, Reasoning                int64 // tokens; the latter is part of the former
	Images, Milliseconds, Characters int64 // units that some models are billed by
	Cost                             cost.NanoUSD
}

// Add adds what another number of exchanges comes to.
func (s *Sums) Add(o Sums) {
	s.Requests += o.Requests
	s.Failed += o.Failed
	s.Unreported += o.Unreported
	s.Counted += o.Counted
	s.Retries += o.Retries
	s.usage(o.Input, o.CachedInput, o.CacheWrite, o.Output, o.Reasoning, o.Images, o.Milliseconds, o.Characters)
	s.Cost = cost.NanoUSD(saturatingAdd(int64(s.Cost), int64(o.Cost)))
}

func (s *Sums) usage(input, cached, written, output, reasoning, images, milliseconds, characters int64) {
	s.Input = saturatingAdd(s.Input, input)
	s.CachedInput = saturatingAdd(s.CachedInput, cached)
	s.CacheWrite = saturatingAdd(s.CacheWrite, written)
	s.Output = saturatingAdd(s.Output, output)
	s.Reasoning = saturatingAdd(s.Reasoning, reasoning)
	s.Images = saturatingAdd(s.Images, images)
	s.Milliseconds = saturatingAdd(s.Milliseconds, milliseconds)
	s.Characters = saturatingAdd(s.Characters, characters)
}

func (s *Sums) add(u cost.Usage, price cost.NanoUSD) {
	s.usage(u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning, u.Images, u.Milliseconds, u.Characters)
	s.Cost = cost.NanoUSD(saturatingAdd(int64(s.Cost), int64(price)))
}

// Negated is what takes s off again when it is added.
func (s Sums) Negated() Sums {
	return Sums{
		-s.Requests, -s.Failed, -s.Unreported, -s.Counted, -s.Retries, -s.Input, -s.CachedInput, -s.CacheWrite, -s.Output, -s.Reasoning,
		-s.Images, -s.Milliseconds, -s.Characters, -s.Cost,
	}
}

// SumsOf is what one exchange comes to that has ended.
func SumsOf(b *Begin, e *End) Sums {
	s := Sums{Requests: 1}
	s.basis(e.Basis, 1)
	if b.Retry > 0 {
		s.Retries = 1
	}
	s.add(e.Usage, e.Cost)
	return s
}

// sums is what a correction adds.
func (c *Correction) sums() Sums {
	var s Sums
	s.basis(c.Was, -1)
	s.basis(c.Basis, 1)
	s.add(c.Usage, c.Cost)
	return s
}

func (s *Sums) basis(of string, n int64) {
	switch of {
	case Nothing:
		s.Failed += n
	case Counted:
		s.Counted += n
	case Unreported, Distrusted:
		s.Unreported += n
	}
}

// SlotLength is how long a slot is. Every time zone in use has its midnights where one begins.
const SlotLength = 15 * time.Minute

// SlotsKept is for how long slots are told apart: more than twice as long as the longest period of a budget, 366 days. What is
// older counts for budgets that have no period only, and stores may sum it up.
const SlotsKept = 800 * 24 * time.Hour

// Slot names the sum of what one budget was charged in a quarter of an hour.
type Slot struct {
	Budget Budget
	Start  int64 // Unix seconds, a multiple of a quarter of an hour
}

// SlotOf is the beginning of the slot of an instant.
func SlotOf(t time.Time) int64 { return floor(t.Unix(), int64(SlotLength/time.Second)) }

// HourOf is the beginning of the hour of an instant.
func HourOf(t time.Time) int64 { return floor(t.Unix(), 3600) }

func floor(n, unit int64) int64 {
	rest := n % unit
	if rest < 0 {
		rest += unit
	}
	return n - rest
}

// Roll is what a number of rows adds to the sums.
type Roll struct {
	Upto  ID // the newest row, of this writer's, that is in it
	Hours map[Hour]*Sums
	Slots map[Slot]int64

	names *names
}

func newRoll(n *names) *Roll {
	return &Roll{Hours: map[Hour]*Sums{}, Slots: map[Slot]int64{}, names: n}
}

// RollOf is what those rows add to the sums.
func RollOf(ended []Exchange, corrected []Correction) *Roll {
	r := newRoll(new(names))
	for i := range ended {
		r.end(&ended[i].Begin, ended[i].End)
	}
	for i := range corrected {
		r.correct(&corrected[i])
	}
	return r
}

func (r *Roll) empty() bool { return r.Upto == 0 }

// end adds an exchange that has ended.
func (r *Roll) end(b *Begin, e *End) {
	r.hour(Hour{HourOf(e.Exchange.Time()), b.Series, b.Model, e.Served, b.Label}, SumsOf(b, e))
	for _, c := range e.Charges {
		r.charge(c.Budget, e.Exchange, c.N)
		r.charge(c.Budget, e.Seq, c.Late)
	}
	r.Upto = max(r.Upto, e.Seq)
}

// correct adds a correction.
func (r *Roll) correct(c *Correction) {
	r.hour(Hour{HourOf(c.Exchange.Time()), c.Series, c.Model, c.Served, c.Label}, c.sums())
	for _, charge := range c.Charges {
		r.charge(charge.Budget, c.Exchange, charge.N)
	}
	r.Upto = max(r.Upto, c.Seq)
}

func (r *Roll) hour(h Hour, s Sums) {
	h.Model = r.names.fold(h.Start, h.Series.Key, "model", h.Model)
	h.Served = r.names.fold(h.Start, h.Series.Key, "model", h.Served)
	h.Label = r.names.fold(h.Start, h.Series.Key, "label", h.Label)
	sums := r.Hours[h]
	if sums == nil {
		sums = new(Sums)
		r.Hours[h] = sums
	}
	sums.Add(s)
}

func (r *Roll) charge(b Budget, at ID, n int64) {
	if n != 0 {
		slot := Slot{b, SlotOf(at.Time())}
		r.Slots[slot] = saturatingAdd(r.Slots[slot], n)
	}
}
