package ledger

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// hourTally compares hourly sums with rows, for a stretch of time.
type hourTally struct {
	sums   map[Hour]*bothSums
	folded map[hourOfKey]bool // names are summed up under one, and nobody can tell any more which
}

type hourOfKey struct {
	start int64
	key   string
}

// bothSums are what the ledger says, and what rows come to.
type bothSums struct{ is, should Sums }

// openHours reads the sums of a stretch.
func (v *verifier) openHours(ctx context.Context, from, to time.Time) error {
	t := hourTally{sums: map[Hour]*bothSums{}, folded: map[hourOfKey]bool{}}
	v.hours = t
	q := HourQuery{From: from, To: to, Hour: true, Series: true, Model: true, Label: true}
	err := v.Hours(ctx, q, func(h Hour, s Sums) error {
		if h.Start < v.hoursFrom {
			return nil
		}
		t.both(h).is.Add(s)
		if h.Model == otherNames || h.Served == otherNames || h.Label == otherNames {
			t.folded[hourOfKey{h.Start, h.Series.Key}] = true
		}
		return nil
	})
	v.report.Hours += int64(len(t.sums))
	for h, s := range t.sums {
		if t.folded[hourOfKey{h.Start, h.Series.Key}] && h != h.nameless() {
			t.both(h.nameless()).is.Add(s.is)
			delete(t.sums, h)
		}
	}
	return err
}

// requests is how many exchanges there are, as the ledger says.
func (t *hourTally) requests() (n int64) {
	for _, s := range t.sums {
		n += s.is.Requests
	}
	return n
}

// nameless is the hour of a series, whatever the models and labels.
func (h Hour) nameless() Hour { return Hour{Start: h.Start, Series: h.Series} }

func (t *hourTally) both(h Hour) *bothSums { return bothOf(t.sums, h) }

func bothOf(sums map[Hour]*bothSums, h Hour) *bothSums {
	s := sums[h]
	if s == nil {
		s = new(bothSums)
		sums[h] = s
	}
	return s
}

// addHour adds a row. Rows for which there is no sum are told apart no further than need be: they may be many.
func (v *verifier) addHour(h Hour, s Sums) {
	if h.Start < v.hoursFrom {
		return
	}
	if v.hours.sums[h] == nil {
		h = h.nameless()
	}
	v.hours.both(h).should.Add(s)
}

// closeHours compares the two.
func (v *verifier) closeHours() {
	v.compare(HourDiffers, v.hours.sums)
	v.hours = hourTally{}
}

// compare notes what differs, in the order of time.
func (v *verifier) compare(kind Kind, sums map[Hour]*bothSums) {
	var wrong []Hour
	for h, s := range sums {
		if s.is != s.should {
			wrong = append(wrong, h)
		}
	}
	slices.SortFunc(wrong, func(a, b Hour) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Series.Key, b.Series.Key), cmp.Compare(a.Series.Groups, b.Series.Groups),
			cmp.Compare(a.Series.Endpoint, b.Series.Endpoint), cmp.Compare(a.Series.Upstream, b.Series.Upstream),
			cmp.Compare(a.Model, b.Model), cmp.Compare(a.Served, b.Served), cmp.Compare(a.Label, b.Label))
	})
	for _, h := range wrong {
		is, should := sums[h].is.named(), sums[h].should.named()
		for i := range is {
			if is[i] != should[i] {
				v.differs(Difference{
					Kind: kind, At: time.Unix(h.Start, 0), Key: h.Series.Key, Names: h,
					Figure: is[i].name, Is: is[i].n, Should: should[i].n,
				})
			}
		}
	}
}

// namedFigure is one figure of sums.
type namedFigure struct {
	name string
	n    int64
}

func (s *Sums) named() []namedFigure {
	return []namedFigure{
		{"requests", s.Requests},
		{"failed", s.Failed},
		{"unreported", s.Unreported},
		{"counted", s.Counted},
		{"retries", s.Retries},
		{"input tokens", s.Input},
		{"cached input tokens", s.CachedInput},
		{"cache write tokens", s.CacheWrite},
		{"output tokens", s.Output},
		{"reasoning tokens", s.Reasoning},
		{"images", s.Images},
		{"milliseconds", s.Milliseconds},
		{"characters", s.Characters},
		{"cost", int64(s.Cost)},
	}
}
