package proxy_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// TestWhatWasNotReadIsStoredAllTheSame: a model that may leave out what it has no room for reports what it has read, and another that goes on from there reads
// all of it.
func TestWhatWasNotReadIsStoredAllTheSame(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newTalk(t, answerWith(200, itemsAdded), saidOf(100, 5))
		said := `{"model":"gpt-4o-mini","max_output_tokens":50,"truncation":"auto",` + `%s` + `"input":"` + words(3000) + `"}`
		for range 2 {
			if got := c.post(t.Context(), wire.Responses, fmt.Sprintf(said, `"conversation":"conv_1",`)); got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
		}
		if n := c.holds(t); n < 6000 || n > 6100 {
			t.Errorf("%d tokens are reserved for a conversation of 6000 words", n)
		}
		previous := ""
		for range 2 {
			if got := c.post(t.Context(), wire.Responses, fmt.Sprintf(said, previous)); got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
			previous = `"previous_response_id":"resp_1",`
		}
		if n := c.post(t.Context(), wire.Responses, fmt.Sprintf(said, previous)).reserved(t); n < 6000 {
			t.Errorf("%d tokens are reserved for 3000 words and 3000 before", n)
		}
	})
}

// TestWhatToolsFindIsInItsItems: the provider runs them, and what they find is none of what the model says.
func TestWhatToolsFindIsInItsItems(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "1m tokens in total"), answerWith(200, `{"id":"resp_1","object":"response","output":[{"type":"mcp_call","id":"mcp_1"}],`+
			`"usage":{"input_tokens":5000,"output_tokens":5,"total_tokens":5005}}`))
		ask := func(tools, input string) reply {
			return v.post(t.Context(), wire.Responses, `{"model":"gpt-4o-mini","max_output_tokens":50,`+tools+`"input":[{"role":"user","content":"Hi"}`+input+`]}`)
		}
		bare := ask(`"store":false,`, "").reserved(t)
		if got := v.post(t.Context(), wire.Responses, `{"model":"gpt-4o-mini","max_output_tokens":50,"tools":[{"type":"web_search"}],"max_tool_calls":1,"input":"Hi"}`); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if n := ask("", `,{"type":"item_reference","id":"mcp_1"}`).reserved(t) - bare; n < 4900 || n > 5005 {
			t.Errorf("%d tokens are reserved for an item of some 5000", n)
		}
	})
}
