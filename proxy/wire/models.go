package wire

import (
	"errors"
	"fmt"
	"io"
)

// maxModelEntries bounds how many entries of a model list are read.
const maxModelEntries = 100_000

// FilterModels reduces an upstream's model list, {"object":"list","data":[{"id":…},…]}, to the entries whose id keep
// wants, and appends an entry for every name of add that is not among them. Entries and other members keep their bytes.
// The error, if body is no such list, does not quote it.
func FilterModels(body []byte, keep func(id string) bool, add []string) ([]byte, error) {
	list, err := readModels(body)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(body)+64*len(add)), body[:list.open]...)
	there := make(map[string]bool, len(list.entries))
	separate := func() {
		if len(there) > 0 {
			out = append(out, ',')
		}
	}
	for _, entry := range list.entries {
		if keep(entry.id) {
			separate()
			out = append(out, entry.json...)
			there[entry.id] = true
		}
	}
	for _, name := range add {
		if !there[name] {
			separate()
			out = append(appendQuoted(append(out, `{"id":`...), name), `,"object":"model","created":0,"owned_by":"tokenfare"}`...)
			there[name] = true
		}
	}
	return append(out, body[list.end:]...), nil
}

// RedactModels returns an upstream's model list as redact makes it, but for the ids of its entries: these are what callers ask for, and name
// organisations on some servers. The body is left alone; redact is given parts of it.
func RedactModels(body []byte, redact func(part []byte) []byte) ([]byte, error) {
	list, err := readModels(body)
	if err != nil {
		return nil, err
	}
	out, done := make([]byte, 0, len(body)), 0
	for _, entry := range list.entries {
		out = append(out, redact(body[done:entry.named.start])...)
		out = append(out, body[entry.named.start:entry.named.end]...)
		done = entry.named.end
	}
	return append(out, redact(body[done:])...), nil
}

// FindModel returns the entry of a model list that has the given id, as it came; the first one if there are several.
func FindModel(body []byte, id string) (json []byte, ok bool) {
	list, err := readModels(body)
	if err != nil {
		return nil, false
	}
	for _, entry := range list.entries {
		if entry.id == id {
			return entry.json, true
		}
	}
	return nil, false
}

type modelList struct {
	open, end int // body[open:end] is what stands between the brackets of data
	items     int // what is in data, entries or not
	entries   []modelEntry
}

type modelEntry struct {
	id    string
	named span   // where the id stands in the body
	json  []byte // part of the body
}

func readModels(body []byte) (*modelList, error) {
	r := newReader(body, &Request{})
	list := &modelList{}
	if r.next() != '{' {
		return nil, errors.New("read model list: it is not a JSON object")
	}
	err := r.object(modelListShape, func(name string) error {
		if name != "data" || r.next() != '[' {
			return r.skip()
		}
		list.open = r.start() + 1
		err := r.array(func() error { return list.readEntry(r) })
		list.end = int(r.dec.InputOffset()) - 1
		return err
	})
	if err == nil {
		if _, tail := r.dec.ReadToken(); !errors.Is(tail, io.EOF) {
			err = errors.New("there is more behind its end")
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read model list: %w", err)
	case list.open == 0:
		return nil, errors.New(`read model list: it has no array "data"`)
	}
	return list, nil
}

// readEntry reads one item of data. Items that are not objects with an id are left out of the list.
func (l *modelList) readEntry(r *reader) error {
	l.items++
	if r.next() != '{' {
		return r.skip()
	}
	entry, start := modelEntry{}, r.start()
	err := r.object(modelEntryShape, func(name string) error {
		if name != "id" || r.next() != '"' {
			return r.skip()
		}
		at, err := r.scalar()
		if err == nil {
			entry.id, entry.named = r.text(at), at
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(l.entries) == maxModelEntries {
		return fmt.Errorf("it has more than %d entries", maxModelEntries)
	}
	entry.json = r.body[start:r.dec.InputOffset():r.dec.InputOffset()]
	if entry.id != "" {
		l.entries = append(l.entries, entry)
	}
	return nil
}

var (
	modelListShape  = newShape("data")
	modelEntryShape = newShape("id")
)
