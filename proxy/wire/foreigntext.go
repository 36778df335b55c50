package wire

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextError makes an error in OpenAI's shape of the body of an error answer that is no JSON: a line of text, or a page of HTML. Its message
// begins with what was answered, and the text follows, bounded, with what redact takes out of it: a page hides a word from whoever looks
// for it before its tags and entities are gone. Of 500 and above there is no text: those pages are written by whatever stands before a
// server that fails, and name hosts and addresses that concern no caller. The status decides the type.
func TextError(status int, answered string, body []byte, redact func([]byte) []byte) *Error {
	e := &Error{Status: status, Type: typeOf(status), Code: "upstream_failed", Message: answered + ", without saying why."}
	if status >= 500 {
		return e
	}
	if text := bounded(redact([]byte(pageText(body)))); text != "" {
		e.Message = answered + ": " + text
	}
	return e
}

// What of a page is not shown, and what stands between two words of it.
var (
	unshown = regexp.MustCompile(`(?is)<!--.*?-->|<(script|style)\b.*?</(script|style)\s*>`)
	tag     = regexp.MustCompile(`(?s)</?[a-zA-Z!?][^>]*>`)
)

// pageText is the text of a body on one line, without the tags of HTML; empty, if the body is no text.
func pageText(body []byte) string {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	if !utf8.Valid(body) || bytes.ContainsFunc(body, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) {
		return ""
	}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		body = tag.ReplaceAll(unshown.ReplaceAll(body, []byte(" ")), []byte(" "))
		body = []byte(html.UnescapeString(string(body)))
	}
	return strings.Join(strings.Fields(string(body)), " ")
}
