package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenfare/tokenfare/test/figures"
)

var (
	encodings  = []string{"o200k_base", "cl100k_base"}
	contenders = []string{"tokenfare", "tiktoken-go", "tokenizer"}
	peers      = contenders[1:]
)

// labels are what contenders and texts are called where their own names will
// not do.
var labels = map[string]string{
	"tokenizer":     "tiktoken-go/tokenizer",
	"tiktoken-go":   "pkoukk/tiktoken-go",
	"Go":            "Go source",
	"Go-never-seen": "Go source, never seen",
	"ab":            "“ab” repeated",
	"NUL":           "NUL characters",

	"CJK-common-characters": "common CJK characters without breaks",
	"CJK-rare-characters":   "random CJK characters without breaks",
}

func label(name string) string {
	return cmp.Or(labels[name], strings.ReplaceAll(name, "-", " "))
}

// tables writes the results as docs/counting.md has them: the picture, and the
// tables in Markdown.
func tables(r *figures.Results) string {
	var b strings.Builder
	b.WriteString("![How many times as fast as others tokenfare counts tokens, for each kind of text](counting-speed.svg)\n")
	for _, encoding := range encodings {
		speed(&b, r, encoding)
	}
	linear(&b, r)
	growth(&b, r)
	ready(&b, r)
	return b.String()
}

// speed is the table of texts in one encoding.
func speed(b *strings.Builder, r *figures.Results, encoding string) {
	heading(b, encoding+", MB a second of CPU", slices.Concat(each(contenders, label), each(peers, func(peer string) string {
		return "× " + label(peer)
	}), []string{"allocations a count"}))
	for _, text := range r.Below("Text/" + encoding) {
		benchmark := "Text/" + encoding + "/" + text
		row(b, label(text), slices.Concat(
			each(contenders, func(c string) string { return cell(r, benchmark, c, "MB/cpu-s") }),
			each(peers, func(c string) string { return cell(r, benchmark, c, "x-of-ours") }),
			[]string{strings.Join(each(contenders, func(c string) string { return cell(r, benchmark, c, "allocs/count") }), " · ")},
		))
	}
}

// linear is the table of a megabyte of each hostile text.
func linear(b *strings.Builder, r *figures.Results) {
	var columns []string
	for _, encoding := range encodings {
		columns = append(columns, encoding+", ms", "× English")
	}
	heading(b, "1 MB of", columns)
	for _, l := range r.All("Linear/"+encodings[0], "cpu-ms/MB") {
		var cells []string
		for _, encoding := range encodings {
			cells = append(cells, cell(r, "Linear/"+encoding, l.Contender, "cpu-ms/MB"), cell(r, "Linear/"+encoding, l.Contender, "x-of-English"))
		}
		row(b, label(l.Contender), cells)
	}
	var cells []string
	for _, encoding := range encodings {
		cells = append(cells, cell(r, "Flood/"+encoding, "tokenfare", "cpu-ms/count"), "")
	}
	row(b, "5 MB of one letter", cells)
}

// growth is the table of one letter, so many times, in milliseconds.
func growth(b *strings.Builder, r *figures.Results) {
	heading(b, "one letter, o200k_base, ms", each(contenders, label))
	for _, times := range r.Below("Growth") {
		n, err := strconv.ParseFloat(times, 64)
		if err != nil {
			continue
		}
		row(b, grouped(n)+" times", each(contenders, func(c string) string {
			rate := r.Of("Growth/"+times, c, "MB/cpu-s")
			if rate <= 0 {
				return ""
			}
			return figure(n / 1e3 / rate)
		}))
	}
}

// ready is the table of what it takes to begin.
func ready(b *strings.Builder, r *figures.Results) {
	columns := each(encodings, func(encoding string) string { return encoding + " ready, ms: least · median" })
	heading(b, "a fresh process", append(columns, "memory of both, MB", "larger program, MB"))
	for _, c := range contenders {
		cells := each(encodings, func(encoding string) string {
			return cell(r, "Ready/"+encoding, c, "least-ms") + " · " + cell(r, "Ready/"+encoding, c, "ms")
		})
		row(b, label(c), append(cells, cell(r, "Size", c, "memory-MB"), cell(r, "Size", c, "program-MB")))
	}
}

func heading(b *strings.Builder, first string, columns []string) {
	b.WriteString("\n")
	row(b, first, columns)
	fmt.Fprintf(b, "|---|%s\n", strings.Repeat("--:|", len(columns)))
}

func row(b *strings.Builder, first string, cells []string) {
	fmt.Fprintf(b, "| %s |", first)
	for _, c := range cells {
		fmt.Fprintf(b, " %s |", c)
	}
	b.WriteString("\n")
}

func each(names []string, f func(string) string) (made []string) {
	for _, name := range names {
		made = append(made, f(name))
	}
	return made
}

// cell is a figure as it stands in a table; empty if there is none.
func cell(r *figures.Results, benchmark, contender, unit string) string {
	if n := r.Of(benchmark, contender, unit); n >= 0 {
		return figure(n)
	}
	return ""
}

// figure writes a number to about three digits.
func figure(n float64) string {
	switch {
	case n < 10:
		return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64)
	case n < 100:
		return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64)
	}
	return grouped(n)
}

// grouped writes a whole number with commas between thousands.
func grouped(n float64) string {
	s := fmt.Sprintf("%.0f", n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
