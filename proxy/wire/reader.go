package wire

import (
	"bytes"
	"strings"
	"sync"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tokenfare/tokenfare/cost"
)

// Bounds on the structure of a request. Its length is bounded by whoever reads the body.
const (
	maxDepth  = 256     // objects and arrays inside each other
	plainName = 64      // bytes; a name longer than that is counted like a value where it is not part of a text that is
	maxValues = 1 << 19 // values and member names together; each costs up to some 50 bytes of memory
)

// reader walks a request from left to right, once, and fills in req. All its methods return *Error as error.
type reader struct {
	dec     *jsontext.Decoder
	source  bytes.Buffer // of body, that dec reads
	body    []byte
	values  int
	name    span    // of the member name read last
	path    []step  // where the walk stands, for error messages
	message message // the one being read
	scratch []byte  // reused for decoding strings
	req     *Request

	documents cost.Documents // of this request

	instructed bool  // there is more to speech than its text
	prompted   int64 // how many prompts there are, where each is answered by itself
	wanted     int64 // n; 0: it is not given
	leastLimit int64 // the smallest output limit that may be given: some servers take 0 for no limit at all
}

// A span is a part of the body: body[start:end].
type span struct{ start, end int }

// A step leads from an object to a member (known by its quoted name) or from an array to an item.
type step struct {
	name  span
	index int
}

// newReader makes a reader, of what a released one has left if there is one.
func newReader(body []byte, req *Request) *reader {
	r, ok := readers.Get().(*reader)
	if !ok {
		r = &reader{dec: new(jsontext.Decoder), path: make([]step, 0, 8)}
	}
	r.reset(body)
	r.req = req
	return r
}

var readers sync.Pool // of readers that were released

// release is for who needs the reader no more, and nothing of it.
func (r *reader) release() {
	const most = 64 << 10 // bytes that may wait for the next
	*r = reader{dec: r.dec, path: r.path[:0], scratch: r.scratch[:0]}
	if cap(r.scratch) > most {
		r.scratch = nil
	}
	r.reset(nil)
	readers.Put(r)
}

// reset makes ready for a body.
func (r *reader) reset(body []byte) {
	// The decoder's own checks are off where our rules differ: UTF-8 is checked for the whole body (a lone surrogate
	// escape may pass), and members may be repeated where nothing is judged. It reads a bytes.Buffer in place.
	r.source = *bytes.NewBuffer(body)
	r.dec.Reset(&r.source, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	r.body, r.leastLimit = body, 1
}

// next is the kind of the next token. An error shows as an invalid kind here and as an error at the next read.
func (r *reader) next() jsontext.Kind { return r.dec.PeekKind() }

// start is the offset of the next token.
func (r *reader) start() int {
	at := int(r.dec.InputOffset())
	for at < len(r.body) && strings.IndexByte(" \t\r\n,:", r.body[at]) >= 0 {
		at++
	}
	return at
}

// scalar reads a value that is neither object nor array, or a member name.
func (r *reader) scalar() (span, error) {
	value, err := r.dec.ReadValue()
	if err != nil {
		return span{}, r.syntax(err)
	}
	if r.values++; r.values > maxValues {
		return span{}, r.tooComplex()
	}
	end := int(r.dec.InputOffset())
	return span{end - len(value), end}, nil
}

// begin reads the opening bracket of an object or array.
func (r *reader) begin() error {
	if _, err := r.dec.ReadToken(); err != nil {
		return r.syntax(err)
	}
	if r.values++; r.values > maxValues || r.dec.StackDepth() > maxDepth {
		return r.tooComplex()
	}
	return nil
}

// end reads the closing bracket of an object or array.
func (r *reader) end() error {
	if _, err := r.dec.ReadToken(); err != nil {
		return r.syntax(err)
	}
	return nil
}

// object reads an object that has a shape. visit must read the member's value; it gets the member's name, or "" when
// the shape does not have it.
func (r *reader) object(s *shape, visit func(name string) error) error {
	var seen nameSet
	var others map[string]bool // names beyond the shape
	return r.members(func(name string) error {
		number, known := s.exact[name]
		switch {
		case known && seen.add(number), others[name]:
			return r.fail(CodeDuplicateMember, "The member %s is there more than once: send it once.")
		case known:
		default:
			if alike := s.resembles(name); alike != "" {
				return r.fail(CodeAmbiguousMember, "The member %s could be taken for %q: write that name exactly, or leave it out.", alike)
			}
			if others == nil {
				others = make(map[string]bool)
			}
			others[name] = true
			if len(name) > plainName {
				r.count(cost.PartOther, name) // a text in the place of a name
			}
			name = ""
		}
		return visit(name)
	})
}

// members reads an object that is not judged. visit must read the member's value.
func (r *reader) members(visit func(name string) error) error {
	if err := r.begin(); err != nil {
		return err
	}
	for r.next() != '}' {
		at, err := r.scalar()
		if err != nil {
			return err
		}
		r.name = at
		r.path = append(r.path, step{name: at})
		if err := visit(r.word(at)); err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
	}
	return r.end()
}

// array reads an array. visit must read the item.
func (r *reader) array(visit func() error) error {
	if err := r.begin(); err != nil {
		return err
	}
	for i := 0; r.next() != ']'; i++ {
		r.path = append(r.path, step{index: i})
		if err := visit(); err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
	}
	return r.end()
}

// null reads a null if one is next.
func (r *reader) null() (bool, error) {
	if r.next() != 'n' {
		return false, nil
	}
	_, err := r.scalar()
	return true, err
}

// longText is the length from which on a text is a part of the body, which nobody changes, and not a copy of it: a prompt of a
// megabyte is there once. What is shorter may be kept for longer than the body, and must not keep it.
const longText = 4 << 10

// text is the decoded text of a string.
func (r *reader) text(at span) string {
	quoted := r.body[at.start:at.end]
	if bytes.IndexByte(quoted, '\\') < 0 {
		if len(quoted) > longText {
			return unsafe.String(&quoted[1], len(quoted)-2)
		}
		return string(quoted[1 : len(quoted)-1])
	}
	if len(quoted) > longText { // decoded to where it stays
		text := appendUnescaped(make([]byte, 0, len(quoted)), quoted[1:len(quoted)-1])
		return unsafe.String(unsafe.SliceData(text), len(text))
	}
	r.scratch = appendUnescaped(r.scratch[:0], quoted[1:len(quoted)-1])
	return string(r.scratch)
}

// word is the decoded text of a string that is likely to be one of those that are in nearly every body, which are not copied.
func (r *reader) word(at span) string {
	if word, ok := usualWords[string(r.body[at.start+1:at.end-1])]; ok {
		return word
	}
	return r.text(at)
}

// count adds a text to what the estimate counts.
func (r *reader) count(part cost.Part, s string) {
	if s != "" {
		if r.req.Cost.Text == nil {
			r.req.Cost.Text = make([]cost.Text, 0, 8)
		}
		r.req.Cost.Text = append(r.req.Cost.Text, cost.Text{Part: part, S: s})
	}
}

// countAll reads any value and counts every string in it, and everything else in an array, which may be a token number to
// some: 1.0 and true are to those who take what can be converted. Member names are not counted.
func (r *reader) countAll(part cost.Part) error {
	return r.walk(func(value span, inArray bool) {
		switch first := r.body[value.start]; {
		case first == '"':
			r.count(part, r.text(value))
		case inArray && first != 'n':
			if part == cost.PartMessages {
				r.req.Cost.PromptIDs++
				return
			}
			r.req.Cost.TokenIDs++
		}
	}, func(name span) {
		if name.end-name.start > plainName {
			r.count(cost.PartOther, r.text(name)) // a text in the place of a name
		}
	})
}

// countJSON reads any value and counts its compact JSON text, names included.
func (r *reader) countJSON(part cost.Part) error {
	text, err := r.compact()
	if err == nil {
		r.count(part, text)
	}
	return err
}

// compact reads any value and returns its compact JSON text.
func (r *reader) compact() (string, error) {
	start := r.start()
	if err := r.skip(); err != nil {
		return "", err
	}
	return r.compactFrom(start)
}

// compactFrom is the compact JSON text from start to where the walk stands.
func (r *reader) compactFrom(start int) (string, error) {
	src := r.body[start:r.dec.InputOffset()]
	compact, err := jsontext.AppendFormat(r.scratch[:0], src, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return "", r.syntax(err)
	}
	r.scratch = compact
	return string(compact), nil
}

// skip reads any value.
func (r *reader) skip() error { return r.walk(func(span, bool) {}, func(span) {}) }

// walk reads any value and shows the scalars in it, and the member names. It does not recurse.
func (r *reader) walk(show func(value span, inArray bool), name func(at span)) error {
	outside := r.dec.StackDepth()
	for {
		switch r.next() {
		case '{', '[':
			if err := r.begin(); err != nil {
				return err
			}
		case '}', ']':
			if err := r.end(); err != nil {
				return err
			}
		default:
			parent, n := r.dec.StackIndex(r.dec.StackDepth())
			value, err := r.scalar()
			if err != nil {
				return err
			}
			if parent != '{' || n%2 == 1 { // in an object, names and values take turns
				show(value, parent == '[')
			} else {
				name(value)
			}
		}
		if r.dec.StackDepth() == outside {
			return nil
		}
	}
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
