package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"
)

// FuzzPreface: words stand before the message of an error that has one, where encoding/json finds it, and nothing else changes; all else
// stays as it is, byte for byte.
func FuzzPreface(f *testing.F) {
	for _, seed := range []string{
		`{"error":{"message":"Rate limit reached","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, `{"error":{"message":7}}`, `{"error":"x"}`, `{}`, `null`, `[]`, ``,
		`{"error":{"message":"a","message":"b"},"id":1e3,"x":[1,{"y":null}]}`, `{"Error":{"message":"a"}}`, `{"error":{"message":"\ud800 <b>\u2028"}} `, `{"error":{"message":null}}`,
	} {
		f.Add([]byte(seed), "The provider says: ")
	}
	f.Fuzz(func(t *testing.T, body []byte, words string) {
		words = strings.ToValidUTF8(words, "")
		before := bytes.Clone(body)
		got := Preface(body, words)
		if !bytes.Equal(body, before) {
			t.Fatal("the body was changed")
		}
		plain := func(text []byte) (top map[string]any, inner map[string]any) {
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			if !json.Valid(text) || d.Decode(&top) != nil {
				return nil, nil
			}
			inner, _ = top["error"].(map[string]any)
			return top, inner
		}
		top, inner := plain(body)
		message, ok := inner["message"].(string)
		if !ok {
			if value, there := inner["message"]; there && value == nil {
				return // null is read as no words
			}
			if !bytes.Equal(got, body) {
				t.Fatalf("%s has no message, and became %s", body, got)
			}
			return
		}
		inner["message"] = words + message
		after, _ := plain(got)
		if !reflect.DeepEqual(top, after) {
			t.Fatalf("%s became %s", body, got)
		}
	})
}

// FuzzOversized: what is read of two figures is what they say, whatever stands between and around them; and a text that is taken to say
// that a call is too large names a smaller figure before a larger one.
func FuzzOversized(f *testing.F) {
	f.Add("Request too large for gpt-4o on tokens per min (TPM): ", uint64(10_000), ", ", uint64(16_000), ". Visit https://x")
	f.Add("", uint64(30), ", Used 5, ", uint64(20), "")
	f.Add("Limit 1, ", uint64(3), " Limits ", uint64(2), "Requested 9")
	f.Add("Limit: 99999999999999999999 ", uint64(0), "\n", uint64(1), "")
	f.Fuzz(func(t *testing.T, before string, limit uint64, between string, requested uint64, behind string) {
		text := fmt.Sprintf("%sLimit %d%sRequested %d%s", before, limit, between, requested, behind)
		got := Oversized([]byte(text))
		if got && !namesLess(text) {
			t.Fatalf("%q does not say that a call is too large", text)
		}
		alone := !strings.Contains(before+between, "Limit") && !strings.Contains(before+between, "Requested")
		separate := (before == "" || strings.HasSuffix(before, " ")) && (between == " " || strings.HasPrefix(between, ", ") && strings.HasSuffix(between, " ")) &&
			(behind == "" || strings.HasPrefix(behind, ". ")) && !strings.Contains(between, "\n")
		small := limit < 1<<62 && requested < 1<<62
		if alone && separate && small && got != (requested > limit) {
			t.Fatalf("%q: %v", text, got)
		}
	})
}

// namesLess reports whether there is a figure in a text that is behind the word Limit, and one behind it that is behind Requested and larger.
func namesLess(text string) bool {
	figures := func(word, text string) (all []*big.Int, rest []string) {
		for {
			_, after, found := strings.Cut(text, word)
			if !found {
				return all, rest
			}
			text = after
			digits := strings.TrimPrefix(strings.TrimPrefix(after, ":"), " ")
			end := 0
			for end < len(digits) && (digits[end] >= '0' && digits[end] <= '9' || digits[end] == ',') {
				end++
			}
			if n, ok := new(big.Int).SetString(strings.ReplaceAll(digits[:end], ",", ""), 10); ok {
				all, rest = append(all, n), append(rest, after)
			}
		}
	}
	limits, behind := figures("Limit", text)
	for i, limit := range limits {
		asked, _ := figures("Requested", behind[i])
		for _, n := range asked {
			if n.Cmp(limit) > 0 {
				return true
			}
		}
	}
	return false
}
