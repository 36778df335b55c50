package wire

import (
	"bytes"
	"slices"

	"github.com/tokenfare/tokenfare/cost"
)

// A reading is how the answers of an endpoint are read, or the events of a stream of them. The zero value reads nothing but usage.
type reading struct {
	choices  bool     // the member choices holds what the model said, and whether it holds anything is of interest
	said     string   // another member that holds what the model said, in items; empty: there is none
	text     string   // a member of the top level that is itself a piece of what the model said; empty: there is none
	finished string   // the type of the events whose member item was finished, said in pieces or not; empty: there are no items
	answer   string   // the member of an event that holds the answer as it is so far; empty: there is none
	last     []string // types of the events that end a stream; where there are none, [DONE] does
	makes    matter   // what is made, where it is no text: then it cannot be counted
	hears    bool     // what is read is a recording
}

// matter is what answers are made of.
type matter uint8

const (
	words matter = iota
	pictures
	sound
)

// How the one JSON value of an answer is read.
var values = map[Endpoint]*reading{
	Chat:            {choices: true},
	Completions:     {choices: true},
	Responses:       {said: "output"},
	Pictures:        {makes: pictures},
	PictureEdits:    {makes: pictures},
	PictureVariants: {makes: pictures},
	Speech:          {makes: sound},
	Transcriptions:  {text: "text", hears: true},
	Translations:    {text: "text", hears: true},
}

// How the events of a stream are read. What was said in pieces comes once more as a whole, which is not counted.
var events = map[Endpoint]*reading{
	Chat:        {choices: true},
	Completions: {choices: true},
	Responses: {
		text: "delta", finished: "response.output_item.done", answer: "response",
		last: []string{"response.completed", "response.incomplete", "response.failed"},
	},
	Pictures:       {makes: pictures, last: []string{"image_generation.completed"}},
	PictureEdits:   {makes: pictures, last: []string{"image_edit.completed"}},
	Speech:         {makes: sound, last: []string{"speech.audio.done"}},
	Transcriptions: {text: "delta", hears: true, last: []string{"transcript.text.done"}},
}

var unknownReading reading

// readingOf is how an answer of an endpoint is read.
func readingOf(e Endpoint, stream bool) *reading {
	from := values
	if stream {
		from = events
	}
	if known := from[e]; known != nil {
		return known
	}
	return &unknownReading
}

// sorted says of what kind the tokens of a usage are that does not say so itself.
func (is *reading) sorted(u cost.Usage) cost.Usage {
	if u.ImageOutput+u.AudioOutput == 0 {
		switch is.makes {
		case pictures:
			u.ImageOutput = u.Output
		case sound:
			u.AudioOutput = u.Output
		}
	}
	if is.hears && u.AudioInput == 0 {
		u.AudioInput = u.Input
	}
	return u.Normal()
}

// ends reports whether an event of that type is the last one.
func (is *reading) ends(kind []byte) bool {
	return slices.Contains(is.last, string(kind))
}

// goesOn reports whether others follow an event of that type. Of types that nobody knows that is not said.
func (is *reading) goesOn(kind []byte) bool {
	return bytes.HasPrefix(kind, []byte("response.")) && !is.ends(kind) && string(kind) != "response.cancelled"
}

// member is what a member of the top level means, or of the object that holds the answer, of which base is 1.
func (is *reading) member(name []byte, base int) topMember {
	switch {
	case is.choices && string(name) == "choices":
		return choicesMember
	case is.choices && isWords(name), is.text != "" && base == 0 && string(name) == is.text:
		return wordsMember
	case is.said != "" && string(name) == is.said:
		return saidMember
	case base > 0:
		return otherMember
	case is.answer != "" && string(name) == is.answer:
		return answerMember
	case len(is.last) > 0 && string(name) == "type":
		return typeMember
	case is.finished != "" && string(name) == "item":
		return itemMember
	case is.finished != "" && string(name) == "output_index":
		return indexMember
	case is.finished != "" && string(name) == "sequence_number":
		return numberMember
	case is.finished != "" && string(name) == "content_index":
		return contentMember
	case is.finished != "" && string(name) == "summary_index":
		return summaryMember
	case is.finished != "" && !isSilent(name):
		return pieceMember
	}
	return otherMember
}

// speaks reports whether answers hold what a model said.
func (is *reading) speaks() bool { return is.choices || is.said != "" || is.text != "" }
