package test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

// compareStored compares what arrived upstream with what the client had stored.
func (w sdkWant) compareStored(t *testing.T, seen sdkSeen, calls []*fakeopenai.Call) {
	t.Helper()
	var asked []string
	for _, c := range calls {
		path := strings.Split(c.Path, "/")
		for i, segment := range path {
			if slices.Contains(seen.IDs, segment) {
				path[i] = "*"
			}
		}
		asked = append(asked, c.Method+" "+strings.Join(path, "/"))
	}
	if diff := cmp.Diff(w.asked, slices.Compact(asked)); diff != "" {
		t.Errorf("what arrived upstream (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(seen.IDs, seen.Names); w.listed && diff != "" {
		t.Errorf("list (-made +listed):\n%s", diff)
	}
	if w.named == nil || len(calls) == 0 {
		return
	}
	last := calls[len(calls)-1].Body
	var want []string
	for i, member := range w.named {
		id := "nothing"
		if i < len(seen.IDs) {
			id = seen.IDs[i]
		}
		want = append(want, member+" "+id)
	}
	if diff := cmp.Diff(want, sdkNames(decoded(t, last))); diff != "" {
		t.Errorf("what the last call names (-want +got):\n%s", diff)
	}
	if !slices.Contains(w.named, "reasoning") && strings.Contains(string(last), fakeopenai.Noted) {
		t.Error("the last call repeats what it names")
	}
}

// sdkNames are the stored objects that a request names, and by what: members, or the types of items.
func sdkNames(v any) (names []string) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			names = append(names, sdkNames(element)...)
		}
	case map[string]any:
		for _, member := range []string{"previous_response_id", "conversation", "file_id"} {
			if id, given := v[member].(string); given {
				names = append(names, member+" "+id)
			}
		}
		id, given := v["id"].(string)
		kind, _ := v["type"].(string)
		if len(v) == 1 {
			kind = "item_reference" // openai-go leaves it out
		}
		if given && (kind == "item_reference" || kind == "reasoning" && v["encrypted_content"] == nil) {
			names = append(names, kind+" "+id)
		}
		for _, member := range []string{"input", "content"} {
			names = append(names, sdkNames(v[member])...)
		}
	}
	return names
}
