package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tokenfare/tokenfare/cost"
)

// maxFields bounds the fields of a form.
const maxFields = 128

// A form is how the forms of one endpoint are read (RFC 7578). Fields are known by their exact names only; one that is
// repeated, or whose name is another way to write a known one, is an error, and so is any encoding but the plain one: two
// servers would disagree about it.
type form struct {
	shape  *shape
	prompt string                                                // the field that must be there
	model  string                                                // the model that is meant where none is named; empty: one must be named
	file   func(f *formReader, name string, content []byte) bool // takes a file; false: there is none of that name
	field  func(f *formReader, name, value string) (bool, error) // takes another field; false: none of that name
	end    func(f *formReader)                                   // sets what hangs on several fields
}

// readForm reads a form strictly. It refers to body, and copies nothing but short fields.
func readForm(form *form, contentType string, body []byte) (*Request, error) {
	boundary, err := boundaryOf(contentType)
	if err != nil {
		return nil, err
	}
	req := &Request{PromptMember: form.prompt, LeastLimit: 1, ContentType: formType(boundary), body: body, form: true, delimiter: "--" + boundary}
	req.Cost.Choices, req.Cost.HasMaxOutput = 1, true
	f := newFormReader(form, boundary, body, req)
	for {
		more, err := f.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	if req.Model == "" {
		req.Model = form.model
	}
	switch {
	case req.Model == "":
		return nil, badRequest(CodeMissingMember, "model", `The field "model" is missing: name a model.`)
	case !f.seen[form.prompt]:
		return nil, badRequest(CodeMissingMember, form.prompt, fmt.Sprintf("The field %q is missing.", form.prompt))
	}
	form.end(f)
	req.Cost.Model = req.Model
	return req, nil
}

// plainForm is the type of a form, with one boundary (RFC 2046, section 5.1.1) and at most a charset, which some clients add and
// which says nothing: neither a second boundary, nor one written as RFC 2231 has it, of which servers choose differently.
var plainForm = regexp.MustCompile(`(?i)^[ \t]*multipart/form-data[ \t]*` + someCharset + `;[ \t]*boundary=` +
	`(?:([0-9a-z'+_.-]{1,70})|"([0-9a-z'()+_,./:=? -]{0,69}[0-9a-z'()+_,./:=?-])")[ \t]*` + someCharset + `;?[ \t]*$`)

const someCharset = `(?:;[ \t]*charset="?[0-9a-z_-]{1,40}"?[ \t]*)?`

// boundaryOf is the boundary that the type of a form names.
func boundaryOf(contentType string) (string, error) {
	found := plainForm.FindStringSubmatch(contentType)
	if found == nil {
		return "", badRequest(CodeInvalidForm, "", "The body must be a form: send it as multipart/form-data with one plain boundary.")
	}
	return found[1] + found[2], nil
}

// formType is the type of a form in words of our own: nobody reads another boundary in it.
func formType(boundary string) string {
	return mime.FormatMediaType("multipart/form-data", map[string]string{"boundary": boundary})
}

func newFormReader(form *form, boundary string, body []byte, req *Request) *formReader {
	return &formReader{
		parts:     multipart.NewReader(bytes.NewReader(body), boundary),
		delimiter: []byte("--" + boundary), body: body, form: form, req: req, seen: map[string]bool{},
	}
}

// formReader walks a form from its first field to its last.
type formReader struct {
	parts     *multipart.Reader
	delimiter []byte // what stands before each part
	at        int    // where the next delimiter is looked for
	body      []byte
	form      *form
	req       *Request
	seen      map[string]bool
	fields    int
	fidelity  bool // input_fidelity is high
}

// next reads one field, or says that there are no more.
func (f *formReader) next() (more bool, err error) {
	part, err := f.parts.NextRawPart()
	if errors.Is(err, io.EOF) {
		end, closed := bytes.CutPrefix(f.body[f.at:], append(slices.Clip(f.delimiter), "--"...))
		if !closed || len(bytes.ReplaceAll(bytes.TrimLeft(end, " \t"), []byte("\r\n"), nil)) > 0 { // nobody may read a part behind the last
			return false, oddForm()
		}
		return false, nil
	}
	if f.fields++; err != nil || f.fields > maxFields {
		return false, badRequest(CodeInvalidForm, "", fmt.Sprintf("The form cannot be read, or it has more than %d fields.", maxFields))
	}
	at, err := f.place(part)
	if err != nil {
		return false, err
	}
	name, err := f.nameOf(part)
	if err != nil {
		return false, err
	}
	// What a file's field holds is a file, be it named or not: some servers take an empty name for one, too.
	if f.form.file(f, name, f.body[at.start:at.end]) {
		return true, nil
	}
	if namesFile(part) {
		return false, badRequest(CodeInvalidForm, name, fmt.Sprintf("The form has a file in the field %q, which takes none.", name))
	}
	return true, f.text(name, at)
}

// namesFile reports whether a part says that it is a file, under whatever name.
func namesFile(part *multipart.Part) bool {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	_, named := params["filename"]
	return named || err != nil
}

// place finds where the content of a part stands in the body. A form that is not written as every client writes it, with
// CRLF and nothing between its parts, is refused.
func (f *formReader) place(part *multipart.Part) (span, error) {
	length, err := io.Copy(io.Discard, part)
	blank := []byte("\r\n\r\n")
	head := bytes.Index(f.body[f.at:], blank)
	if err != nil || head < 0 || !f.plainHead(f.body[f.at:f.at+head]) {
		return span{}, oddForm()
	}
	at := span{start: f.at + head + len(blank)}
	at.end = at.start + int(length)
	if at.end+2 > len(f.body) || string(f.body[at.end:at.end+2]) != "\r\n" || !bytes.HasPrefix(f.body[at.end+2:], f.delimiter) {
		return span{}, oddForm()
	}
	if bytes.Contains(f.body[at.start:at.end], f.delimiter) { // some would take it for the end of the part
		return span{}, oddForm()
	}
	f.at = at.end + 2
	return at, nil
}

// plainHead reports whether what stands before the content of a part is a delimiter and whole lines, so that nobody sees another
// part begin or end there.
func (f *formReader) plainHead(head []byte) bool {
	lines, ok := bytes.CutPrefix(head, f.delimiter)
	if !ok {
		return false
	}
	for i, line := range bytes.Split(lines, []byte("\r\n")) {
		switch {
		case (len(line) == 0) != (i == 0), bytes.ContainsAny(line, "\r\n"), bytes.HasPrefix(line, f.delimiter):
			return false
		case i > 0 && (line[0] == ' ' || line[0] == '\t'): // goes on with the line before, as some read it
			return false
		}
	}
	return true
}

func oddForm() *Error {
	return badRequest(CodeInvalidForm, "", "The form is not written as RFC 7578 says: end lines with CR LF, put nothing before its parts nor behind them, and close it with its boundary.")
}

// nameOf is the name of a field that may be there.
func (f *formReader) nameOf(part *multipart.Part) (string, error) {
	name := part.FormName()
	for header, values := range part.Header {
		switch header {
		case "Content-Disposition", "Content-Type", "Content-Length":
			if len(values) == 1 {
				continue
			}
		}
		return "", badRequest(CodeInvalidForm, "", fmt.Sprintf("A field of the form has the header %q, which this proxy does not take, or has it twice.", header))
	}
	if name == "" || encodedName.MatchString(part.Header.Get("Content-Disposition")) {
		return "", badRequest(CodeInvalidForm, "", "A field of the form has no plain name.")
	}
	if _, known := f.form.shape.exact[name]; !known {
		if alike := f.form.shape.resembles(name); alike != "" {
			return "", badRequest(CodeAmbiguousMember, name, fmt.Sprintf("The field %q could be taken for %q: write that name exactly, or leave it out.", name, alike))
		}
	}
	if f.seen[name] && !strings.HasSuffix(name, "[]") {
		return "", badRequest(CodeDuplicateMember, name, fmt.Sprintf("The field %q is there more than once: send it once.", name))
	}
	f.seen[name] = true
	return name, nil
}

// encodedName is a field's name as RFC 2231 has it, which few servers read. The name of a file may be written so.
var encodedName = regexp.MustCompile(`(?i)(?:^|[;\s])name\*`)

// text reads a field that is not a file.
func (f *formReader) text(name string, at span) error {
	value := string(f.body[at.start:at.end])
	if !utf8.ValidString(value) {
		return badRequest(CodeInvalidForm, name, fmt.Sprintf("The field %q is not valid UTF-8: encode it as UTF-8.", name))
	}
	if name == "model" {
		if fault := modelFault(value); fault != "" {
			return badRequest(CodeInvalidValue, name, fmt.Sprintf(fault, `"model"`))
		}
		f.req.Model, f.req.model = value, at
		return nil
	}
	if _, known := f.form.shape.exact[name]; !known && value != "" && isForeignField(name) {
		return badRequest(CodeUnsupportedMember, name, fmt.Sprintf(foreignText, strconv.Quote(name)))
	}
	known, err := f.form.field(f, name, value)
	if !known && err == nil {
		f.req.Cost.Text = append(f.req.Cost.Text, cost.Text{Part: cost.PartOther, S: value})
	}
	return err
}

// integer reads a field that is a plain whole number.
func (f *formReader) integer(name, value string, low, high int64) (int64, error) {
	n, ok := plainInteger([]byte(value))
	if !ok || n < low || n > high {
		return 0, badRequest(CodeInvalidValue, name, fmt.Sprintf("%q must be a whole number from %d to %d, written in plain digits.", name, low, high))
	}
	return n, nil
}

// boolean reads a field that is true or false.
func (f *formReader) boolean(name, value string) (bool, error) {
	switch value {
	case "true", "True":
		return true, nil
	case "false", "False":
		return false, nil
	default:
		return false, badRequest(CodeInvalidValue, name, fmt.Sprintf("%q must be true or false.", name))
	}
}
