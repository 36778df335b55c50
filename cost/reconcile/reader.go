package reconcile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is read, far above what organisations have: a year of days, by ten models, projects and keys each, is a
// third of it.
const (
	maxRows    = 1_000_000 // of all files
	maxDays    = 500_000   // different days and models
	maxRange   = 3_660     // days from the first to the last of a table without times
	maxElement = 8 << 20   // bytes of a result, row or metric of JSON
	maxRecord  = 1 << 20   // bytes of a row of CSV
	maxName    = 256       // bytes of a model's name
)

// Format is the form of a file.
type Format uint8

// The formats. What a file holds is told by its contents in both.
const (
	Auto Format = iota // by the first character: JSON begins with a brace or bracket
	CSV
	JSON
)

// ParseFormat reads auto, csv or json.
func ParseFormat(s string) (Format, error) {
	switch s {
	case "auto":
		return Auto, nil
	case "csv":
		return CSV, nil
	case "json":
		return JSON, nil
	}
	return 0, fmt.Errorf("there is no format %.40q: use auto, csv or json", s)
}

// Reader gathers the files of an export. It is not safe for concurrent use.
type Reader struct {
	days    map[dayKey]*Day
	kinds   map[string]coverage
	seen    map[[16]byte]int32 // rows by what tells them apart: the source that they came from
	sources []string           // files, and pages within them; later rows of the same source may add to earlier ones
	names   map[string]string  // of models: each text is kept once
	notes   []string
	rows    int
	byItem  bool // some costs are by line item
}

// dayKey is what a Day of an export is the sum of.
type dayKey struct {
	kind  string
	date  Date
	model string
}

// The kinds of table that a row can be from. Those of usage are called as OpenAI calls them.
const (
	completions = "completions"
	embeddings  = "embeddings"
	costs       = "costs"
)

// NewReader returns a reader without files.
func NewReader() *Reader {
	return &Reader{days: map[dayKey]*Day{}, kinds: map[string]coverage{}, seen: map[[16]byte]int32{}, names: map[string]string{}}
}

// File reads a file to its end. name stands for it in errors and notes. After an error the reader is of no more use: part
// of the file may have been taken.
func (r *Reader) File(name string, from io.Reader, f Format) error {
	if f > JSON {
		panic("BUG: there is no such format")
	}
	in := bufio.NewReader(from)
	if err := skipMark(in); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if f == Auto {
		var err error
		if f, err = sniff(in); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	r.sources = append(r.sources, name)
	var err error
	if f == JSON {
		err = r.json(in)
	} else {
		err = r.csv(in)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// skipMark passes over the byte order mark that spreadsheets write.
func skipMark(in *bufio.Reader) error {
	head, err := in.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.Equal(head, []byte("\xef\xbb\xbf")):
		_, err = in.Discard(3)
		return err
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		return errors.New("it is in UTF-16: save it as UTF-8")
	case bytes.HasPrefix(head, []byte("PK")) || bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return errors.New("it is compressed, or a spreadsheet: unpack it, or export it as CSV")
	case len(head) == 0:
		return errors.New("it is empty: export the usage again")
	}
	return nil
}

// sniff tells JSON from CSV by the first character that is not a blank.
func sniff(in *bufio.Reader) (Format, error) {
	for n := 1; ; n++ {
		head, err := in.Peek(n)
		if len(head) < n {
			if err == nil || errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) {
				err = errors.New("it is empty: export the usage again")
			}
			return 0, err
		}
		switch head[n-1] {
		case ' ', '\t', '\r', '\n':
		case '{', '[':
			return JSON, nil
		default:
			return CSV, nil
		}
	}
}

// source begins a source within the file that is being read, such as a page. Rows that are alike may not come from two.
func (r *Reader) source(name string) {
	file := r.sources[len(r.sources)-1]
	if at := strings.Index(file, ", "); at >= 0 {
		file = file[:at]
	}
	r.sources = append(r.sources, file+", "+name)
}

// row is a row of a provider's table.
type row struct {
	day        Day
	kind       string
	from, to   time.Time // the time it sums up; to is zero where the table has days alone
	dimensions []string  // what else tells it apart from rows of the same time, kind and model
}

// add takes a row.
func (r *Reader) add(w *row) error {
	name, err := r.name(w.day.Model)
	if err != nil {
		return err
	}
	w.day.Date, w.day.Model = DateOf(w.from), name
	if err := r.unseen(w); err != nil {
		return err
	}
	key := dayKey{w.kind, w.day.Date, name}
	if sum := r.days[key]; sum != nil {
		sum.add(&w.day)
		return nil
	}
	if len(r.days) >= maxDays {
		return fmt.Errorf("there are more than %d different days and models: export fewer days", maxDays)
	}
	day := w.day
	r.days[key] = &day
	return nil
}

// count counts a row, or whatever else there may be any number of.
func (r *Reader) count() error {
	if r.rows++; r.rows > maxRows {
		return fmt.Errorf("there are more than %d rows: export fewer days, or group by model alone", maxRows)
	}
	return nil
}

// name checks the name of a model and returns the one copy of it.
func (r *Reader) name(model string) (string, error) {
	if known, ok := r.names[model]; ok {
		return known, nil
	}
	clean := strings.TrimSpace(model)
	switch {
	case clean == "":
		return "", errors.New("it names no model")
	case len(clean) > maxName:
		return "", fmt.Errorf("model %.40q… has a name of more than %d bytes", clean, maxName)
	case !utf8.ValidString(clean) || strings.IndexFunc(clean, func(c rune) bool { return !unicode.IsPrint(c) }) >= 0:
		return "", fmt.Errorf("model %.40q has characters in its name that cannot be printed", clean)
	}
	clean = strings.Clone(clean)
	if len(r.names) < maxDays {
		r.names[strings.Clone(model)] = clean
	}
	return clean, nil
}

// unseen refuses a row that another source had already: exports that overlap would count twice. Within one source rows may
// be alike, since not everything that tells them apart is exported.
func (r *Reader) unseen(w *row) error {
	h := sha256.New()
	fmt.Fprintf(h, "%q %d %d %q %q", w.kind, w.from.Unix(), w.to.Unix(), w.day.Model, w.dimensions)
	var key [16]byte
	copy(key[:], h.Sum(nil))
	current := int32(len(r.sources) - 1)
	if before, ok := r.seen[key]; ok && before != current {
		return fmt.Errorf("%s of %s is in %s, too, and would count twice: leave one of them out; if they are of different projects or keys, export both at once, grouped by project_id and api_key_id",
			w.day.Model, w.day.Date, r.sources[before])
	}
	r.seen[key] = current
	return nil
}

// note keeps what a person should know, once.
func (r *Reader) note(format string, a ...any) {
	const most = 20
	text := fmt.Sprintf(format, a...)
	if len(r.notes) < most && !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// bounded is a reader that fails when too much of it is read at one go.
type bounded struct {
	from io.Reader
	left int
	what string
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("%s is too large to be one of an export", b.what)
	}
	if len(p) > b.left {
		p = p[:b.left]
	}
	n, err := b.from.Read(p)
	b.left -= n
	return n, err
}
