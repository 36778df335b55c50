package reconcile

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Text prints the report as a table that can be pasted into a mail: the lines that are beyond the tolerance, each with its
// suspected cause, or all of them; then the sums and the notes.
func (r *Report) Text(w io.Writer, all bool) error {
	t := &textTable{said: map[string]Date{}}
	for i := range r.Lines {
		if l := &r.Lines[i]; all || l.Beyond != 0 {
			t.line(l)
		}
	}
	if len(r.Lines) > 0 {
		t.sums(r.Lines)
	}
	var b strings.Builder
	if r.Days > 0 {
		fmt.Fprintf(&b, "%s to %s, %s. Tolerance: %s.\n", r.First, r.Last, counted(int64(r.Days), "day"), r.Tolerance)
	}
	t.print(&b)
	switch n := r.Beyond(); {
	case r.Days == 0:
		b.WriteString("Nothing was compared: the export covers no whole day.\n")
	case len(r.Lines) == 0:
		b.WriteString("Nothing was compared: neither side has any use on these days.\n")
	case n == 0:
		fmt.Fprintf(&b, "\nNo drift: %s of a day and model compared, none of them beyond the tolerance.\n", counted(int64(len(r.Lines)), "line"))
	default:
		fmt.Fprintf(&b, "\nDrift: %d of %s of a day and model beyond the tolerance (*).\n", n, counted(int64(len(r.Lines)), "line"))
	}
	for _, n := range r.Notes {
		b.WriteString(wrapped("note: "+n+".", ""))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// textTable is rows of cells, and paragraphs that go from side to side under the row before them.
type textTable struct {
	rows []textRow
	said map[string]Date // suspicions by model, and the day they were first printed
}

type textRow struct {
	cells [7]string
	below []string
}

// textRight are the columns whose cells are set to the right.
var textRight = [7]bool{3: true, 4: true, 5: true, 6: true}

func (t *textTable) line(l *Line) {
	first := len(t.rows)
	for _, f := range figureNames {
		if l.Compared&f.figure == 0 {
			continue
		}
		t.figure(f.figure, f.name, l.Ledger.figure(f.figure), l.Provider.figure(f.figure), l.Beyond&f.figure != 0)
	}
	if len(t.rows) == first {
		t.rows = append(t.rows, textRow{}) // a cache alone, that nobody used
	}
	t.rows[first].cells[0], t.rows[first].cells[1] = l.Date.String(), l.Model
	last := &t.rows[len(t.rows)-1]
	if names := otherNames(l); names != "" {
		last.below = append(last.below, names)
	}
	if l.Cause != Agrees {
		last.below = append(last.below, t.suspicion(l))
	}
}

// otherNames says what the two sides call a model, where that is not what the line does.
func otherNames(l *Line) string {
	var parts []string
	for _, side := range []struct {
		name   string
		models []string
	}{{"in the ledger", l.LedgerModels}, {"at the provider", l.ProviderModels}} {
		if len(side.models) > 0 && !slices.Equal(side.models, []string{l.Model}) && l.Model != AllModels {
			parts = append(parts, strings.Join(side.models, ", ")+" "+side.name)
		}
	}
	return strings.Join(parts, "; ")
}

// suspicion is the cause of a line in words, once for all days of a model on which it is the same.
func (t *textTable) suspicion(l *Line) string {
	key := l.Model + "\n" + l.Why
	if day, said := t.said[key]; said {
		return "suspected: the same as on " + day.String()
	}
	t.said[key] = l.Date
	return "suspected: " + l.Why
}

// figure adds a row. A cache that nobody used is not worth one.
func (t *textTable) figure(f Figures, name string, ledger, provider int64, beyond bool) {
	if f == CachedInput && ledger == 0 && provider == 0 {
		return
	}
	apart := minus(provider, ledger)
	row := textRow{cells: [7]string{2: name, 3: amount(f, ledger), 4: amount(f, provider), 5: signed(f, apart)}}
	if apart != 0 && ledger != 0 {
		row.cells[6] = percentage(apart, ledger)
	}
	if beyond {
		row.cells[6] += " *"
	} else {
		row.cells[6] += "  "
	}
	t.rows = append(t.rows, row)
}

// sums adds a block with the sums of all lines, of each figure where it was compared.
func (t *textTable) sums(lines []Line) {
	var ledger, provider Day
	var compared Figures
	byModel := slices.ContainsFunc(lines, func(l Line) bool { return l.Model != AllModels && l.Compared&Cost != 0 })
	for _, f := range figureNames {
		for i := range lines {
			if l := &lines[i]; l.Compared&f.figure != 0 && (l.Model != AllModels || !byModel) {
				compared |= f.figure
				ledger.plus(f.figure, l.Ledger.figure(f.figure))
				provider.plus(f.figure, l.Provider.figure(f.figure))
			}
		}
	}
	first := len(t.rows)
	for _, f := range figureNames {
		if compared&f.figure != 0 {
			t.figure(f.figure, f.name, ledger.figure(f.figure), provider.figure(f.figure), false)
		}
	}
	if len(t.rows) > first {
		t.rows[first].cells[0], t.rows[first].cells[1] = "all days", "all models"
	}
}

// print sets the columns as wide as they must be.
func (t *textTable) print(b *strings.Builder) {
	if len(t.rows) == 0 {
		return
	}
	header := textRow{cells: [7]string{"DAY", "MODEL", "FIGURE", "LEDGER", "PROVIDER", "DIFFERENCE", ""}}
	rows := append([]textRow{header}, t.rows...)
	var width [7]int
	for _, r := range rows {
		for i, cell := range r.cells {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	b.WriteString("\n")
	for n, r := range rows {
		if n > 1 && r.cells[0] != "" {
			b.WriteString("\n")
		}
		var line strings.Builder
		for i, cell := range r.cells {
			pad := strings.Repeat(" ", width[i]-len([]rune(cell)))
			if textRight[i] {
				cell = pad + cell
			} else {
				cell += pad
			}
			line.WriteString(cell + "  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		for _, text := range r.below {
			b.WriteString(wrapped(text, strings.Repeat(" ", width[0]+2)))
		}
	}
}

// wrapped breaks a paragraph into lines that mails can hold.
func wrapped(text, indent string) string {
	const most = 100
	var b strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len(line) > len(indent) && len([]rune(line))+1+len([]rune(word)) > most {
			b.WriteString(line + "\n")
			line = indent + "  "
		} else if len(line) > len(indent) {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}

// amount prints a figure.
func amount(f Figures, n int64) string {
	if f == Cost {
		return dollars(n)
	}
	return grouped(n)
}

func signed(f Figures, n int64) string {
	if n > 0 {
		return "+" + amount(f, n)
	}
	if n == 0 {
		return "-"
	}
	return amount(f, n)
}
