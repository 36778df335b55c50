package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/tokenfare/tokenfare/test/figures"
)

const (
	barsWidth  = 860
	panelWidth = 296
	barsLeft   = 206 // where the first panel's bars begin
	panelSpace = 40  // between the panels
	barsTop    = 128
	barHeight  = 11
	rowHeight  = 34
)

// drawBars draws how many times as fast as each of the others ours is, for each
// kind of text, a panel for each encoding.
func drawBars(r *figures.Results) (string, error) {
	kinds := r.Below("Text/" + encodings[0])
	most := 0.0
	for _, encoding := range encodings {
		for _, kind := range kinds {
			for _, peer := range peers {
				most = max(most, r.Of("Text/"+encoding+"/"+kind, peer, "x-of-ours"))
			}
		}
	}
	if most <= 0 {
		return "", errors.New("none of the texts to draw is in the input; run go test -bench Text")
	}
	step := 5.0
	if most > 40 {
		step = 10
	}
	most = math.Ceil(most/step) * step

	height := float64(barsTop + rowHeight*len(kinds) + 44)
	c := newCanvas(barsWidth, height, "How many times as fast as others tokenfare counts tokens",
		"Horizontal bars, longer is better: for each kind of text, the CPU time two other Go libraries take, divided by tokenfare's.")
	c.text("small", 24, 54, "Longer is better: CPU time of the other, divided by ours. Medians of one run on one core in which all take turns.")
	legend(c)
	for i, kind := range kinds {
		c.text("end", barsLeft-10, barsTop+rowHeight*float64(i)+19, label(kind))
	}
	for i, encoding := range encodings {
		p := panel{canvas: c, x: barsLeft + float64(i)*(panelWidth+panelSpace), most: most}
		p.axis(encoding, height-44, step)
		for i, kind := range kinds {
			for j, peer := range peers {
				if times := r.Of("Text/"+encoding+"/"+kind, peer, "x-of-ours"); times >= 0 {
					p.bar([]string{"ours", "pale"}[j], barsTop+rowHeight*float64(i)+4+float64(j)*(barHeight+2), times)
				}
			}
		}
	}
	return c.done(), nil
}

func legend(c *canvas) {
	x := 24.0
	for j, peer := range peers {
		c.rect([]string{"ours", "pale"}[j], x, 70, 22, barHeight, 2)
		c.text("", x+30, 80, "× "+label(peer))
		x += 190
	}
}

// panel is the bars of one encoding, from x on.
type panel struct {
	*canvas
	x, most float64
}

func (p panel) length(times float64) float64 { return times / p.most * (panelWidth - 44) }

func (p panel) axis(heading string, bottom, step float64) {
	p.text("head", p.x, barsTop-18, heading)
	for times := 0.0; times <= p.most; times += step {
		if math.Mod(times, 2*step) == 0 {
			p.text("small mid", p.x+p.length(times), bottom+20, fmt.Sprintf("%.0f×", times))
		}
		p.line("grid", p.x+p.length(times), barsTop-4, p.x+p.length(times), bottom)
	}
}

func (p panel) bar(class string, y, times float64) {
	length := max(1, p.length(times))
	p.rect(class, p.x, y, length, barHeight, 2)
	text := fmt.Sprintf("%.0f", times)
	if times < 9.95 {
		text = fmt.Sprintf("%.1f", times)
	}
	p.text("times", p.x+length+6, y+barHeight-1, text)
}
