package test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

// sdkCheck is one thing that a client is asked to do, and what must come of it, whatever the client.
type sdkCheck struct {
	name    string
	ask     sdkAsk
	key     string // of sdkKeys; "" means plenty
	secret  string // instead of that key's
	spend   bool   // a call was made with the key before
	stored  bool   // the upstream remembers
	other   bool   // another key does what follows the first step
	answers []fakeopenai.Answer
	want    sdkWant
	ci      []string // clients that do it without -sdk.all
	not     []string // clients for which it has no meaning
}

// sdkWant is what must come of a check. What is zero is not looked at, but for an error: there must be none.
type sdkWant struct {
	text, reasoning, finish string
	calls                   []sdkCall
	object                  string // JSON
	vectors                 bool   // those of ask.Inputs
	sums                    []string
	flags                   []bool
	names                   []string
	quiet                   bool   // no usage, and no chunk without choices
	usage                   bool   // some usage, which is then compared with the charge
	file                    string // field of the form that the upload must have arrived in
	prompt                  bool   // the prompt must have arrived
	status                  int    // of the error; -1 for one inside an answer that began well
	code                    string // of the error
	message                 string // in that of the error
	well                    int    // exchanges that go well before the error
	retried                 bool   // by clients that retry: the refusal is followed by a success
	given                   bool   // up: the client tries as often as it ever does
	unmetered               bool   // the endpoint has a price and no tokens, or the budget moves by itself
	count                   int64
	listed                  bool     // seen.Names are seen.IDs
	named                   []string // members by which the last call names what is stored: each of seen.IDs
	asked                   []string // methods and paths that arrive upstream, where * is one of seen.IDs; without repetitions
	charged                 func(calls []*fakeopenai.Call) int64
}

// from is what must come of a check with that client.
func (w sdkWant) from(c sdkClient) sdkWant {
	if c.retries == 0 && w.retried { // it shows the refusal that others wait out
		return sdkWant{status: 429, code: "rate_limit_exceeded", charged: uncharged}
	}
	return w
}

func (w sdkWant) compare(t *testing.T, c sdkClient, ask sdkAsk, seen sdkSeen, calls []*fakeopenai.Call) {
	t.Helper()
	w.compareError(t, c, seen)
	w.compareTries(t, c, seen)
	differ := func(what string, want, got any) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if w.text != "" && ask.Parallel == 0 {
		differ("text", w.text, seen.Text)
	}
	if ask.Parallel > 0 {
		differ("texts", slices.Repeat([]string{w.text}, ask.Parallel), seen.Texts)
	}
	if w.reasoning != "" {
		differ("reasoning", w.reasoning, seen.Reasoning)
	}
	if w.calls != nil {
		differ("calls", plainCalls(w.calls), plainCalls(seen.Calls))
	}
	if w.object != "" {
		got, err := json.Marshal(seen.Object)
		differ("object", w.object, string(got))
		if err != nil {
			t.Error(err)
		}
	}
	if w.vectors {
		var want [][]float32
		for _, text := range ask.Inputs {
			want = append(want, fakeopenai.Vector(text))
		}
		differ("vectors", want, seen.Vectors)
	}
	differ("files", w.sums, seen.Sums)
	differ("flags", w.flags, seen.Flags)
	if w.names != nil {
		differ("names", w.names, seen.Names)
	}
	if w.count != 0 {
		differ("count", w.count, seen.Count)
	}
	if w.finish != "" && seen.Finish != "" {
		differ("finish", w.finish, seen.Finish)
	}
	if w.quiet && !c.asks && (seen.Usage != 0 || seen.WithoutChoices != 0) {
		t.Errorf("nobody asked for usage, and there is %d, and %d chunks without choices", seen.Usage, seen.WithoutChoices)
	}
	if w.usage && seen.Usage == 0 {
		t.Error("the usage that was asked for is missing")
	}
	if (w.file != "" || w.prompt) && len(calls) == 0 {
		t.Fatal("no call arrived")
	}
	if w.file != "" {
		file := calls[0].Files[w.file]
		if file == nil {
			file = calls[0].Files[w.file+"[]"]
		}
		if head := string(file[:min(4, len(file))]); head != "RIFF" && head != "\x89PNG" {
			t.Errorf("the upload did not arrive: %d bytes, fields %v", len(file), calls[0].Fields)
		}
	}
	if w.prompt && !strings.Contains(fmt.Sprint(decoded(t, calls[0].Body)), ask.Prompt) {
		t.Error("the prompt arrived changed")
	}
}

func decoded(t *testing.T, body []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// plainCalls are calls with their arguments written alike: clients parse them.
func plainCalls(calls []sdkCall) []sdkCall {
	out := slices.Clone(calls)
	for i, c := range out {
		var v any
		if json.Unmarshal([]byte(c.Arguments), &v) == nil {
			text, _ := json.Marshal(v)
			out[i].Arguments = string(text)
		}
	}
	return out
}

func (w sdkWant) compareError(t *testing.T, c sdkClient, seen sdkSeen) {
	t.Helper()
	if (w.status != 0) != (seen.Error != nil) {
		t.Errorf("error %+v, want one: %v", seen.Error, w.status != 0)
	}
	if w.status <= 0 || seen.Error == nil {
		return
	}
	if class := c.classes[w.status]; seen.Error.Class != class {
		t.Errorf("error of class %s, want %s", seen.Error.Class, class)
	}
	if seen.Error.Status != w.status || w.code != "" && seen.Error.Code != w.code {
		t.Errorf("error %d %s, want %d %s", seen.Error.Status, seen.Error.Code, w.status, w.code)
	}
	if seen.Error.Message == "" || !strings.Contains(seen.Error.Message, w.message) {
		t.Errorf("the error's message is %q, want %q in it", seen.Error.Message, w.message)
	}
}

func (w sdkWant) compareTries(t *testing.T, c sdkClient, seen sdkSeen) {
	t.Helper()
	switch {
	case w.retried:
		wantTries(t, []int{429, 200}, seen)
	case w.status > 0 && (w.given || w.status == 429 && c.stubborn):
		wantTries(t, slices.Repeat([]int{w.status}, 1+c.retries), seen)
	case w.status > 0:
		wantTries(t, append(slices.Repeat([]int{200}, w.well), w.status), seen)
	}
}
