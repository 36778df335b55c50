package wire

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzReadPage compares with encoding/json: the entries of a list are those that are there, with their ids, and no others; what is written
// again is a list that says the same.
func FuzzReadPage(f *testing.F) {
	for _, seed := range []string{
		`{"object":"list","data":[{"id":"resp_1","object":"response"},{"id":"resp_2"}],"first_id":"resp_1","last_id":"resp_2","has_more":true}`,
		`{"data":[],"has_more":false}`, `{"data":[{}]}`, `{"data":[{"id":7}]}`, `{"data":[{"id":"a","id":"b"}]}`, `{"data":[{"ID":"a"}]}`, `{"data":null}`, `{"data":[1]}`,
		`{"data":[{"id":"\u0061b"}],"data":[]}`, `{"data":[{"x":{"id":"c"}}]} `, `{"data":[]} {}`, `{"has_more":"yes","data":[]}`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		page, err := ReadPage(body)
		if err != nil {
			if page != nil || err.Error() == "" {
				t.Fatalf("%v and %q", page, err)
			}
			return
		}
		var members map[string]json.RawMessage
		var data []json.RawMessage
		if json.Unmarshal(body, &members) != nil || json.Unmarshal(members["data"], &data) != nil || len(data) != len(page.Entries) {
			t.Fatalf("%s: %d entries, and encoding/json reads %d of %v", body, len(page.Entries), len(data), members)
		}
		var more bool
		if json.Unmarshal(members["has_more"], &more); more != page.More {
			t.Fatalf("%s: has more: %v", body, page.More)
		}
		for i, raw := range data {
			var entry map[string]json.RawMessage
			var id string
			if json.Unmarshal(raw, &entry) != nil || json.Unmarshal(entry["id"], &id) != nil {
				id = ""
			}
			got := page.Entries[i]
			if (IsID(got.ID) || IsID(id)) && got.ID != id || !bytes.Equal(got.JSON, raw) { // encoding/json mends what is no UTF-8
				t.Fatalf("%s: entry %d is %q, %s", body, i, got.ID, got.JSON)
			}
		}
		again, err := ReadPage(page.JSON())
		if err != nil || len(again.Entries) != len(data) || again.More != page.More || !json.Valid(page.JSON()) {
			t.Fatalf("%s became %s: %v", body, page.JSON(), err)
		}
	})
}
