package wire

import "testing"

func TestALimitIsRenamedForUpstreamsThatKnowOneName(t *testing.T) {
	const head, tail = `{"model":"m","messages":[],`, `}`
	for _, c := range []struct{ name, in, member, out string }{
		{"other name", `"max_completion_tokens":7`, "max_tokens", `"max_tokens":7`},
		{"other name, the other way", `"max_tokens" : 7`, "max_completion_tokens", `"max_completion_tokens" : 7`},
		{"right name", `"max_tokens":7`, "max_tokens", `"max_tokens":7`},
		{"both", `"max_tokens":7,"max_completion_tokens":9`, "max_tokens", `"max_tokens":7,"max_completion_tokens":9`},
		{"null under the right name", `"max_tokens":null,"max_completion_tokens":9`, "max_tokens", `"max_completion_tokens":null,"max_tokens":9`},
		{"null under the other name", `"max_completion_tokens":null`, "max_tokens", `"max_completion_tokens":null`},
		{"none", `"n":1`, "max_tokens", `"n":1`},
	} {
		r, err := ReadChat([]byte(head + c.in + tail))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := string(r.Edit(Edits{RenameLimit: true, OutputMember: c.member})); got != head+c.out+tail {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func TestZeroIsNoLimit(t *testing.T) {
	for _, member := range chatDialect.limits {
		if _, err := ReadChat([]byte(`{"model":"m","messages":[],"` + member + `":0}`)); err == nil {
			t.Errorf("%s: 0 was accepted, which some servers take for no limit", member)
		}
	}
}
