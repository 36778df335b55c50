package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

const someModels = ` {"object":"list", "data": [ {"id":"gpt-5","object":"model","created":1,"owned_by":"x" } ,
 {"object":"model", "id":"o3\u002dmini"}, 7, {"no":"id"}, {"id":"gpt-5-mini","permission":[{"id":"p"}]} ], "first_id":"gpt-5"}` + "\n"

func TestFilterModelsKeepsBytes(t *testing.T) {
	not := func(string) bool { return false }
	all := func(string) bool { return true }
	const (
		head, tail = ` {"object":"list", "data": [`, `], "first_id":"gpt-5"}` + "\n"
		gpt5       = `{"id":"gpt-5","object":"model","created":1,"owned_by":"x" }`
		o3         = `{"object":"model", "id":"o3\u002dmini"}`
		mini       = `{"id":"gpt-5-mini","permission":[{"id":"p"}]}`
		fast       = `{"id":"fa\"st","object":"model","created":0,"owned_by":"tokenfare"}`
		own        = `{"id":"gpt-5","object":"model","created":0,"owned_by":"tokenfare"}`
	)
	tests := []struct {
		name string
		keep func(string) bool
		add  []string
		want string
	}{
		{"all", all, nil, head + gpt5 + "," + o3 + "," + mini + tail},
		{"none", not, nil, head + tail},
		{"some", func(id string) bool { return strings.HasPrefix(id, "o3-") }, nil, head + o3 + tail},
		{"aliases", func(id string) bool { return id == "gpt-5" }, []string{`fa"st`, "gpt-5", `fa"st`}, head + gpt5 + "," + fast + tail},
		{"only aliases", not, []string{"gpt-5", `fa"st`}, head + own + "," + fast + tail},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := FilterModels([]byte(someModels), test.keep, test.add)
			if err != nil || string(got) != test.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, test.want)
			}
			if !json.Valid(got) {
				t.Error("not JSON")
			}
		})
	}
	if got, err := FilterModels([]byte(`{"data":[]}`), all, []string{"gpt-5"}); err != nil || string(got) != `{"data":[`+own+`]}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestFilterModelsRefusesWhatIsNoList(t *testing.T) {
	for _, body := range []string{
		``, `[]`, `{}`, `{"data":null}`, `{"data":{}}`, `{"data":[]`, `{"data":[{]}`, `{"data":[]} x`, `{"data":[],"data":[]}`, `{"Data":[]}`, `<html>`,
		`{"data":[` + strings.Repeat(`{"id":"x"},`, maxModelEntries) + `{"id":"x"}]}`,
	} {
		if got, err := FilterModels([]byte(body), func(string) bool { return true }, nil); err == nil {
			t.Errorf("%.100s: got %.100s", body, got)
		} else if strings.Contains(err.Error(), "html") {
			t.Errorf("the error quotes the body: %v", err)
		}
	}
}

func TestMergeModels(t *testing.T) {
	notX := func(id string) bool { return id != "x" }
	tests := []struct{ list, from, want string }{
		{`{"data":[]}`, `{"data":[]}`, `{"data":[]}`},
		{`{"data":[ ]}`, `{"data":[{"id":"x"},{"id":"b"},{"id":"c"}]}`, `{"data":[ {"id":"b"},{"id":"c"}]}`},
		{`{"data":[7],"k":1}`, `{"data":[{"id":"b","n":1}]}`, `{"data":[7,{"id":"b","n":1}],"k":1}`},
		{`{"data":[{"id":"a"},{"id":"b"}]}`, `{"data":[{"id":"b","n":1},{"id":"c"},{"id":"c"}]}`, `{"data":[{"id":"a"},{"id":"b"},{"id":"c"}]}`},
	}
	for _, test := range tests {
		got, err := MergeModels([]byte(test.list), []byte(test.from), notX)
		if err != nil || string(got) != test.want {
			t.Errorf("%s and %s:\n got %s, %v\nwant %s", test.list, test.from, got, err, test.want)
		}
	}
	for _, lists := range [][2]string{{`x`, `{"data":[]}`}, {`{"data":[]}`, `x`}} {
		if got, err := MergeModels([]byte(lists[0]), []byte(lists[1]), notX); err == nil {
			t.Errorf("%s and %s: got %s", lists[0], lists[1], got)
		}
	}
}

func TestRedactModels(t *testing.T) {
	less := func(part []byte) []byte { return bytes.ReplaceAll(part, []byte("org"), []byte("…")) }
	for body, want := range map[string]string{
		`{"data":[{"id":"org","by":"org"}, {"by":["org"],"id":"org"},{"id":7,"by":"org"},"org"],"by":"org"}`: `{"data":[{"id":"org","by":"…"}, {"by":["…"],"id":"org"},{"id":7,"by":"…"},"…"],"by":"…"}`,
		`{"data":[]}`: `{"data":[]}`,
	} {
		if got, err := RedactModels([]byte(body), less); err != nil || string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", body, got, err, want)
		}
	}
	if got, err := RedactModels([]byte(`{"data":7}`), less); err == nil {
		t.Errorf("got %s", got)
	}
}

func TestFindModel(t *testing.T) {
	if got, ok := FindModel([]byte(someModels), "o3-mini"); !ok || string(got) != `{"object":"model", "id":"o3\u002dmini"}` {
		t.Errorf("got %s, %v", got, ok)
	}
	for _, body := range []string{someModels, `{"data":[]}`, `x`} {
		if got, ok := FindModel([]byte(body), "p"); ok {
			t.Errorf("%s: found %s", body, got)
		}
	}
}

func FuzzFilterModels(f *testing.F) {
	f.Add([]byte(someModels), "gpt-5", "x")
	f.Add([]byte(`{"data":[{"id":"a"},{"id":"b"}]}`), "a", "a")
	f.Fuzz(func(t *testing.T, body []byte, keep, add string) {
		got, err := FilterModels(body, func(id string) bool { return id == keep }, []string{add})
		same, sameErr := RedactModels(body, func(part []byte) []byte { return part })
		if (err == nil) != (sameErr == nil) || err == nil && !bytes.Equal(same, body) {
			t.Fatalf("%s became %s: %v, %v", body, same, err, sameErr)
		}
		if err != nil {
			return
		}
		if add = strings.ToValidUTF8(add, "\ufffd"); add == "" || strings.Contains(add, "\ufffd") {
			return
		}
		if _, ok := FindModel(got, add); !ok {
			t.Fatalf("%q is not in %s", add, got)
		}
		if _, err := FilterModels(got, func(string) bool { return true }, nil); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
	})
}
