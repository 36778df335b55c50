package test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// sdkPatience is how long a client may take for whatever it is asked to do.
const sdkPatience = 90 * time.Second

// sdkNotes is a file of six words.
const sdkNotes = "one two three four five six"

// What clients in Go send and ask for; node/clients/samples.mjs has the same.
var (
	sdkRecording = append([]byte("RIFF\x24\x01\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x01\x00\x00"), bytes.Repeat([]byte{128}, 256)...)
	sdkTool      = map[string]any{"type": "object", "properties": map[string]any{"over": map[string]any{"type": "string"}}, "required": []string{"over"}, "additionalProperties": false}
	sdkSchema    = map[string]any{
		"type": "object", "properties": map[string]any{"animal": map[string]any{"type": "string"}, "legs": map[string]any{"type": "number"}},
		"required": []string{"animal", "legs"}, "additionalProperties": false,
	}
)

// sdkTries records the exchanges that a client makes through it, one after the other.
type sdkTries struct {
	*http.Transport
	tries []sdkTry
}

func (s *sdkTries) RoundTrip(r *http.Request) (*http.Response, error) {
	at := time.Now().UnixMilli()
	resp, err := s.Transport.RoundTrip(r)
	if err == nil {
		ms, _ := strconv.ParseInt(resp.Header.Get("Retry-After-Ms"), 10, 64)
		s.tries = append(s.tries, sdkTry{At: at, Ended: time.Now().UnixMilli(), Status: resp.StatusCode, MS: ms})
	}
	return resp, err
}

// sdkParallel does the same many times at once.
func sdkParallel(n int, do func() (sdkSeen, error)) (seen sdkSeen, err error) {
	type result struct {
		seen sdkSeen
		err  error
	}
	results := make(chan result, n)
	for range n {
		go func() {
			one, err := do()
			results <- result{one, err}
		}()
	}
	for range n {
		r := <-results
		seen.Texts, err = append(seen.Texts, r.seen.Text), errors.Join(err, r.err)
	}
	return seen, err
}

// sdkVector reads an embedding in either of its forms.
func sdkVector(raw json.RawMessage) (vector []float32, err error) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return vector, json.Unmarshal(raw, &vector)
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	vector = make([]float32, len(b)/4)
	return vector, binary.Read(bytes.NewReader(b), binary.LittleEndian, vector)
}
