package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/test/figures"
)

// group is a benchmark that is drawn, under a heading.
type group struct{ benchmark, heading string }

var groups = []group{
	{"OneBudget", "One decision, one budget"},
	{"Refused", "The same, refused"},
	{"Named/10000", "By name, one of 10,000"},
	{"Named/1000000", "By name, one of 1,000,000"},
	{"FourBudgets", "Four budgets at once"},
	{"ReserveSettle/100", "Reserve and settle, 100 open"},
}

// labels are what the contenders are called in the picture.
var labels = map[string]string{
	"tokenfare":        "tokenfare",
	"tokenfare-states": "tokenfare, with states",
	"tokenfare-mixed":  "tokenfare, four kinds",
	"cas":              "clock + one swap",
	"x-time-rate":      "x/time/rate",
	"throttled":        "throttled",
	"sethvargo":        "sethvargo/go-limiter",
	"ulule":            "ulule/limiter",
	"failsafe":         "failsafe-go",
}

// label says what a contender does where the group's heading does not.
func label(benchmark, contender string) string {
	switch {
	case benchmark == "FourBudgets" && contender == "x-time-rate":
		return "x/time/rate, four in a row"
	case benchmark == "FourBudgets" && contender == "tokenfare":
		return "tokenfare, four buckets"
	case benchmark == "ReserveSettle/100" && contender == "x-time-rate":
		return "x/time/rate, no refund"
	case strings.HasPrefix(benchmark, "Named/") && (contender == "x-time-rate" || contender == "failsafe" || contender == "cas"):
		return labels[contender] + ", in a map"
	}
	return cmp.Or(labels[contender], contender)
}

const (
	barsWidth  = 860
	barsLeft   = 214 // where bars begin
	barsRight  = 70  // room for the figure behind the longest
	barHeight  = 14
	barStep    = 19
	groupSpace = 38
)

// drawBars draws CPU time per call, the shortest bar of each group on top. Bars
// far longer than most are cut off and marked.
func drawBars(r *figures.Results) (string, error) {
	const unit = "cpu-ns/op"
	height, all := 74.0, []float64{}
	var drawn []group
	for _, g := range groups {
		lines := r.All(g.benchmark, unit)
		if len(lines) == 0 {
			continue
		}
		drawn = append(drawn, g)
		height += groupSpace + barStep*float64(len(lines))
		for _, l := range lines {
			all = append(all, l.Figures[unit])
		}
	}
	if len(drawn) == 0 {
		return "", fmt.Errorf("none of the benchmarks to draw is in the input; run all of them")
	}
	most := longestBar(all)
	scale := func(ns float64) float64 { return min(ns, most) / most * (barsWidth - barsLeft - barsRight) }

	height += 34
	c := newCanvas(barsWidth, height, "CPU time per call, nanoseconds",
		"Horizontal bars: how much CPU time a call takes with tokenfare's limiter, with other rate limiters for Go, and with a bare compare-and-swap.")
	c.text("small", 24, 54, "Shorter is better. Medians of one run in which all take turns. Dashed: the clock and one swap, the least a limiter can do.")
	y, top := 74.0, 74.0
	for x := 0.0; x <= most; x += step(most) {
		c.line("grid", barsLeft+scale(x), top, barsLeft+scale(x), height-34)
		c.text("small mid", barsLeft+scale(x), height-16, grouped(x))
	}
	for _, g := range drawn {
		y += 24
		c.text("head", 24, y-4, g.heading)
		y += 6
		lines := r.All(g.benchmark, unit)
		slices.SortStableFunc(lines, func(a, b figures.Line) int { return cmp.Compare(a.Figures[unit], b.Figures[unit]) })
		for _, l := range lines {
			bar(c, y, g.benchmark, l.Contender, l.Figures[unit], most, scale(l.Figures[unit]))
			y += barStep
		}
		y += groupSpace - 30
	}
	return c.done(), nil
}

func bar(c *canvas, y float64, benchmark, contender string, ns, most, length float64) {
	class, text := "peer", "end"
	switch {
	case strings.HasPrefix(contender, "tokenfare"):
		class, text = "ours", "end strong"
	case contender == "cas":
		class = "floor"
	}
	c.text(text, barsLeft-10, y+11.5, label(benchmark, contender))
	c.rect(class, barsLeft, y, max(1, length), barHeight, 2)
	if ns > most {
		for _, at := range []float64{22, 28} {
			x := barsLeft + length - at
			c.path("cut", fmt.Sprintf("M%s %sl-6 %d", num(x+3), num(y-1), barHeight+2))
		}
	}
	c.text(strings.TrimPrefix(text, "end"), barsLeft+length+7, y+11.5, figure(ns))
}

// longestBar is what the axis ends at: the largest figure, unless that would
// press most of the others flat.
func longestBar(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	most := sorted[len(sorted)-1]
	if common := 2 * sorted[len(sorted)*3/4]; most > common {
		most = common
	}
	s := step(most)
	return math.Ceil(most/s) * s
}

// step is the distance of grid lines: 1, 2 or 5 times a power of ten, some four
// to eight of them.
func step(most float64) float64 {
	s := math.Pow(10, math.Floor(math.Log10(most/4)))
	for _, by := range []float64{5, 2} {
		if s*by <= most/4 {
			return s * by
		}
	}
	return s
}

// figure writes nanoseconds to about three digits.
func figure(ns float64) string {
	switch {
	case ns < 10:
		return num(math.Round(ns*10) / 10)
	case ns < 1000:
		return num(math.Round(ns))
	}
	return grouped(math.Round(ns/10) * 10)
}

// grouped writes a whole number with commas between thousands.
func grouped(n float64) string {
	s := fmt.Sprintf("%.0f", n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
