package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/wire"
	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

// reserved is what an answer says that its call held.
func (a answer) reserved(t testing.TB) int64 {
	t.Helper()
	n, err := strconv.ParseInt(a.header.Get("x-tokenfare-reserved"), 10, 64)
	if err != nil {
		t.Fatalf("%d %s: no reservation: %v", a.status, a.body, err)
	}
	return n
}

// usageOf are the input and output tokens that a response reports.
func usageOf(t testing.TB, body string) (input, output int64) {
	t.Helper()
	var r struct {
		Usage struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return r.Usage.Input, r.Usage.Output
}

const recall = `{"model":"gpt-4o-mini","input":"What was it?","max_output_tokens":50%s}`

// TestWhatIsStoredIsReserved: earlier turns, which no request shows, are a part of the estimate, as the ledger shows.
func TestWhatIsStoredIsReserved(t *testing.T) {
	v := freshVault(t)
	bare := v.as(secret, "POST", "/v1/responses", fmt.Sprintf(recall, "")).reserved(t)
	first := v.as(secret, "POST", "/v1/responses", remember)
	in, out := usageOf(t, first.body)
	next := v.as(secret, "POST", "/v1/responses", fmt.Sprintf(recall, `,"previous_response_id":"`+idOf(t, first.body)+`"`))
	if got := next.reserved(t) - bare; got != in+out {
		t.Errorf("with earlier turns of %d and %d tokens %d more were reserved", in, out, got)
	}
	snapshot, err := v.rows.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	found := int64(0)
	list, err := snapshot.Unfinished(t.Context())
	if err != nil || len(list) != 0 {
		t.Errorf("unfinished: %v, %v", list, err)
	}
	if err := snapshot.Began(t.Context(), time.Time{}, time.Now().Add(time.Hour), func(x *ledger.Exchange) error {
		found = max(found, x.Begin.Estimate.ByPart[cost.PartStored])
		return nil
	}); err != nil || found != in+out {
		t.Errorf("the ledger has %d tokens of what was stored, %v; want %d", found, err, in+out)
	}
}

// TestItemsAreReservedOnce: all of a response's items together are no more than it said, and each that is named twice counts again.
func TestItemsAreReservedOnce(t *testing.T) {
	v := freshVault(t)
	ask := func(items ...string) int64 {
		t.Helper()
		input := `{"role":"user","content":"What was it?"}`
		for _, id := range items {
			input += `,{"type":"item_reference","id":"` + id + `"}`
		}
		return v.as(secret, "POST", "/v1/responses", `{"model":"gpt-4o-mini","max_output_tokens":50,"input":[`+input+`]}`).reserved(t)
	}
	bare := ask()
	first := v.as(secret, "POST", "/v1/responses", remember)
	second := v.as(secret, "POST", "/v1/responses", remember)
	_, said := usageOf(t, first.body)
	items := func(body string) (thought, message string) {
		var r struct{ Output []struct{ ID string } }
		if err := json.Unmarshal([]byte(body), &r); err != nil || len(r.Output) != 2 {
			t.Fatalf("%s: %v", body, err)
		}
		return r.Output[0].ID, r.Output[1].ID
	}
	a, b := items(first.body)
	c, _ := items(second.body)
	for _, use := range []struct {
		items []string
		want  int64
	}{{[]string{a}, said}, {[]string{a, b}, said}, {[]string{a, b, c}, 2 * said}, {[]string{b, a, b}, 2 * said}} {
		if got := ask(use.items...) - bare; got != use.want {
			t.Errorf("%d items: %d tokens were reserved, want %d", len(use.items), got, use.want)
		}
	}
}

// TestAConversationGrows with each answer and with each item, and is reserved as it is.
func TestAConversationGrows(t *testing.T) {
	v := freshVault(t)
	var most int64 // words of input that the upstream saw
	v.stored.Think = func(input int64) { most = input }
	bare := v.as(secret, "POST", "/v1/responses", fmt.Sprintf(recall, "")).reserved(t)
	id := v.must(secret, "POST", "/v1/conversations", `{"items":[{"type":"message","role":"user","content":"one two three four five six seven eight"}]}`)
	last := int64(0)
	for turn := range 6 {
		if turn%2 == 1 {
			v.must(secret, "POST", "/v1/conversations/"+id+"/items", `{"items":[{"type":"message","role":"user","content":"`+strings.Repeat("more words ", 20)+`"}]}`)
		}
		got := v.as(secret, "POST", "/v1/responses", fmt.Sprintf(recall, `,"conversation":"`+id+`"`))
		held := got.reserved(t) - bare
		if words := most - 3; held < words || held > words+60*int64(turn+1) {
			t.Errorf("turn %d: %d tokens were reserved for a conversation of %d words", turn, held, words)
		}
		if held <= last {
			t.Errorf("turn %d: %d tokens, %d the turn before", turn, held, last)
		}
		last = held
	}
}

// TestFilesAreReservedByTheirSize: a token for a byte, for two of a PDF; pictures as pictures.
func TestFilesAreReservedByTheirSize(t *testing.T) {
	v := freshVault(t)
	ask := func(part string) int64 {
		t.Helper()
		return v.as(secret, "POST", "/v1/responses", `{"model":"gpt-4o-mini","max_output_tokens":50,"input":[{"role":"user","content":[{"type":"input_text","text":"Hi"}`+part+`]}]}`).reserved(t)
	}
	bare := ask("")
	text := idOf(t, v.upload(secret, "user_data", strings.Repeat("x", 3000)).body)
	pdf := idOf(t, v.upload(secret, "user_data", "%PDF-1.7"+strings.Repeat("x", 2992)).body)
	for id, want := range map[string]int64{text: 3000, pdf: 1500} {
		if got := ask(`,{"type":"input_file","file_id":"`+id+`"}`) - bare; got != want {
			t.Errorf("%d tokens were reserved for a file, want %d", got, want)
		}
	}
	inline := ask(`,{"type":"input_image","image_url":"https://example.com/a.png"}`)
	if got := ask(`,{"type":"input_image","file_id":"` + text + `"}`); got != inline {
		t.Errorf("%d tokens were reserved for a stored picture, want %d as for any of unknown size", got, inline)
	}
}

// TestManyAtOnce: calls of two keys, at once, continue their own threads and never each other's.
func TestManyAtOnce(t *testing.T) {
	v := freshVault(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	made := map[string][]string{}
	for i := range 16 {
		key := []string{secret, bobsSecret}[i%2]
		wg.Go(func() {
			id := ""
			for range 5 {
				body := remember
				if id != "" {
					body = goOn(id)
				}
				got := v.as(key, "POST", "/v1/responses", body)
				if got.status != 200 {
					t.Errorf("%d %s", got.status, got.body)
					return
				}
				id = idOf(t, got.body)
				mu.Lock()
				made[key] = append(made[key], id)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for key, ids := range made {
		other := bobsSecret
		if key == bobsSecret {
			other = secret
		}
		for _, id := range ids {
			if got := v.as(other, "GET", "/v1/responses/"+id, ""); got.status != 404 {
				t.Errorf("%s of another key: %d", id, got.status)
			}
		}
	}
}

// TestTheLastBytesWaitForTheLedger: an id is the caller's, for good, before the answer that tells it has ended.
func TestTheLastBytesWaitForTheLedger(t *testing.T) {
	for _, stream := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			stored := fakeopenai.NewStored()
			v := newVirtual(t, alice(t, "100k tokens in total"), func(w http.ResponseWriter, r *http.Request) {
				stored.Serve(w, r, []byte(fmt.Sprintf(`{"model":"gpt-4o-mini","input":"Hi","stream":%v}`, stream)))
			})
			v.store.be(time.Second, nil)
			got := v.post(t.Context(), wire.Responses, fmt.Sprintf(`{"model":"gpt-4o-mini","input":"Hi","max_output_tokens":50,"stream":%v}`, stream))
			commits := time.Second // of which the row of a short answer's beginning needs none of its own
			if stream {
				commits = 2 * time.Second
			}
			if got.status != 200 || got.err != nil || got.whole < commits || got.whole > commits+time.Second {
				t.Errorf("stream %v: %d, %v after %v; want at least %v of commits", stream, got.status, got.err, got.whole, commits)
			}
			if n := len(v.store.ownedRows()); n != 3 {
				t.Errorf("stream %v: %d rows say whose it is, want that of the response and of two items", stream, n)
			}
		})
	}
}

// TestWhereNothingIsStored: the body says so, references are refused with what avoids them, and there are no paths.
func TestWhereNothingIsStored(t *testing.T) {
	v := freshVault(t, func(s *proxy.Spec) { s.Stateless = true })
	if got := v.as(secret, "POST", "/v1/responses", remember); !strings.Contains(got.body, `"store":false`) {
		t.Errorf("it was stored: %s", got.body)
	}
	for path, body := range map[string]string{"/v1/responses": goOn("resp_1"), "/v1/chat/completions": `{"model":"m","messages":[],"store":true}`} {
		if got := v.as(secret, "POST", path, body); got.status != 400 || !strings.Contains(got.body, "providerOptions.openai.store") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	for _, path := range []string{"/v1/files", "/v1/responses/resp_1", "/v1/chat/completions"} {
		if got := v.as(secret, "GET", path, ""); got.status != 404 || !strings.Contains(got.body, "unsupported_endpoint") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if rows, err := v.writer.Owned(context.WithoutCancel(t.Context()), "alice", []string{"resp_000003"}); err != nil || len(rows) != 0 {
		t.Errorf("recorded: %v, %v", rows, err)
	}
}

// TestNoIDLeadsElsewhere: whatever stands in a path, the upstream is asked for nothing that was not checked.
func TestNoIDLeadsElsewhere(t *testing.T) {
	v := freshVault(t)
	own := v.must(secret, "POST", "/v1/responses", remember)
	before := len(v.stored.Asked())
	alphabet := []rune("abAZ09_-./%?#;:@ \\~é\x7f")
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.StringOf(rapid.SampledFrom(alphabet)).Draw(rt, "id")
		path := rapid.SampledFrom([]string{"/v1/responses/", "/v1/files/", "/v1/conversations/", "/v1/chat/completions/"}).Draw(rt, "path")
		escaped := strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23", " ", "%20", "\\", "%5C", "\x7f", "%7F").Replace(id)
		if got := v.as(secret, "GET", path+escaped, ""); got.err == nil && got.status == 200 && !strings.HasPrefix(path, "/v1/chat") && id != "" {
			rt.Errorf("%s%q: %d", path, id, got.status)
		}
	})
	if got := v.as(secret, "GET", "/v1/responses/"+own+"%2f..%2f"+own, ""); got.status != 404 {
		t.Errorf("an id with a slash: %d", got.status)
	}
	for _, asked := range v.stored.Asked()[before:] {
		if asked != "GET /v1/files" && asked != "GET /v1/chat/completions" {
			t.Errorf("the upstream was asked: %s", asked)
		}
	}
}
