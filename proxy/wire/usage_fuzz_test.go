package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tokenfare/tokenfare/cost"
)

// FuzzUsage compares with encoding/json and numbers of any size: a usage object is read alike, or refused where a figure is no
// plain whole number. Whatever it says, its normal form gives no credit.
func FuzzUsage(f *testing.F) {
	for _, seed := range []string{
		`{"prompt_tokens":30,"completion_tokens":70,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":20,"audio_tokens":null},"completion_tokens_details":{"reasoning_tokens":50}}`,
		`{"input_tokens":30,"output_tokens":70,"input_tokens_details":{"cached_tokens":90},"output_tokens_details":null}`,
		`{"total_tokens":7}`, `{"type":"duration","seconds":2.5}`, `{"seconds":1e400}`, `{"prompt_tokens":-1}`, `{"prompt_tokens":1e3}`, `{"prompt_tokens":"7"}`, `{}`, `[]`, `null`,
		`{"prompt_tokens":99999999999999999999,"completion_tokens":0}`, `{"prompt_tokens":null,"input_tokens":5}`, `{"prompt_tokens":1,"prompt_tokens":2}`, `{"Prompt_tokens":1}`,
		`{"completion_tokens_details":[1]}`, `{"prompt_tokens_details":{"cached_tokens":1.5}}`, `{"prompt_tokens":01}`, `{"prompt_tokens":5} x`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		u, figures, err := parseUsage(text)
		n := u.Normal()
		for _, figure := range []int64{n.Input, n.CachedInput, n.CacheWrite, n.AudioInput, n.ImageInput, n.Output, n.Reasoning, n.AudioOutput, n.ImageOutput, n.Milliseconds} {
			if figure < 0 {
				t.Fatalf("%s: %+v", text, n)
			}
		}
		if n.CachedInput > n.Input || n.Reasoning > n.Output {
			t.Fatalf("%s: %+v has parts that are more than their whole", text, n)
		}
		if !jsontext.Value(text).IsValid() { // repeated members are no JSON here, either
			return
		}
		want, wantFigures, ok := secondOpinion(text)
		if ok != (err == nil) || ok && (u != want || figures != wantFigures) {
			t.Fatalf("%s: %+v, figures %v, %v; encoding/json reads %+v, %v, %v", text, u, figures, err, want, wantFigures, ok)
		}
	})
}

// secondOpinion reads a usage object with encoding/json.
func secondOpinion(text []byte) (u cost.Usage, figures, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil || members == nil {
		return u, false, false
	}
	ok = true
	largest := func(of map[string]json.RawMessage, names ...string) (most int64, there bool) {
		for _, name := range names {
			raw, given := of[name]
			if !given || string(raw) == "null" {
				there = there || given
				continue
			}
			n, whole := new(big.Int).SetString(string(raw), 10)
			if !whole || n.Sign() < 0 || len(raw) > 18 || bytes.ContainsAny(raw, "+-_") {
				ok = false
				continue
			}
			most, there, figures = max(most, n.Int64()), true, true
		}
		return most, there
	}
	var prompt, completion, total int64
	prompt, hasPrompt := largest(members, "prompt_tokens", "input_tokens")
	completion, _ = largest(members, "completion_tokens", "output_tokens")
	total, _ = largest(members, "total_tokens")
	if raw, given := members["seconds"]; given && string(raw) != "null" {
		var s float64
		if json.Unmarshal(raw, &s) != nil || s < 0 || s > 1e9 || strings.HasPrefix(string(raw), "-") {
			ok = false
		} else {
			u.Milliseconds, figures = int64(math.Ceil(1000*s)), true
		}
	}
	found := figures
	for _, name := range []string{"prompt_tokens_details", "input_tokens_details", "input_token_details", "completion_tokens_details", "output_tokens_details", "output_token_details"} {
		raw, given := members[name]
		if !given || string(raw) == "null" {
			continue
		}
		var parts map[string]json.RawMessage
		if json.Unmarshal(raw, &parts) != nil || parts == nil {
			ok = false
			continue
		}
		into := map[string]*int64{"cached_tokens": &u.CachedInput, "cache_write_tokens": &u.CacheWrite, "audio_tokens": &u.AudioInput, "image_tokens": &u.ImageInput}
		if strings.HasPrefix(name, "completion") || strings.HasPrefix(name, "output") {
			into = map[string]*int64{"reasoning_tokens": &u.Reasoning, "audio_tokens": &u.AudioOutput, "image_tokens": &u.ImageOutput}
		}
		for part, to := range into {
			n, _ := largest(parts, part)
			*to = max(*to, n)
		}
	}
	if u.Input = prompt; !hasPrompt {
		u.Input = max(0, total-completion)
	}
	u.Output = max(completion, total-u.Input)
	return u, found, ok
}
