package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// canvas collects the elements of a picture. Colours are in the style sheet,
// for light and for dark surroundings; a card behind everything makes sure
// that the two never mix.
type canvas struct{ strings.Builder }

const style = `
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--ink); }
.card { fill: var(--card); stroke: var(--edge); }
.title { font-size: 17px; font-weight: 600; }
.head { font-size: 14px; font-weight: 600; }
.small { font-size: 12px; fill: var(--soft); }
.times { font-size: 12px; }
.end { text-anchor: end; }
.mid { text-anchor: middle; }
.grid { stroke: var(--grid); stroke-width: 1; fill: none; }
.ours { fill: var(--blue); }
.pale { fill: var(--pale); }
svg {
  --card: #fff; --edge: #d0d7de; --ink: #1f2328; --soft: #59636e; --grid: #e7eaee; --blue: #0969da; --pale: #9cc4f2;
}
@media (prefers-color-scheme: dark) { svg {
  --card: #0d1117; --edge: #30363d; --ink: #e6edf3; --soft: #9198a1; --grid: #20262e; --blue: #4493f8; --pale: #24507f;
} }
`

func newCanvas(width, height float64, title, description string) *canvas {
	c := new(canvas)
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-labelledby="title desc">`,
		num(width), num(height), num(width), num(height))
	fmt.Fprintf(c, "\n<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n<style>%s</style>\n",
		html.EscapeString(title), html.EscapeString(description), style)
	c.rect("card", .5, .5, width-1, height-1, 8)
	c.text("title", 24, 34, title)
	return c
}

func (c *canvas) rect(class string, x, y, w, h, round float64) {
	fmt.Fprintf(c, `<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="%s"/>`+"\n", class, num(x), num(y), num(w), num(h), num(round))
}

func (c *canvas) text(class string, x, y float64, s string) {
	fmt.Fprintf(c, `<text class="%s" x="%s" y="%s">%s</text>`+"\n", class, num(x), num(y), html.EscapeString(s))
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(c, `<path class="%s" d="M%s %sL%s %s"/>`+"\n", class, num(x1), num(y1), num(x2), num(y2))
}

func (c *canvas) done() string { return c.String() + "</svg>\n" }

// num writes a coordinate with no more digits than can be seen.
func num(f float64) string {
	s := strconv.FormatFloat(f, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
