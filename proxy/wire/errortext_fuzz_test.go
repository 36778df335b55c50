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
	f.Add("", uint64(5), ", ", uint64(5), "")
	f.Add(" ", uint64(10_004), ",0A ", uint64(16_000), " ")
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
// Where it is not clear how far a figure goes, as in 10,0A, any reading will do.
func namesLess(text string) bool {
	for {
		_, after, found := strings.Cut(text, "Limit")
		if !found {
			return false
		}
		text = after
		least, _, ok := figure(after)
		for asked := after; ok; {
			if _, asked, found = strings.Cut(asked, "Requested"); !found {
				break
			}
			if _, most, ok := figure(asked); ok && most.Cmp(least) > 0 {
				return true
			}
		}
	}
}

// figure reads the figure that a text begins with: as far as its first comma, and as far as it goes.
func figure(text string) (least, most *big.Int, ok bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(text, ":"), " ")
	all := text[:len(text)-len(strings.TrimLeft(text, "0123456789,"))]
	first, _, _ := strings.Cut(all, ",")
	least, ok = new(big.Int).SetString(first, 10)
	if !ok {
		return nil, nil, false
	}
	most, ok = new(big.Int).SetString(strings.ReplaceAll(all, ",", ""), 10)
	return least, most, ok
}
