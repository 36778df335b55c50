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
type canvas struct {
	strings.Builder
	width, height float64
}

const style = `
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--ink); }
.card { fill: var(--card); stroke: var(--edge); }
.title { font-size: 17px; font-weight: 600; }
.head { font-size: 14px; font-weight: 600; }
.small { font-size: 12px; fill: var(--soft); }
.soft { fill: var(--soft); }
.strong { font-weight: 600; }
.end { text-anchor: end; }
.mid { text-anchor: middle; }
.grid { stroke: var(--grid); stroke-width: 1; fill: none; }
.axis { stroke: var(--soft); stroke-width: 1; fill: none; }
.ours { fill: var(--blue); }
.peer { fill: var(--peer); }
.floor { fill: none; stroke: var(--soft); stroke-dasharray: 3 2; }
.cut { stroke: var(--card); stroke-width: 3; fill: none; }
.level { stroke: var(--blue); stroke-width: 2.5; fill: none; stroke-linejoin: round; }
.under { fill: var(--blue); opacity: .1; }
.ghost { stroke: var(--green); stroke-width: 2; fill: none; stroke-dasharray: 2 4; stroke-linecap: round; }
.trap { stroke: var(--red); stroke-width: 2; fill: none; stroke-dasharray: 7 4; }
.spilled { fill: var(--green); opacity: .22; }
.event { stroke: var(--soft); stroke-dasharray: 2 3; fill: none; }
.tip { fill: var(--ink); }
.measure { stroke: var(--ink); stroke-width: 1.3; fill: none; }
.limit { stroke: var(--red); stroke-width: 1.8; fill: none; }
.red { fill: var(--red); } .green { fill: var(--green); } .blue { fill: var(--blue); }
.a { fill: var(--a); } .b { fill: var(--b); } .c { fill: var(--c); } .d { fill: var(--d); }
.held { fill: url(#held); }
.refused { fill: none; stroke: var(--red); stroke-width: 1.5; stroke-dasharray: 5 3; }
.on { fill: #fff; font-weight: 600; }
svg {
  --card: #fff; --edge: #d0d7de; --ink: #1f2328; --soft: #59636e; --grid: #e7eaee;
  --blue: #0969da; --peer: #b3bdc8; --green: #1a7f37; --red: #cf222e;
  --a: #0969da; --b: #8250df; --c: #bc4c00; --d: #1a7f37;
}
@media (prefers-color-scheme: dark) { svg {
  --card: #0d1117; --edge: #30363d; --ink: #e6edf3; --soft: #9198a1; --grid: #20262e;
  --blue: #4493f8; --peer: #4d5866; --green: #3fb950; --red: #f85149;
  --a: #1f6feb; --b: #8957e5; --c: #bd561d; --d: #238636;
} }
`

func newCanvas(width, height float64, title, description string) *canvas {
	c := &canvas{width: width, height: height}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-labelledby="title desc">`,
		num(width), num(height), num(width), num(height))
	fmt.Fprintf(c, "\n<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n<style>%s</style>\n",
		html.EscapeString(title), html.EscapeString(description), style)
	c.WriteString(`<defs>
<pattern id="held" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V7" stroke="#fff" stroke-width="4" opacity=".3"/></pattern>
<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 .8 7.4 4 0 7.2z" class="tip"/></marker>
</defs>
`)
	c.rect("card", .5, .5, width-1, height-1, 8)
	c.text("title", 24, 34, title)
	return c
}

func (c *canvas) rect(class string, x, y, w, h, round float64) {
	fmt.Fprintf(c, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"`, class, num(x), num(y), num(w), num(h))
	if round > 0 {
		fmt.Fprintf(c, ` rx="%s"`, num(round))
	}
	c.WriteString("/>\n")
}

func (c *canvas) text(class string, x, y float64, s string) {
	fmt.Fprintf(c, `<text class="%s" x="%s" y="%s">%s</text>`+"\n", class, num(x), num(y), html.EscapeString(s))
}

// note is text of several lines.
func (c *canvas) note(class string, x, y float64, lines ...string) {
	for i, s := range lines {
		c.text(class, x, y+17*float64(i), s)
	}
}

// path takes the commands of SVG's own path syntax.
func (c *canvas) path(class, d string) {
	fmt.Fprintf(c, `<path class="%s" d="%s"/>`+"\n", class, d)
}

// arrow is a line with a tip at its end, or with one at both.
func (c *canvas) arrow(class string, x1, y1, x2, y2 float64, both bool) {
	start := ""
	if both {
		start = ` marker-start="url(#tip)"`
	}
	fmt.Fprintf(c, `<path class="%s" d="M%s %sL%s %s" marker-end="url(#tip)"%s/>`+"\n", class, num(x1), num(y1), num(x2), num(y2), start)
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.path(class, fmt.Sprintf("M%s %sL%s %s", num(x1), num(y1), num(x2), num(y2)))
}

func (c *canvas) done() string { return c.String() + "</svg>\n" }

// xy is a place on the canvas.
type xy struct{ x, y float64 }

func polyline(points []xy) string {
	var d strings.Builder
	for i, p := range points {
		d.WriteByte("ML"[min(i, 1)])
		d.WriteString(num(p.x) + " " + num(p.y))
	}
	return d.String()
}

// num writes a coordinate with no more digits than can be seen.
func num(f float64) string {
	s := strconv.FormatFloat(f, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
