package proxy_test

import (
	"strings"
	"testing"
)

// TestToolsThatItemsBringAlong: what the provider may run is reserved for wherever it is named, and not where later calls could
// run it unseen.
func TestToolsThatItemsBringAlong(t *testing.T) {
	v := freshVault(t)
	conversation := v.must(secret, "POST", "/v1/conversations", `{}`)
	ask := func(item, members string) answer {
		return v.as(secret, "POST", "/v1/responses", `{"model":"gpt-4o-mini","max_output_tokens":50,"input":[{"role":"user","content":"Hi"}`+item+`]`+members+`}`)
	}
	const search = `[{"type":"web_search"}]`
	bare := ask("", `,"store":false`).reserved(t)
	named := ask("", `,"store":false,"tools":`+search).reserved(t)
	if named < bare+3*8000 {
		t.Fatalf("%d tokens are reserved for a search, %d without it", named, bare)
	}
	for _, kind := range []string{"additional_tools", "tool_search_output"} {
		brought := `,{"type":"` + kind + `","role":"developer","tools":` + search + `}`
		got := ask(brought, `,"store":false`)
		if held := got.reserved(t); held < named {
			t.Errorf("%s: %d tokens are reserved, %d where the request names the tool", kind, held, named)
		}
		for name, refused := range map[string]answer{
			"stored":                     ask(brought, ""),
			"in a conversation":          ask(brought, `,"store":false,"conversation":"`+conversation+`"`),
			"put into a conversation":    v.as(secret, "POST", "/v1/conversations/"+conversation+"/items", `{"items":[`+brought[1:]+`]}`),
			"what a conversation begins": v.as(secret, "POST", "/v1/conversations", `{"items":[`+brought[1:]+`]}`),
		} {
			if refused.status != 400 || !strings.Contains(refused.body, "unsupported_member") || !strings.Contains(refused.body, `].tools[0]"`) {
				t.Errorf("%s, %s: %d %s", kind, name, refused.status, refused.body)
			}
		}
		if stored := ask(strings.ReplaceAll(brought, "web_search", "function"), ""); stored.status != 200 {
			t.Errorf("%s with a function: %d %s", kind, stored.status, stored.body)
		}
	}
	if got := ask(`,{"type":"mcp_list_tools","id":"mcpl_1","server_label":"s","tools":[{"name":"t","input_schema":{}}]}`, ""); got.status != 200 {
		t.Errorf("what a server offers: %d %s", got.status, got.body)
	}
}
