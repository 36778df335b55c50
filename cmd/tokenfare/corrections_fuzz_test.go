package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// FuzzRevision: a correction that somebody posts is refused, or names a call and a charge that is possible.
func FuzzRevision(f *testing.F) {
	const id = `"id":"req_1k0v0rhg0qn00"`
	for _, seed := range []string{
		`{` + id + `,"charge":"nothing"}`, `{` + id + `,"charge":"free"}`, `{` + id + `,"cost_usd":"0.12"}`, `{` + id + `,"cost_usd":"-1"}`, `{` + id + `,"cost_usd":"1e9"}`,
		`{` + id + `,"usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":5}}`, `{` + id + `,"usage":{"input_tokens":-1}}`,
		`{` + id + `,"usage":{"input_tokens":1,"cached_input_tokens":2}}`, `{` + id + `,"charge":"counted","cost_usd":"1"}`, `{"id":"req_x","charge":"nothing"}`, `{}`,
		`{` + id + `,"usage":{"images":-5}}`, `{` + id + `,"usage":{"input_tokens":9223372036854775807,"output_tokens":9223372036854775807}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var r revision
		if json.Unmarshal(body, &r) != nil {
			return
		}
		id, err := r.check()
		if err != nil {
			if id != 0 || !strings.Contains(err.Error(), errRevision.Error()) {
				t.Fatalf("%s: %d, %v", body, id, err)
			}
			return
		}
		if again, err := ledger.ParseID(r.ID); err != nil || again != id {
			t.Fatalf("%s is of call %s: %v", body, id, err)
		}
		if r.Cost != nil {
			if n, err := cost.ParseUSD(*r.Cost); err != nil || n < 0 {
				t.Fatalf("%s costs %d: %v", body, n, err)
			}
		}
		if r.Usage != nil {
			if u := r.Usage.over(cost.Usage{Images: 1, Characters: 2}); u.Input < 0 || u.Output < 0 || u.CachedInput > u.Input || u.Reasoning > u.Output || u.Images < 0 || u.Milliseconds < 0 || u.Characters < 0 {
				t.Fatalf("%s is %+v", body, u)
			}
		}
	})
}

// FuzzCorrections: what POST /ledger/corrections takes is one object of these members, each call at most once and every revision whole, or
// it is refused as what the caller can mend.
func FuzzCorrections(f *testing.F) {
	const one, other = `{"id":"req_1k0v0rhg0qn00","charge":"nothing"}`, `{"id":"req_1k0v0rhg0qn01","cost_usd":"0.5","was":"counted"}`
	for _, seed := range []string{
		`{"reason":"r","corrections":[` + one + `,` + other + `]}`, `{"reason":"r","corrections":[` + one + `,` + one + `]}`, `{"reason":"","corrections":[` + one + `]}`,
		`{"reason":"r","corrections":[]}`, `{"reason":"r"}`, `{"reason":"r","corrections":[` + one + `]} {}`, `{"reason":"r","corrections":[` + one + `],"corrections":[` + other + `]}`,
		`{"REASON":"r","Corrections":[` + one + `]}`, `{"reason":"r","corrections":[null]}`, `{"reason":"` + strings.Repeat("x", 257) + `","corrections":[` + one + `]}`, `null`, `[]`,
		`{"reason":"r","corrections":[{"id":"req_1k0v0rhg0qn00","usage":{"input_tokens":1,"Input_Tokens":-1}}]}`, `{"reason":"r","more":1}`, `{"reason":"r","corrections":[` + one + `]}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		asked, err := readCorrections(body)
		if err != nil {
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil {
			t.Fatalf("%s is no one JSON object: %v", body, err)
		}
		for name := range members {
			if !strings.EqualFold(name, "reason") && !strings.EqualFold(name, "corrections") {
				t.Fatalf("%s: member %q is not known", body, name)
			}
		}
		if err := asked.check(); err != nil {
			if !errors.Is(err, errRevision) {
				t.Fatalf("%s: %v is not for the caller to mend", body, err)
			}
			return
		}
		if n := len(asked.Corrections); n < 1 || n > mostCorrections || asked.Reason == "" || len(asked.Reason) > longestReason {
			t.Fatalf("%s: %d corrections, for %q", body, n, asked.Reason)
		}
		calls := map[ledger.ID]bool{}
		for i := range asked.Corrections {
			id, err := asked.Corrections[i].check()
			if err == nil && calls[id] {
				t.Fatalf("%s: %s is corrected twice", body, id)
			}
			calls[id] = err == nil
		}
		again, err := json.Marshal(asked)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := readCorrections(again); err != nil || second.check() != nil || len(second.Corrections) != len(asked.Corrections) {
			t.Fatalf("%s was written as %s, and read as %+v: %v", body, again, second, err)
		}
	})
}

// FuzzReadRevisions: a file of corrections is read whole, each line that is not empty by itself, or its first line that is wrong is named.
func FuzzReadRevisions(f *testing.F) {
	const one, other = `{"id":"req_1k0v0rhg0qn00","charge":"nothing"}`, `{"id":"req_1k0v0rhg0qn01","usage":{"input_tokens":3,"output_tokens":4}}`
	for _, seed := range []string{
		one + "\n" + other + "\n", one + "\r\n\r\n  " + other, "", "\n\n", one + one, one + "\n{", one + " x", one + "\n" + `{"id":"req_1k0v0rhg0qn01","charge":"all"}`, "\ufeff" + one,
		`{"id":"req_1k0v0rhg0qn01","cost":"1"}`, one + "\n// x", "[" + one + "]", strings.Repeat("\n", 70_000) + one,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := readRevisions(bytes.NewReader(text), "file.jsonl")
		if err != nil {
			if list != nil || !errors.Is(err, errMisuse) && !strings.Contains(err.Error(), "token too long") || !strings.Contains(err.Error(), "file.jsonl") {
				t.Fatalf("%q: %v, and %v", text, list, err)
			}
			return
		}
		var lines [][]byte
		for line := range bytes.Lines(text) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				lines = append(lines, line)
			}
		}
		if len(lines) != len(list) {
			t.Fatalf("%q: %d revisions of %d lines", text, len(list), len(lines))
		}
		for i, line := range lines {
			var r revision
			if err := json.Unmarshal(line, &r); err != nil || r.ID != list[i].ID {
				t.Fatalf("%q is read as %+v, and encoding/json reads %+v: %v", line, list[i], r, err)
			}
			if _, err := list[i].check(); err != nil {
				t.Fatalf("%q is taken: %v", line, err)
			}
		}
	})
}
