package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// gujarati has six times as many tokens in cl100k_base as in o200k_base.
var gujarati = strings.TrimSpace(strings.Repeat("આજે હવામાન ખૂબ સરસ છે અને અમે બહાર ફરવા જઈશું. ", 40))

// counted is how many tokens a text has for a model.
func counted(t *testing.T, model, text string) int64 {
	t.Helper()
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	return estimator.Count(catalog.Model(model), text)
}

// gujaratiAnswer is an answer that reports what gpt-4o-mini has read and said.
func gujaratiAnswer(t *testing.T, id *atomic.Int64, input *atomic.Int64) http.HandlerFunc {
	said := counted(t, "gpt-4o-mini", gujarati)
	text, err := json.Marshal(gujarati)
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		in := input.Load()
		answerWith(200, fmt.Sprintf(`{"id":"resp_%d","object":"response","output":[{"type":"message","id":"msg_%d","role":"assistant","content":[{"type":"output_text","text":%s}]}],`+
			`"usage":{"input_tokens":%d,"output_tokens":%d,"total_tokens":%d}}`, id.Add(1), id.Load(), text, in, said, in+said))(w, r)
	}
}

// TestWhatIsStoredIsReservedInTheVocabularyThatReadsIt, whichever counted it first, and to a model that reads what was reported no more than that.
func TestWhatIsStoredIsReservedInTheVocabularyThatReadsIt(t *testing.T) {
	for name, named := range map[string]string{
		"items":                     "",
		"a conversation":            `"conversation":"conv_1",`,
		"a response":                `"store":true,`,
		"a response and one before": `"store":true,`,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var id, input atomic.Int64
				input.Store(10 + counted(t, "gpt-4o-mini", gujarati))
				c := newTalk(t, answerWith(200, itemsAdded), gujaratiAnswer(t, &id, &input))
				texts := int64(2) // of which each turn tells one, and says one
				if named == "" {
					texts = 1
					if got := c.post(t.Context(), someItems, `{"items":[{"type":"message","role":"user","content":"`+gujarati+`"}]}`); got.status != 200 {
						t.Fatalf("%d %s", got.status, got.body)
					}
				} else if got := c.post(t.Context(), wire.Responses, `{"model":"gpt-4o-mini","max_output_tokens":2000,`+named+`"input":"`+gujarati+`"}`); got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
				if strings.HasSuffix(name, "before") {
					input.Add(input.Load() + counted(t, "gpt-4o-mini", gujarati))
					texts = 4
					if got := c.post(t.Context(), wire.Responses, `{"model":"gpt-4o-mini","max_output_tokens":2000,"previous_response_id":"resp_1","input":"`+gujarati+`"}`); got.status != 200 {
						t.Fatalf("%d %s", got.status, got.body)
					}
				}
				reads := func(model string) int64 {
					goes := `"conversation":"conv_1",`
					if strings.Contains(name, "response") {
						goes = fmt.Sprintf(`"previous_response_id":"resp_%d",`, id.Load())
					}
					ask := func(more string) int64 {
						return c.post(t.Context(), wire.Responses, `{"model":"`+model+`","max_output_tokens":50,`+more+`"input":"go"}`).reserved(t)
					}
					c.probing.Store(true)
					defer c.probing.Store(false)
					return ask(goes) - ask(`"store":false,`)
				}
				for _, model := range []string{"gpt-4-turbo", "gpt-4o", "gpt-4-turbo"} {
					want := texts * counted(t, model, gujarati)
					if got := reads(model); got < want || got > want+want/10+50 {
						t.Errorf("%s: %d tokens are reserved for texts of %d", model, got, want)
					}
				}
			})
		})
	}
}

// TestWhatIsStoredIsReservedByTheRatio of the model that reads it.
func TestWhatIsStoredIsReservedByTheRatio(t *testing.T) {
	v := freshVault(t, func(s *proxy.Spec) {
		s.Upstreams = []proxy.UpstreamSpec{{Name: "a", Key: "sk-of-a"}}
		s.Models = []proxy.ModelSpec{{Pattern: "gpt-4o-mini", Upstream: "a"}, {Pattern: "own", Upstream: "a", Ratio: 2000}, {Pattern: "small", Upstream: "a", Ratio: 500}}
	})
	id := v.must(secret, "POST", "/v1/conversations", `{"items":[{"type":"message","role":"user","content":"`+words(1000)+`"}]}`)
	for model, least := range map[string]int64{"gpt-4o-mini": 1000, "own": 2000, "small": 1000} {
		ask := func(more string) int64 {
			return v.as(secret, "POST", "/v1/responses", `{"model":"`+model+`","max_output_tokens":50,"input":"go","store":false`+more+`}`).reserved(t)
		}
		if got := ask(`,"conversation":"`+id+`"`) - ask(""); got < least || got > least+200 {
			t.Errorf("%s: %d tokens are reserved for what is stored, want some %d", model, got, least)
		}
	}
}
