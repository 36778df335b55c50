package main

import "strings"

// grid is a table of text. Its first row is the titles.
type grid struct {
	right []bool // for each column: numbers, whose last digits stand below each other
	rows  [][]string
}

// column adds a column with one cell for each row, the title first.
func (g *grid) column(right bool, cells ...string) {
	if g.rows == nil {
		g.rows = make([][]string, len(cells))
	}
	g.right = append(g.right, right)
	for i, c := range cells {
		g.rows[i] = append(g.rows[i], c)
	}
}

// String lays it out, two blanks between columns and none at the end of a line.
func (g *grid) String() string {
	widths := make([]int, len(g.right))
	for _, row := range g.rows {
		for i, c := range row {
			widths[i] = max(widths[i], cells(c))
		}
	}
	var b strings.Builder
	for _, row := range g.rows {
		var line strings.Builder
		for i, c := range row {
			blanks := strings.Repeat(" ", widths[i]-cells(c))
			if i > 0 {
				line.WriteString("  ")
			}
			if g.right[i] {
				line.WriteString(blanks + c)
			} else {
				line.WriteString(c + blanks)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
