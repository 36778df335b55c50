package cost

import (
	"bytes"
	"encoding/base64"
)

// payload is a file as it stands in a request: as it is, or in base64, of which only what is asked for is decoded.
type payload struct {
	text   []byte // without padding
	raw    bool   // text is the file itself
	begins int64  // bytes before its beginning: a tag
}

// dataURL is the payload of a data: URL (RFC 2397) that is in base64.
func dataURL(url []byte) (payload, bool) {
	const mostType = 1 << 10 // bytes before the data
	scheme, ending := []byte("data:"), []byte(";base64")
	comma := bytes.IndexByte(url[:min(len(url), mostType)], ',')
	if comma < len(scheme)+len(ending) || !bytes.EqualFold(url[:len(scheme)], scheme) ||
		!bytes.EqualFold(url[comma-len(ending):comma], ending) {
		return payload{}, false
	}
	return payloadOf(url[comma+1:]), true
}

// payloadOf is the payload that base64 text stands for.
func payloadOf(text []byte) payload {
	for range 2 {
		text = bytes.TrimSuffix(text, []byte("="))
	}
	return payload{text: text}
}

// from is what stands from byte at on, which is none of those before the beginning.
func (p payload) from(at int64) payload {
	p.begins += min(max(0, at), p.size())
	return p
}

// What sealed reasoning is taken to be: nobody outside can read it. OpenAI's own agent, Codex, estimates that 650 bytes of
// it are its seal, and that four of the others stand for a token; three are more careful.
const (
	bytesOfSeal = 650
	bytesSealed = 3
)

// SealedTokens is what reasoning is taken to be that only the provider can read, given its base64.
func SealedTokens(data []byte) int64 {
	return ceilDiv(max(0, payloadOf(data).size()-bytesOfSeal), bytesSealed)
}

// plain reports whether the first bytes stand in the text one behind the other. Decoders commonly skip what is not of the
// alphabet, and what is behind it would be read from another place than theirs.
func (p payload) plain(first int64) bool {
	if p.raw {
		return true
	}
	groups := (max(0, first) + p.begins + 2) / 3
	for _, c := range p.text[:min(int64(len(p.text)), saturatingMul(groups, 4))] {
		if !base64Alphabet[c] {
			return false
		}
	}
	return true
}

// base64Alphabet are the characters of both alphabets (RFC 4648, sections 4 and 5).
var base64Alphabet = func() (is [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		is[c] = true
	}
	return is
}()

// size is how many bytes it has.
func (p payload) size() int64 {
	if p.raw {
		return int64(len(p.text)) - p.begins
	}
	return int64(base64.RawStdEncoding.DecodedLen(len(p.text))) - p.begins
}

// read decodes what stands from byte at on into dst, and says how many bytes it found: fewer than dst has where the
// payload ends, or where it is not base64 in one of the two usual alphabets. It takes time in proportion to dst alone.
func (p payload) read(dst []byte, at int64) (n int) {
	if at < 0 || at >= p.size() {
		return 0
	}
	at += p.begins
	if p.raw {
		return copy(dst, p.text[at:])
	}
	if at%3 == 0 {
		n = p.readGroups(dst, at/3)
		at += int64(n)
	}
	for group := at / 3; n < len(dst); group++ {
		from := int(group) * 4
		if from >= len(p.text) {
			return n
		}
		quad := p.text[from:min(from+4, len(p.text))]
		var three [3]byte
		got, err := base64.RawStdEncoding.Decode(three[:], quad)
		if err != nil {
			got, err = base64.RawURLEncoding.Decode(three[:], quad)
		}
		if err != nil || got < base64.RawStdEncoding.DecodedLen(len(quad)) { // the decoder skips line ends; we do not
			return n
		}
		skip := 0
		if group == at/3 {
			skip = int(at % 3)
		}
		if skip >= got {
			return n
		}
		n += copy(dst[n:], three[skip:got])
	}
	return n
}

// readGroups is read for whole groups of three bytes, as long as they are in the usual alphabet.
func (p payload) readGroups(dst []byte, first int64) int {
	groups := min(int64(len(dst)/3), int64(len(p.text))/4-first)
	if groups <= 0 {
		return 0
	}
	n, err := base64.RawStdEncoding.Decode(dst[:groups*3], p.text[first*4:(first+groups)*4])
	if err != nil || int64(n) < groups*3 {
		return 0
	}
	return n
}
