package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// Items that name a container.
var ranIn = []string{
	`{"type":"code_interpreter_call","id":"ci_1","code":"1","container_id":"cntr_1"}`,
	`{"type":"shell_call","call_id":"c","environment":{"type":"container_reference","container_id":"cntr_1"}}`,
}

// sendBack is a request that sends an item of an earlier answer back, and lets code run.
func sendBack(item string) string {
	return `{"model":"gpt-4o-mini","max_output_tokens":50,"store":false,"tools":[{"type":"code_interpreter","container":{"type":"auto"}}],"input":[` + item + `]}`
}

// TestContainersAreOfWhoseCodeRanInThem: items that are sent back name the containers of earlier answers, though nothing was
// stored.
func TestContainersAreOfWhoseCodeRanInThem(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "1m tokens in total"), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":"resp_1","output":[`+ranIn[0]+`],"usage":{"input_tokens":5,"output_tokens":5,"total_tokens":10}}`)
		})
		if got := v.post(t.Context(), wire.Responses, sendBack(`{"role":"user","content":"Hi"}`)); got.status != 200 {
			t.Fatalf("code: %d %s", got.status, got.body)
		}
		rows := v.store.ownedRows()
		if len(rows) != 1 || rows[0].ID != "cntr_1" || rows[0].Kind != ledger.Container || rows[0].Key != "alice" || rows[0].Tokens != 0 {
			t.Errorf("recorded: %+v", rows)
		}
		for _, item := range ranIn {
			if got := v.post(t.Context(), wire.Responses, sendBack(item)); got.status != 200 {
				t.Errorf("%s is sent back: %d %s", item, got.status, got.body)
			}
		}
	})
}

// TestNoKeyGoesOnInAnothersContainer, nor in one that is nobody's, nor in a conversation.
func TestNoKeyGoesOnInAnothersContainer(t *testing.T) {
	v := freshVault(t)
	if err := v.writer.Own([]*ledger.Owned{{ID: "cntr_1", Kind: ledger.Container, Key: "alice", Upstream: "up"}}).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, item := range ranIn {
		if got := v.as(secret, "POST", "/v1/responses", sendBack(item)); got.status != 200 {
			t.Errorf("%s by its owner: %d %s", item, got.status, got.body)
		}
		nobodys := strings.ReplaceAll(item, "cntr_1", "cntr_9")
		for name, got := range map[string]answer{
			"another's":                   v.as(bobsSecret, "POST", "/v1/responses", sendBack(item)),
			"another's in a conversation": v.as(bobsSecret, "POST", "/v1/conversations", `{"items":[`+item+`]}`),
			"nobody's":                    v.as(secret, "POST", "/v1/responses", sendBack(nobodys)),
		} {
			if got.status != 404 || !strings.Contains(got.body, "Container with id") || !strings.Contains(got.body, "container_id\"") {
				t.Errorf("%s, %s: %d %s", item, name, got.status, got.body)
			}
		}
	}
}
