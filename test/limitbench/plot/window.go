package main

import (
	"fmt"
	"math"
	"slices"
)

// drawWindow draws what a sliding window counts over time: entries come in,
// stay for one window, and leave.
func drawWindow() string {
	c := newCanvas(860, 626, "A sliding window: entries come in, stay for a minute, and leave",
		"Four entries over time. Above, a bar for each from the instant it was admitted to a minute later. Below, what they add up to, "+
			"which never exceeds the limit of 10,000. A call for 5,000 at 55 seconds is refused, told to wait 10 seconds, and passes at 65.")
	c.text("small", 24, 54, fmt.Sprintf("The limit is %s in any minute. B reserves 3,000 and is settled at 1,000 at 48 s, where it stands: it leaves no later for that.", grouped(windowLimit)))
	w := &windowChart{c, 76, 760, 130}

	c.text("head", 24, 92, "Each entry counts from its instant, for 60 s")
	const lane = 26
	for i, e := range entries {
		y := 106 + lane*float64(i)
		c.rect(lower(e.name), w.x(e.at), y, w.x(e.at+windowLong)-w.x(e.at), lane-6, 3)
		says := e.name + "  " + grouped(e.amount)
		if e.settledAt > 0 {
			c.rect("held", w.x(e.at), y, w.x(e.settledAt)-w.x(e.at), lane-6, 3)
			says += " reserved"
			c.text("on", w.x(e.settledAt)+8, y+14.5, grouped(e.settledFor)+" used")
		}
		c.text("on", w.x(e.at)+8, y+14.5, says)
	}

	c.text("head", 24, 248, "What counts, all together")
	w.stack(268, 270)
	c.note("small", 24, 588,
		"At 55 s the call would bring the sum to 12,000. It fits when A has left: the earliest instant, and the one it is told.",
		"A settlement corrects the entry it belongs to. Had B been settled after 80 s, nothing would have come back.")
	return c.done()
}

func lower(name string) string { return string(name[0] + 'a' - 'A') }

// windowChart places instants on a canvas.
type windowChart struct {
	*canvas
	left, wide, end float64
}

func (w *windowChart) x(at float64) float64 { return math.Round(w.left + w.wide*at/w.end) }

// stack draws the entries on top of each other, the oldest at the bottom.
func (w *windowChart) stack(top, high float64) {
	const most = 12_500
	y := func(n float64) float64 { return top + high*(1-n/most) }
	for n := 0.0; n <= most; n += 2500 {
		w.line("grid", w.left, y(n), w.left+w.wide, y(n))
		w.text("small end", w.left-8, y(n)+4, grouped(n))
	}
	for t := 0.0; t <= w.end; t += 10 {
		w.text("small mid", w.x(t), top+high+17, num(t)+" s")
	}
	instants := changes()
	for i, e := range entries {
		var upper, under, held []xy
		for j, from := range instants[:len(instants)-1] {
			if e.counts(from) == 0 {
				continue
			}
			below := 0.0
			for _, older := range entries[:i] {
				below += older.counts(from)
			}
			to := instants[j+1]
			upper = append(upper, xy{w.x(from), y(below + e.counts(from))}, xy{w.x(to), y(below + e.counts(from))})
			under = append(under, xy{w.x(from), y(below)}, xy{w.x(to), y(below)})
			if to <= e.settledAt {
				held = outline(upper, under)
			}
		}
		w.path(lower(e.name), polyline(outline(upper, under))+"Z")
		if held != nil {
			w.path("held", polyline(held)+"Z")
		}
		w.text("on", upper[0].x+8, (upper[0].y+under[0].y)/2+5, e.name)
	}
	w.line("axis", w.left, top+high, w.left+w.wide, top+high)
	w.line("limit", w.left, y(windowLimit), w.left+w.wide, y(windowLimit))
	w.text("red strong", w.left+8, y(windowLimit)-7, "limit "+grouped(windowLimit))

	counted, asked := total(refusedAt), entries[3].amount
	w.rect("refused", w.x(refusedAt), y(counted+asked), w.x(refusedAt+retryAfter)-w.x(refusedAt), y(counted)-y(counted+asked), 0)
	w.text("end", w.x(refusedAt)-8, y(11_400), "5,000 more at 55 s: refused")
	w.text("small mid", w.x(refusedAt+retryAfter/2), y(8600), "10 s")
	w.arrow("measure", w.x(refusedAt)+2, y(8300), w.x(refusedAt+retryAfter)-3, y(8300), false)
	w.note("", w.x(refusedAt+retryAfter)+10, y(11_400), "told to wait 10 s, until A leaves;", "passes then, not a nanosecond sooner: D")
}

// changes are the instants at which something comes, changes or leaves.
func changes() []float64 {
	var at []float64
	for _, e := range entries {
		at = append(at, e.at, e.at+windowLong)
		if e.settledAt > 0 {
			at = append(at, e.settledAt)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// outline goes along the upper edge and back along the one below.
func outline(upper, under []xy) []xy {
	back := slices.Clone(under)
	slices.Reverse(back)
	return append(slices.Clone(upper), back...)
}

func total(at float64) (n float64) {
	for _, e := range entries {
		n += e.counts(at)
	}
	return n
}
