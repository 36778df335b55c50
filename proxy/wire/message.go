package wire

import (
	"bytes"
	"slices"

	"github.com/tokenfare/tokenfare/cost"
)

func (r *reader) messages() error {
	if r.next() != '[' {
		return r.wrongType("an array of messages")
	}
	return r.array(func() error {
		if r.next() != '{' {
			return r.wrongType("an object")
		}
		r.message = message{firstAudio: len(r.req.Cost.Audio)}
		if err := r.object(messageShape, r.messageMember); err != nil {
			return err
		}
		r.endMessage()
		return nil
	})
}

// A message collects what can only be judged once it is read, since its role may come last.
type message struct {
	role       string
	lastText   int // 1 + the index of the text that its content ends with
	firstAudio int // the index of its first recording
	calls      []cost.ToolCall
	function   bool // there is a function_call
}

func (r *reader) messageMember(name string) error {
	switch name {
	case "role":
		return r.role()
	case "name":
		if r.next() == '"' {
			r.req.Cost.Names++
		}
	case "content":
		before := len(r.req.Cost.Text)
		if err := r.parts(r.part); err != nil {
			return err
		}
		if after := len(r.req.Cost.Text); after > before {
			r.message.lastText = after
		}
		return nil
	case "tool_calls":
		return r.toolCalls()
	case "function_call":
		return r.functionCall()
	case "tool_call_id":
		return r.callID()
	case "audio":
		if null, err := r.null(); null || err != nil {
			return err
		}
		return r.fail(CodeUnsupportedMember, "%s refers to audio stored at the provider, and nobody can know which key it is of: send its transcript as text.")
	case "":
		return r.unknown()
	}
	return r.countText(cost.PartMessages)
}

// role reads who speaks, which the model is told.
func (r *reader) role() error {
	if r.next() != '"' {
		return r.countText(cost.PartMessages)
	}
	at, err := r.scalar()
	if err == nil {
		r.message.role = r.word(at)
		r.count(cost.PartMessages, r.message.role)
	}
	return err
}

// endMessage adds what hangs on the message as a whole.
func (r *reader) endMessage() {
	facts, m := &r.req.Cost, &r.message
	facts.Messages++
	facts.AddToolCalls(m.calls)
	if m.function {
		facts.FunctionCalls++
	}
	switch m.role {
	case "assistant":
		for i := m.firstAudio; i < len(facts.Audio); i++ {
			facts.Audio[i].Assistant = true
		}
	case "function":
		facts.FunctionResults++
	case "system", "developer":
		if facts.FirstSystem == 0 {
			facts.FirstSystem = m.lastText
		}
	}
}

// A contentPart collects what can only be judged once the whole part is read, since its type may come last.
type contentPart struct {
	kind              string
	image             bool
	ref               int // 1 + the index of its file's reference; 0: there is none
	detail            cost.Detail
	url, audio, inlay span // strings not yet counted: an image's address, base64 of audio, base64 of a file
}

// parts reads a content: a text, a part, or an array of such, however deep. Some servers take what OpenAI does not.
func (r *reader) parts(part func() error) error {
	switch r.next() {
	case '[':
		return r.array(func() error {
			if r.next() == '[' {
				return r.parts(part)
			}
			return part()
		})
	case '{':
		return part()
	default:
		return r.countText(cost.PartMessages)
	}
}

// part reads one item of a message's content. Whatever its type says, an image, audio or file member counts as such;
// only where the type says so, too, is its data not counted as text. So no type can hide a prompt.
func (r *reader) part() error {
	if r.next() != '{' {
		return r.countText(cost.PartMessages)
	}
	var p contentPart
	if err := r.object(partShape, func(name string) error { return r.partMember(&p, name) }); err != nil {
		return err
	}
	return r.endPart(&p, p.kind == "image_url" || p.kind == "input_image", p.kind == "input_audio", p.kind == "file")
}

// endPart adds what is not text in a part, and as text what its type does not say is something else.
func (r *reader) endPart(p *contentPart, image, audio, file bool) error {
	switch p.kind {
	case "video", "video_url", "audio", "audio_url", "image", "document", "document_url", "file_url", "input_video",
		"tool_reference": // which some servers replace by a whole tool, each time
		return r.fail(CodeUnsupportedMember, "%s is of a type whose cost cannot be known before the call: send text, image_url, input_audio or file parts.")
	}
	facts := &r.req.Cost
	if p.ref > 0 && image {
		r.req.Refs[p.ref-1].Kind = PictureRef // which counts as a picture of unknown size
	}
	if p.image || image {
		facts.Images = append(facts.Images, cost.ImageOf(r.content(p.url), p.detail))
	}
	if p.audio != (span{}) {
		facts.Audio = append(facts.Audio, cost.AudioOf(r.content(p.audio)))
	}
	facts.FileTokens += r.documents.Tokens(r.content(p.inlay))
	r.countUnless(image, p.url)
	r.countUnless(audio, p.audio)
	r.countUnless(file, p.inlay)
	return nil
}

func (r *reader) partMember(p *contentPart, name string) error {
	switch name {
	case "type":
		return r.partKind(p, "text", "refusal", "image_url", "input_image", "input_audio", "file")
	case "image_url":
		p.image = p.image || r.next() != 'n'
		if r.next() == '"' { // not OpenAI's form, but servers take it
			return r.later(&p.url)
		}
		return r.attachment(imageShape, "url", p, &p.url)
	case "input_audio":
		return r.attachment(audioShape, "data", p, &p.audio)
	case "file":
		return r.attachment(fileShape, "file_data", p, &p.inlay)
	case "file_id":
		return r.fileID(p)
	default:
		if slices.Contains(unknowable, name) {
			return r.unknowable()
		}
		if name == "" {
			return r.unknown()
		}
		return r.countText(cost.PartMessages)
	}
}

// unknowable reads a member whose cost cannot be known before the call, which must be null.
func (r *reader) unknowable() error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	return r.fail(CodeUnsupportedMember, "%s is of a kind whose cost cannot be known before the call: send text, image_url, input_audio or file parts.")
}

// partKind reads the type of a part: one of words, which select, or a text.
func (r *reader) partKind(p *contentPart, words ...string) error {
	if r.next() != '"' {
		return r.countText(cost.PartMessages)
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	if p.kind = r.word(at); !slices.Contains(words, p.kind) {
		r.count(cost.PartMessages, p.kind)
	}
	return nil
}

// attachment reads the object that holds an image, audio or a file, and leaves its data for later.
func (r *reader) attachment(s *shape, data string, p *contentPart, at *span) error {
	inlaid := s != imageShape // a picture at an address has a flat cost
	if inlaid && r.next() == '"' {
		text, err := r.scalar()
		if err == nil {
			err = r.notRemote(text)
		}
		if err == nil {
			r.countUnless(false, text)
		}
		return err
	}
	if r.next() != '{' {
		return r.countText(cost.PartMessages)
	}
	return r.object(s, func(name string) error {
		switch {
		case name == data && r.next() == '"' && inlaid:
			return r.inlay(at)
		case name == data && r.next() == '"':
			return r.later(at)
		case inlaid && slices.Contains(addressed, name):
			return r.unknowable()
		case slices.Contains(patches, name):
			return r.foreign()
		case name == "file_id":
			return r.fileID(p)
		case name == "detail":
			return r.detail(&p.detail)
		case name == "format": // a word that selects, not text
			return r.keyword(cost.PartMessages, "wav", "mp3")
		case name == "":
			return r.unknown()
		default:
			return r.countText(cost.PartMessages)
		}
	})
}

// detail reads how closely to look at an image: a word that selects, not text.
func (r *reader) detail(d *cost.Detail) error {
	if r.next() != '"' {
		return r.countText(cost.PartMessages)
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	word := r.text(at)
	if *d = cost.DetailNamed(word); *d == cost.OtherDetail {
		r.count(cost.PartMessages, word)
	}
	return nil
}

// fileID reads a reference to a file. Whether it is read or looked at, the part's type says.
func (r *reader) fileID(p *contentPart) error {
	before := len(r.req.Refs)
	err := r.ref(FileRef)
	if len(r.req.Refs) > before {
		p.ref = len(r.req.Refs)
	}
	return err
}

// later reads a string without counting it.
func (r *reader) later(at *span) (err error) {
	*at, err = r.scalar()
	return err
}

// content is the decoded text of a string that was left for later. It is a part of the body unless there are escapes in
// it, which base64 does not need but some clients write.
func (r *reader) content(at span) []byte {
	if at == (span{}) {
		return nil
	}
	quoted := r.body[at.start:at.end]
	if bytes.IndexByte(quoted, '\\') >= 0 {
		return appendUnescaped(nil, quoted[1:len(quoted)-1])
	}
	return quoted[1 : len(quoted)-1]
}

func (r *reader) countUnless(skip bool, at span) {
	if !skip && at != (span{}) {
		r.count(cost.PartMessages, r.text(at))
	}
}
