package wire

import "bytes"

// A payload is what a string holds that has no words in it. Sound and pictures have tokens of their own, which their bytes do not tell: only a
// usage says how many, and counting the letters of base64 would charge a hundred times as much.
type payload uint8

const (
	noPayload      payload = iota // words
	sealPayload                   // a signature, or what only the provider can read: nothing that was made
	addressPayload                // an address, which may be a file itself
	filePayload                   // a file, if there is anything in it
	filledPayload                 // a file that is not empty
)

// payloadOf is what a member of what the model said holds, by its name and by what it is in.
func (s *scanner) payloadOf(name []byte) payload {
	if s.depth <= int(s.picture) {
		s.picture = 0
	}
	switch string(name) {
	case "images", "image", "image_url":
		if s.picture == 0 {
			s.picture = int16(s.depth) // at most maxScanDepth
		}
		if string(name) == "image_url" {
			return filePayload
		}
	case "data", "b64_json", "partial_image_b64", "file_data":
		return filePayload
	case "url":
		if s.picture > 0 {
			return filePayload
		}
		return addressPayload
	case "signature", "thought_signature", "encrypted_content":
		return sealPayload
	}
	return noPayload
}

// unseal returns what is text of a piece of a payload: all from the first byte on that neither base64 nor an address has.
func (s *scanner) unseal(b []byte) []byte {
	at := bytes.IndexFunc(b, func(r rune) bool { return r <= ' ' || r > '~' })
	if at < 0 {
		s.fill(b)
		return nil
	}
	s.sealed = false
	s.texts++
	return b[at:]
}

// fill notes what a piece of a payload says of it.
func (s *scanner) fill(b []byte) {
	const data = "data:"
	for s.holds == addressPayload && len(b) > 0 {
		if b[0]|0x20 != data[s.prefix]|0x20 {
			s.holds = sealPayload
		} else if s.prefix++; int(s.prefix) == len(data) {
			s.holds = filePayload
		}
		b = b[1:]
	}
	if s.holds == filePayload && len(b) > 0 {
		s.holds = filledPayload
	}
}

// hides reports whether something was made that is no text, so that nobody can count it, as far as the value was read.
func (s *scanner) hides() bool {
	return s.unseen || s.sealed && s.holds == filledPayload && s.phase == inString
}
