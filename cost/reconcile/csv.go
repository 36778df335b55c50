package reconcile

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// csv reads a table whose first row names its columns, with commas, semicolons or tabs between them.
func (r *Reader) csv(in *bufio.Reader) error {
	limited := &bounded{from: in, left: maxRecord, what: "a row"}
	rows := csv.NewReader(limited)
	rows.Comma = separator(in)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		return csvError(err)
	}
	columns, err := mapColumns(header)
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	t := table{reader: r, columns: columns}
	for {
		limited.left = maxRecord
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			if columns.timesOnly() {
				r.note("%s has days and no other columns: nothing was used on them, as it says", r.sources[len(r.sources)-1])
			}
			return t.end()
		}
		if err != nil {
			return csvError(err)
		}
		if err = r.count(); err == nil {
			err = t.row(cells)
		}
		if err != nil {
			line, _ := rows.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// separator finds what separates the columns: the one of the three that stands in the first line most often.
func separator(in *bufio.Reader) rune {
	head, _ := in.Peek(in.Size()) // as much as there is
	line, _, _ := strings.Cut(string(head), "\n")
	best, most := ',', 0
	for _, c := range []rune{',', ';', '\t'} {
		if n := strings.Count(line, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

func csvError(err error) error {
	var syntax *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it has no rows: export the usage again")
	case errors.As(err, &syntax) && errors.Is(err, csv.ErrFieldCount):
		return fmt.Errorf("line %d: it has more or fewer columns than the first line", syntax.Line)
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d, character %d: it is not CSV: %w", syntax.Line, syntax.Column, syntax.Err)
	}
	return err
}

// table reads rows of cells into a reader.
type table struct {
	reader      *Reader
	columns     *columns
	first, last Date     // of the rows that name a day and no times
	dated       []string // the kinds of table that such rows are of
}

// cell is the text of a column; empty where there is none.
func (t *table) cell(cells []string, role column) string {
	if at := t.columns.at[role]; at >= 0 {
		return strings.TrimSpace(cells[at])
	}
	return ""
}

// in adds the column to an error.
func (t *table) in(at int, err error) error {
	return fmt.Errorf("column %.40q: %w", t.columns.header[at], err)
}

// row takes one row: what it says of usage and what it says of costs.
func (t *table) row(cells []string) error {
	w := row{}
	blank, err := t.figures(cells, &w.day)
	if err != nil {
		return err
	}
	if err := t.times(cells, &w); err != nil {
		return err
	}
	if blank {
		return nil // a day without usage
	}
	for _, at := range t.columns.dimensions {
		w.dimensions = append(w.dimensions, cells[at])
	}
	model := t.cell(cells, colModel)
	if usage := w.day; usage.Known&Usage != 0 {
		if model == "" {
			return t.in(t.columns.at[colModel], errors.New("it names no model: export by model as well as by day (group_by=model)"))
		}
		usage.Model, usage.Known, usage.Cost = model, usage.Known&Usage, 0
		if err := t.reader.add(&row{usage, t.columns.usage, w.from, w.to, w.dimensions}); err != nil {
			return err
		}
	}
	if w.day.Known&Cost == 0 {
		return nil
	}
	w.kind = costs
	w.day = Day{Known: Cost, Cost: w.day.Cost, Model: model}
	if model == "" {
		t.reader.lineItem(&w.day, t.cell(cells, colLineItem))
	}
	return t.reader.add(&w)
}

// times reads the time that a row sums up, and notes that it is covered.
func (t *table) times(cells []string, w *row) error {
	day := colStart
	if !t.columns.has(colStart) || !t.columns.has(colEnd) && t.columns.has(colDay) {
		day = colDay
	}
	var err error
	if w.from, err = parseInstant(t.cell(cells, day)); err != nil {
		return t.in(t.columns.at[day], err)
	}
	if day == colDay || !t.columns.has(colEnd) {
		date := DateOf(w.from)
		w.from = date.Start()
		if t.dated == nil {
			t.first, t.last = date, date
		}
		t.first, t.last = min(t.first, date), max(t.last, date)
		for _, kind := range t.columns.kinds {
			if !slices.Contains(t.dated, kind) {
				t.dated = append(t.dated, kind)
			}
		}
		return nil
	}
	if w.to, err = parseInstant(t.cell(cells, colEnd)); err != nil {
		return t.in(t.columns.at[colEnd], err)
	}
	for _, kind := range t.columns.kinds {
		if err := t.reader.cover(kind, w.from, w.to); err != nil {
			return fmt.Errorf("the time from %s to %s: %w", w.from.Format(time.RFC3339), w.to.Format(time.RFC3339), err)
		}
	}
	return nil
}

// end notes what a table of days has covered.
func (t *table) end() error {
	for _, kind := range t.dated {
		if err := t.reader.coverRange(kind, t.first, t.last); err != nil {
			return err
		}
	}
	return nil
}

// figures reads the numbers of a row. Cells without text are not known.
func (t *table) figures(cells []string, day *Day) (blank bool, err error) {
	for _, f := range []struct {
		role   column
		figure Figures
		to     *int64
	}{{colRequests, Requests, &day.Requests}, {colInput, Input, &day.Input}, {colCached, CachedInput, &day.CachedInput}, {colOutput, Output, &day.Output}} {
		text := t.cell(cells, f.role)
		if text == "" {
			continue
		}
		if *f.to, err = parseCount(text); err != nil {
			return false, t.in(t.columns.at[f.role], err)
		}
		day.Known |= f.figure
	}
	if !t.columns.has(colRequests) && t.cell(cells, colCall) != "" {
		day.Requests, day.Known = 1, day.Known|Requests
	}
	for _, at := range t.columns.parts {
		text := strings.TrimSpace(cells[at])
		if text == "" {
			continue
		}
		n, err := parseCount(text)
		if err != nil {
			return false, t.in(at, err)
		}
		day.Input, day.Known = plus(day.Input, n), day.Known|Input
	}
	if day.CachedInput > day.Input && day.Known&Input != 0 {
		return false, t.in(t.columns.at[colCached], fmt.Errorf("%d tokens of %d cannot have been cached: input must hold the cached part, too", day.CachedInput, day.Input))
	}
	if text := t.cell(cells, colCost); text != "" {
		if day.Cost, err = parseDollars(text); err != nil {
			return false, t.in(t.columns.at[colCost], err)
		}
		if currency := t.cell(cells, colCurrency); currency != "" && !strings.EqualFold(currency, "usd") {
			return false, t.in(t.columns.at[colCurrency], errNotDollars)
		}
		day.Known |= Cost
	}
	if day.Known&Requests != 0 && strings.EqualFold(t.cell(cells, colBatch), "true") {
		day.Batch = day.Requests
	}
	return day.Known == 0, nil
}

var errNotDollars = errors.New("it is another currency than dollars, which the ledger is in: export costs in dollars")
