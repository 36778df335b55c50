package reconcile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// json reads a sequence of JSON values, one behind the other or in arrays: pages of OpenAI's Usage and Costs APIs as
// they came, buckets out of them, answers of Azure Monitor, or rows of a table.
func (r *Reader) json(in *bufio.Reader) error {
	limited := &bounded{from: in, left: maxElement, what: "a part of the file"}
	decoder := json.NewDecoder(limited)
	decoder.UseNumber()
	d := &document{reader: r, decoder: decoder, limited: limited}
	for n := 0; ; n++ {
		limited.left = maxElement
		err := d.value(0)
		switch {
		case errors.Is(err, io.EOF) && n > 0:
			return d.end()
		case err != nil:
			return d.located(err)
		}
	}
}

// maxNesting is how deep pages, buckets and rows may stand in arrays and objects; results and metrics are decoded at once.
const maxNesting = 6

// document walks through JSON.
type document struct {
	reader  *Reader
	decoder *json.Decoder
	limited *bounded
	table   table // of rows that are objects

	pages   int            // objects with data, so far
	buckets int            // of the page, or rows
	kind    string         // of table, that the results of the page are; empty: there were none yet
	last    string         // of table, that the results before the page were
	waiting [][2]time.Time // buckets without results, of which nothing says yet what kind they are
}

// located says where in the file an error is.
func (d *document) located(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		err = fmt.Errorf("%s is a %s, which is not what stands there: give the answers of the API as they came", kind.Field, kind.Value)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it ends in the middle: export it again")
	case errors.As(err, &syntax):
		err = fmt.Errorf("it is not JSON: %w", err)
	}
	if d.pages > 0 {
		return fmt.Errorf("page %d, byte %d: %w", d.pages, d.decoder.InputOffset(), err)
	}
	return fmt.Errorf("byte %d: %w", d.decoder.InputOffset(), err)
}

// value reads an object, or an array of them. io.EOF is the end of the file before it.
func (d *document) value(depth int) error {
	token, err := d.decoder.Token()
	if err == nil {
		err = d.reader.count()
	}
	if err != nil {
		return err
	}
	switch {
	case token == json.Delim('{') && depth < maxNesting:
		return d.object(depth)
	case token == json.Delim('[') && depth < maxNesting:
		for d.decoder.More() {
			if err := d.inner(depth + 1); err != nil {
				return err
			}
		}
		return d.close()
	case token == json.Delim('{') || token == json.Delim('['):
		return errors.New("it is nested too deep to be an export")
	}
	return errors.New("there is a text or number where a page, bucket or row should be: give the answers of the API as they came")
}

// inner is value within something: the file may not end there.
func (d *document) inner(depth int) error {
	d.limited.left = maxElement
	return unended(d.value(depth))
}

func unended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// close reads a closing brace or bracket.
func (d *document) close() error {
	_, err := d.decoder.Token()
	return unended(err)
}

// object reads an object to its end, and then takes it for what its members say that it is. They may be in any order.
func (d *document) object(depth int) error {
	o := object{}
	for d.decoder.More() {
		token, err := d.decoder.Token()
		if err != nil {
			return unended(err)
		}
		name, _ := token.(string)
		switch name {
		case "data":
			o.page = true
			err = d.page(depth)
		case "results":
			o.bucket = true
			err = d.results(&o)
		case "value":
			err = d.metrics(&o)
		default:
			var raw json.RawMessage
			if err = d.decoder.Decode(&raw); err == nil {
				o.scalar(name, raw)
			}
		}
		if err != nil {
			return unended(err)
		}
	}
	if err := d.close(); err != nil {
		return err
	}
	return d.take(&o)
}

// page reads the data of a page.
func (d *document) page(depth int) error {
	d.pages++
	d.buckets = 0
	if d.kind != "" {
		d.last, d.kind = d.kind, ""
	}
	d.reader.source(fmt.Sprintf("page %d", d.pages))
	if err := d.inner(depth + 1); err != nil {
		return err
	}
	return d.settle(d.last)
}

// end is called when the whole file was read.
func (d *document) end() error {
	if len(d.waiting) > 0 {
		d.reader.note("%s has days without any usage, as it says", d.file())
	}
	if err := d.settle(completions); err != nil {
		return err
	}
	return d.table.end()
}

// object is what was read of one.
type object struct {
	page    bool     // it has data, which were taken
	bucket  bool     // it has results
	results []result // of a bucket
	monitor bool     // it is an answer of Azure Monitor
	points  []point  // of it
	names   []string // of members with a single value
	values  []string
	failed  bool // it has a member "error"
}

const maxMembers = 100 // of an object; the widest row that is known has forty

// scalar keeps a member whose value is a text, a number or a truth.
func (o *object) scalar(name string, raw json.RawMessage) {
	if name == "error" && !bytes.Equal(raw, []byte("null")) {
		o.failed = true
	}
	if len(o.names) >= maxMembers || len(raw) == 0 || raw[0] == '{' || raw[0] == '[' {
		return
	}
	var text number
	if json.Unmarshal(raw, &text) == nil {
		o.names, o.values = append(o.names, name), append(o.values, string(text))
	}
}

// member is the value of a scalar; empty where there is none.
func (o *object) member(name string) string {
	for i, n := range o.names {
		if n == name {
			return o.values[i]
		}
	}
	return ""
}

// take takes an object that was read.
func (d *document) take(o *object) error {
	switch {
	case o.page:
		if o.member("has_more") == "true" {
			d.reader.note("page %d of %s says that there are more (has_more): pages that are missing here are days that are not compared", d.pages, d.file())
		}
		return nil
	case o.bucket:
		d.buckets++
		if err := d.bucket(o); err != nil {
			return fmt.Errorf("bucket %d: %w", d.buckets, err)
		}
		return nil
	case o.monitor:
		return d.azure(o)
	case o.failed:
		return errors.New("it is an error of the API and no usage: ask again, with an admin key")
	case o.member("object") == "page" || o.member("object") == "list":
		return errors.New(`it is a page without "data": give the answers of the API as they came`)
	}
	return d.row(o)
}

// file is the name of the file that is being read.
func (d *document) file() string {
	name, _, _ := strings.Cut(d.reader.sources[len(d.reader.sources)-1], ", page ")
	return name
}

// row takes an object as a row of a table, whose columns are its members.
func (d *document) row(o *object) error {
	d.table.reader = d.reader
	columns, err := mapColumns(o.names)
	if err == nil {
		d.table.columns = columns
		err = d.table.row(o.values)
	}
	if d.buckets++; err != nil {
		return fmt.Errorf("row %d: %w", d.buckets, err)
	}
	return nil
}

// number is the text of a JSON number, as it stands there, or of a string: OpenAI's Costs API writes amounts as either.
// Truths are words, and null is empty.
type number string

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case '{', '[':
		return errors.New("there is an object where a number or text should be")
	case 'n':
		*n = ""
	case '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		*n = number(text)
	default:
		*n = number(raw)
	}
	return nil
}
