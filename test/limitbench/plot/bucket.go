package main

import "fmt"

// drawBucket draws two settlements: one in time, which gives everything back,
// and a late one, which must not.
func drawBucket() string {
	c := newCanvas(860, 694, "A token bucket, a reservation, and its refund",
		"Two charts of a bucket's level over time. In the first, 8,000 are reserved and settled at 3,000 two seconds later: all 5,000 come back. "+
			"In the second the settlement comes so late that refill has replaced 3,000 of them already: only 2,000 come back.")
	c.text("small", 24, 54, fmt.Sprintf("The bucket holds %s and gets %s back each second. A call reserves 8,000 and has used 3,000 when it ends.",
		grouped(bucketSize), grouped(bucketRefill)))
	drawLegend(c)

	c.text("head", 24, 114, "Settled in time: all that was not used comes back")
	p := &panel{c, 76, 132, 760, 170, inTime.end}
	p.axes()
	p.lines(inTime)
	p.note("", 1.1, 5400, "reserve", "8,000")
	p.note("", 3.1, 7000, "settle at 3,000:", "5,000 come back")
	p.note("soft", 6, 7000, "From here on, the bucket is as if", "the call had asked for 3,000 at once.")

	c.text("head", 24, 350, "Settled late: refill has replaced a part of it, and that part is gone")
	p = &panel{c, 76, 394, 760, 190, late.end}
	p.axes()
	p.lines(late)
	p.path("trap", polyline(p.place(late.levels(addedBack))[5:]))
	p.note("", 1.1, 4600, "reserve", "8,000")
	p.bracket(4, 7, "had it asked for 3,000, it would be full here, and 3,000 of refill lost")
	p.arrow("measure", p.at(6.82, 8000).x, p.at(0, 7900).y, p.at(6.82, 0).x, p.at(0, 9950).y, true)
	p.text("small end", p.at(6.68, 0).x, p.at(0, 8700).y, "smallest deficit: 2,000")
	p.text("end", p.at(6.9, 0).x, p.at(0, 4300).y, "another call")
	p.text("end", p.at(6.9, 0).x, p.at(0, 3400).y, "takes 6,000")
	p.note("", 9.1, 4300, "settle at 3,000:", "2,000 come back")
	p.arrow("measure", p.at(9.6, 0).x, p.at(0, 6700).y, p.at(9.6, 0).x, p.at(0, 9500).y, true)
	p.note("red strong", 9.6, 10600, "3,000 too many")

	c.note("small", 24, 640,
		"Just before the other call, at 7 s, 2,000 were missing: the least at any instant since the reservation.",
		"That much is still missing because of it, and that much comes back. Adding 5,000 instead would let",
		"6,000 and 9,000 be taken within two seconds, where the rule allows 10,000 + 2 × 1,000.")
	return c.done()
}

func drawLegend(c *canvas) {
	x := 24.0
	for _, l := range []struct {
		class, says string
		room        float64
	}{
		{"level", "the level", 138},
		{"ghost", "had it asked for 3,000 at once", 264},
		{"trap", "the trap: add 5,000, cap at full", 0},
	} {
		c.line(l.class, x, 76, x+30, 76)
		c.text("small", x+38, 80, l.says)
		x += l.room
	}
}

// panel is a chart of a level over time.
type panel struct {
	*canvas
	left, top, wide, high float64
	end                   float64 // seconds
}

func (p *panel) at(t, level float64) xy {
	return xy{p.left + p.wide*t/p.end, p.top + p.high*(1-level/bucketSize)}
}

func (p *panel) place(line []point) []xy {
	points := make([]xy, len(line))
	for i, l := range line {
		points[i] = p.at(l.at, l.level)
	}
	return points
}

func (p *panel) axes() {
	for _, level := range []float64{0, 2500, 5000, 7500, 10000} {
		y := p.at(0, level).y
		p.line("grid", p.left, y, p.left+p.wide, y)
		p.text("small end", p.left-8, y+4, grouped(level))
	}
	for t := 0.0; t <= p.end; t++ {
		p.text("small mid", p.at(t, 0).x, p.top+p.high+17, num(t)+" s")
	}
	p.line("axis", p.left, p.top+p.high, p.left+p.wide, p.top+p.high)
}

// lines draws the level, and what it would be without the reservation's excess.
func (p *panel) lines(s story) {
	level := p.place(s.levels(smallestDeficit))
	p.path("under", polyline(append(append([]xy{p.at(0, 0)}, level...), p.at(s.end, 0)))+"Z")
	p.path("ghost", polyline(p.place(s.levels(neverTaken))))
	p.path("level", polyline(level))
}

func (p *panel) note(class string, t, level float64, lines ...string) {
	at := p.at(t, level)
	p.canvas.note(class, at.x, at.y, lines...)
}

// bracket marks a stretch of time above the chart.
func (p *panel) bracket(from, to float64, says string) {
	a, b, y := p.at(from, 0).x, p.at(to, 0).x, p.top-8
	p.path("measure", fmt.Sprintf("M%s %sv-5H%sv5", num(a), num(y), num(b)))
	p.text("small mid", (a+b)/2, y-10, says)
}
