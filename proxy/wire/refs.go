package wire

import (
	"fmt"
	"strconv"
)

// mostRefs is how many references to stored objects a request may have: whose each is must be looked up.
const mostRefs = 1024

// longestID is how long the id of a stored object may be, in bytes. OpenAI's have about 60.
const longestID = 128

// RefKind is what a reference brings into a call.
type RefKind uint8

// The kinds of references.
const (
	PreviousResponse RefKind = iota // a response, with all that was said before it
	InConversation                  // a conversation, with all that is in it
	ItemRef                         // an item of a response or a conversation
	FileRef                         // a file that is read
	PictureRef                      // a file that is looked at
	MountedRef                      // a file that code can open; the model is not shown it
	ContainerRef                    // a container that code has run in, and may run in again
)

// Ref is a reference to an object that the provider stores.
type Ref struct {
	Kind  RefKind
	ID    string // letters, digits, underscores and hyphens, at most 128
	Param string // the member that it stands in, as a path
}

// IsID reports whether a text can be the id of a stored object, and so be a part of a path: letters, digits, underscores and
// hyphens, at most 128.
func IsID(s string) bool {
	if s == "" || len(s) > longestID {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// ref reads the id of a stored object, or null.
func (r *reader) ref(kind RefKind) error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	if r.next() != '"' {
		return r.wrongType("a string or null")
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	return r.addRef(kind, at)
}

// addRef adds the reference that a string is.
func (r *reader) addRef(kind RefKind, at span) error {
	id := r.text(at)
	if !IsID(id) {
		return r.fail(CodeInvalidValue, "Invalid %s: expected an ID of letters, numbers, underscores or dashes, at most %d of them.", longestID)
	}
	if len(r.req.Refs) == mostRefs {
		return r.fail(CodeTooComplex, "%s is beyond the %d stored objects that a request may name: send fewer.", mostRefs)
	}
	r.req.Refs = append(r.req.Refs, Ref{kind, id, r.where()})
	return nil
}

// refs reads an array of ids, or null.
func (r *reader) refs(kind RefKind) error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	if r.next() != '[' {
		return r.wrongType("an array of strings or null")
	}
	return r.array(func() error { return r.ref(kind) })
}

// conversation reads an id, or an object that holds nothing but one.
func (r *reader) conversation() error {
	if r.next() != '{' {
		return r.ref(InConversation)
	}
	return r.object(conversationShape, func(name string) error {
		if name != "id" {
			return r.fail(CodeInvalidValue, `%s is not known here: a conversation is named by its "id" alone.`)
		}
		return r.ref(InConversation)
	})
}

var conversationShape = newShape("id")

// store reads whether the answer is to be stored.
func (r *reader) store() error {
	r.req.store.present = true
	on, at, err := r.boolean()
	if err != nil {
		return err
	}
	r.req.store.value = at
	if r.body[at.start] != 'n' { // null is as good as absent
		r.req.store.said, r.req.Stores = true, on
	}
	return nil
}

// A storeSpan says where store stands in the body.
type storeSpan struct {
	present, said bool // it is there; and is not null
	byDefault     bool // what says nothing is stored
	value         span
}

// What to do without each kind of reference.
var without = [...]string{
	PreviousResponse: `send the whole conversation as input (with an SDK that does so for you: "store": false; in the AI SDK providerOptions.openai.store: false, in LangChain zdrEnabled: true)`,
	InConversation:   "send the whole conversation as input",
	ItemRef: `send the item itself. SDKs do so when answers are not stored: "store": false with include: ["reasoning.encrypted_content"]; ` +
		"in the AI SDK providerOptions.openai.store: false, in LangChain zdrEnabled: true",
	FileRef:      "send the file itself in file_data",
	PictureRef:   "send the picture itself as a data: URL in image_url",
	MountedRef:   "send what is in the file as text",
	ContainerRef: "leave the item out, or send what the code left as text",
}

// Stateless returns why the request cannot be served where nothing may be stored at the provider; nil if it can be.
func (r *Request) Stateless() error {
	if r.Stores && r.store.said {
		return badRequest(CodeUnsupportedMember, "store", `"store" must not be true: this proxy lets nothing be stored at the provider. `+
			"Leave it out, or say false (in the AI SDK providerOptions.openai.store: false, in LangChain zdrEnabled: true).")
	}
	if len(r.Refs) == 0 {
		return nil
	}
	ref := r.Refs[0]
	return badRequest(CodeUnsupportedMember, ref.Param, fmt.Sprintf("%s refers to what is stored at the provider, which this proxy does not allow: %s.",
		strconv.Quote(ref.Param), without[ref.Kind]))
}

// Lingers returns why the items of the request must not be stored: one brings a tool along that the provider runs, which it
// then may in every later call that goes on from there, though nothing in that call shows it. It is nil if they may be stored.
func (r *Request) Lingers() error { return r.lingers }

// spliceStore writes that the answer is not to be stored.
func (r *Request) spliceStore() splice {
	if r.store.present {
		return splice{r.store.value, "false"}
	}
	return r.insert(`"store":false`)
}
