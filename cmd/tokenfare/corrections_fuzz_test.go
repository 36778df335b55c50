package main

import (
	"encoding/json"
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
