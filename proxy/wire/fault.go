package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// where is the path to where the walk stands, as OpenAI writes it: messages[3].content[0].file.
func (r *reader) where() string {
	var b strings.Builder
	for _, s := range r.path {
		if s.name == (span{}) {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(clip(r.text(s.name)))
	}
	return b.String()
}

// clip bounds what an error repeats of a member name.
func clip(name string) string {
	const most = 64
	if len(name) <= most {
		return name
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + "…"
}

// fail makes an error about the member where the walk stands. The first %s in the format is the path to it.
func (r *reader) fail(code, format string, args ...any) *Error {
	where := r.where()
	return badRequest(code, where, fmt.Sprintf(format, append([]any{strconv.Quote(where)}, args...)...))
}

func (r *reader) tooComplex() *Error {
	return badRequest(CodeTooComplex, "", fmt.Sprintf(
		"The body is nested more than %d deep or holds more than %d values: send less structure.", maxDepth, maxValues,
	))
}

// syntax makes an error of what the decoder said. Its text is left out: it may quote the body.
func (r *reader) syntax(err error) *Error {
	at := r.dec.InputOffset()
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = syntactic.ByteOffset
	}
	return badRequest(CodeInvalidJSON, "", fmt.Sprintf("The body is not valid JSON: see byte %d of %d.", at, len(r.body)))
}
