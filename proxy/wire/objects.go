package wire

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tokenfare/tokenfare/cost"
)

// itemsDialect is for items that are put into a conversation without being answered.
var itemsDialect = dialect{
	shape: newBodyShape(nil, "items", "metadata"), prompt: "items", plural: "an array of items", bare: true,
	member: func(r *reader, name string) error {
		if name == "items" {
			return r.items("user")
		}
		return r.countAll(cost.PartOther)
	},
}

// ReadItems reads a request that makes a conversation, or adds to one. It is read as [Read] reads requests that are answered.
// A Request of no items has no messages. Items that bring tools along that the provider runs are errors, see [Request.Lingers].
func ReadItems(body []byte) (*Request, error) {
	req, err := itemsDialect.read(body)
	if err != nil {
		return nil, err
	}
	if err := req.Lingers(); err != nil {
		return nil, err
	}
	return req, nil
}

// Strings returns which of some texts are strings somewhere in a body that [ReadItems] has read, names included. It reads as that does: what
// it could not read to the end would have all of them.
func Strings(body []byte, texts []string) map[string]bool {
	wanted, there := map[string]bool{}, map[string]bool{}
	for _, text := range texts {
		wanted[text] = true
	}
	r := newReader(body, &Request{})
	defer r.release()
	look := func(at span) {
		if text := r.text(at); wanted[text] {
			there[text] = true
		}
	}
	err := r.walk(func(value span, _ bool) {
		if r.body[value.start] == '"' {
			look(value)
		}
	}, look)
	if err != nil {
		return wanted
	}
	return there
}

// updateDialect is for what may be changed of a stored object.
var updateDialect = dialect{
	shape: newBodyShape(nil, "metadata"), bare: true,
	member: func(r *reader, name string) error {
		if name != "metadata" {
			return r.fail(CodeUnsupportedMember, `%s cannot be changed here: only "metadata" can.`)
		}
		return r.skip()
	},
}

// CheckUpdate reads a request that changes a stored object: its metadata, and nothing else.
func CheckUpdate(body []byte) error {
	_, err := updateDialect.read(body)
	return err
}

// Upload is a file that is to be stored.
type Upload struct {
	Purpose     string
	Tokens      int64  // that it may have when it is read, see [cost.FileTokens]
	ContentType string // that the form is to be sent with
}

// purposes are what files may be stored for: those that cost nothing until a request names the file.
var purposes = []string{"assistants", "user_data", "vision"}

var uploadShape = newShape("file", "purpose", "expires_after[anchor]", "expires_after[seconds]")

// ReadUpload reads a form that stores a file, as strictly as [Read] reads forms.
func ReadUpload(contentType string, body []byte) (*Upload, error) {
	boundary, err := boundaryOf(contentType)
	if err != nil {
		return nil, err
	}
	up := &Upload{ContentType: formType(boundary)}
	f := newFormReader(up.form(), boundary, body, &Request{})
	for more := true; more; {
		if more, err = f.next(); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"file", "purpose"} {
		if !f.seen[name] {
			return nil, badRequest(CodeMissingMember, name, fmt.Sprintf("The field %q is missing.", name))
		}
	}
	return up, nil
}

func (up *Upload) form() *form {
	return &form{
		shape: uploadShape,
		file: func(_ *formReader, name string, content []byte) bool {
			if name == "file" {
				up.Tokens = cost.RawFileTokens(content)
			}
			return name == "file"
		},
		field: func(_ *formReader, name, value string) (bool, error) {
			if name == "purpose" {
				up.Purpose = value
				return true, purposeFault(value)
			}
			if _, known := uploadShape.exact[name]; !known {
				return false, badRequest(CodeUnsupportedMember, name, fmt.Sprintf("The field %q is not known: leave it out.", name))
			}
			return true, nil
		},
	}
}

// purposeFault says why files of a purpose are not stored.
func purposeFault(purpose string) error {
	if slices.Contains(purposes, purpose) {
		return nil
	}
	why := "is not known"
	switch purpose {
	case "batch", "fine-tune", "evals":
		why = "is for work that is done later, whose cost cannot be bounded when it is asked for"
	}
	return badRequest(CodeUnsupportedMember, "purpose", fmt.Sprintf(
		`The "purpose" of this file %s: say "user_data" or "vision" for files that requests are to name.`, why,
	))
}

// Page is a page of a list of stored objects.
type Page struct {
	Entries []PageEntry
	More    bool // there are further pages
}

// PageEntry is an object of a page.
type PageEntry struct {
	ID   string
	JSON []byte // as it came
}

var (
	pageShape      = newShape("data", "has_more")
	pageEntryShape = newShape("id")
)

// ReadPage reads a page, {"object":"list","data":[{"id":…},…],"has_more":…}. The error, if body is none, does not quote it.
func ReadPage(body []byte) (*Page, error) {
	r, page := newReader(body, &Request{}), &Page{}
	if r.next() != '{' {
		return nil, errors.New("read a list: it is not a JSON object")
	}
	there := false
	err := r.object(pageShape, func(name string) error {
		switch {
		case name == "data" && r.next() == '[':
			there = true
			return r.array(func() error { return page.readEntry(r) })
		case name == "has_more":
			var err error
			page.More, _, err = r.boolean()
			return err
		default:
			return r.skip()
		}
	})
	if err == nil {
		if _, tail := r.dec.ReadToken(); !errors.Is(tail, io.EOF) {
			err = errors.New("there is more behind its end")
		}
	}
	if err == nil && !there {
		err = errors.New(`it has no array "data"`)
	}
	if err != nil {
		return nil, fmt.Errorf("read a list: %w", err)
	}
	return page, nil
}

func (p *Page) readEntry(r *reader) error {
	if r.next() != '{' {
		return errors.New("an entry is not an object")
	}
	entry, start := PageEntry{}, r.start()
	err := r.object(pageEntryShape, func(name string) error {
		if name != "id" || r.next() != '"' {
			return r.skip()
		}
		at, err := r.scalar()
		if err == nil {
			entry.ID = r.text(at)
		}
		return err
	})
	entry.JSON = r.body[start:r.dec.InputOffset():r.dec.InputOffset()]
	p.Entries = append(p.Entries, entry)
	return err
}

// JSON writes the page as OpenAI does.
func (p *Page) JSON() []byte {
	b := []byte(`{"object":"list","data":[`)
	for i, e := range p.Entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e.JSON...)
	}
	first, last := "", ""
	if n := len(p.Entries); n > 0 {
		first, last = p.Entries[0].ID, p.Entries[n-1].ID
	}
	b = appendNullable(append(b, `],"first_id":`...), first)
	b = appendNullable(append(b, `,"last_id":`...), last)
	if p.More {
		return append(b, `,"has_more":true}`...)
	}
	return append(b, `,"has_more":false}`...)
}
