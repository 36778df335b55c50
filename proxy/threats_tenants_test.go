package proxy_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// What the provider keeps for an account, and what it does later, is reached by no path and no method that is not ours to check.
func TestThreatSharedPlaces(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	for _, place := range []string{
		"files", "files/file_1", "files/file_1/content", "uploads", "uploads/upload_1/parts", "batches", "batches/b_1", "fine_tuning/jobs", "fine_tuning/jobs/j_1/events",
		"fine_tuning/checkpoints/c/permissions", "assistants", "assistants/a_1", "threads", "threads/t_1/runs", "threads/runs", "vector_stores", "vector_stores/v_1/search",
		"containers", "containers/c_1/files/f_1/content", "conversations", "conversations/c_1", "conversations/c_1/items/i_1", "responses/resp_1", "responses/resp_1/cancel",
		"responses/resp_1/input_items", "chat/completions/c_1", "chat/completions/c_1/messages", "evals", "evals/e_1/runs", "videos", "videos/v_1/content", "realtime",
		"realtime/sessions", "realtime/client_secrets", "realtime/transcription_sessions", "realtime/calls", "skills", "skills/s_1", "chatkit/sessions", "organization/costs",
		"organization/usage/completions", "organization/admin_api_keys", "organization/users", "projects", "dashboard/billing/usage",
	} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			got := h.asks(method, "/v1/"+place, hi)
			if got.status != 404 && got.status != 405 && (got.status != 400 || method == "GET") {
				t.Errorf("%s /v1/%s: %d %s", method, place, got.status, got.body)
			}
			got.errorOf(t)
			h.wantNothing(t, method+" "+place)
		}
	}
}

// Where nothing is stored, no member names what the provider keeps, has it kept, or has work done later.
func TestThreatReferences(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	for path, members := range map[string][]string{
		"/v1/chat/completions": {
			`"store":true`, `"background":true`, `"previous_response_id":"resp_1"`, `"conversation":"conv_1"`, `"messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file_1"}}]}]`,
			`"messages":[{"role":"assistant","audio":{"id":"audio_1"}}]`,
		},
		"/v1/responses": {
			`"store":true`, `"background":true`, `"previous_response_id":"resp_1"`, `"conversation":"conv_1"`, `"conversation":{"id":"conv_1"}`, `"prompt":{"id":"pmpt_1"}`,
			`"input":[{"type":"item_reference","id":"msg_1"}]`, `"input":[{"id":"msg_1"}]`, `"input":[{"type":"reasoning","id":"rs_1","summary":[]}]`,
			`"input":[{"role":"user","content":[{"type":"input_file","file_id":"file_1"}]}]`, `"input":[{"role":"user","content":[{"type":"input_image","file_id":"file_1"}]}]`,
			`"tools":[{"type":"file_search","vector_store_ids":["vs_1"]}]`, `"tools":[{"type":"code_interpreter","container":"cntr_1"}]`,
			`"tools":[{"type":"code_interpreter","container":{"type":"auto","file_ids":["file_1"]}}]`, `"input":[{"type":"code_interpreter_call","id":"ci_1","container_id":"cntr_1"}]`,
		},
	} {
		for _, member := range members {
			body := fmt.Sprintf(whole[path], ","+member)
			name, _, _ := strings.Cut(member, ":")
			if strings.Count(body, name) > 1 { // it replaces what is there
				body = `{"model":"gpt-4o-mini",` + member + `}`
			}
			h.wantRefused(t, path+" "+member, h.asks(http.MethodPost, path, body), 400)
		}
	}
	h.asks(http.MethodPost, "/v1/responses", fmt.Sprintf(whole["/v1/responses"], `,"max_output_tokens":50`))
	if sent := read(t, <-h.asked); !strings.Contains(sent, `"store":false`) {
		t.Errorf("a response is stored where nothing is said: %s", sent)
	}
}

// A key that is taken away stops working at once, for new calls. Those that run go on to their end, are charged like any other, and end
// with the drain at the latest.
func TestThreatRevokedKeys(t *testing.T) {
	for name, gone := range map[string]func(*proxy.KeySpec){
		"taken out": func(k *proxy.KeySpec) { k.Name, k.Hashes = "another", [][32]byte{sha256.Sum256([]byte("another"))} },
		"disabled":  func(k *proxy.KeySpec) { k.Disabled = true },
		"expired":   func(k *proxy.KeySpec) { k.Expires = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC) },
		"replaced":  func(k *proxy.KeySpec) { k.Hashes = [][32]byte{sha256.Sum256([]byte("its next secret"))} },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					for range 30 {
						io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n")
						_ = http.NewResponseController(w).Flush()
						time.Sleep(time.Second)
					}
					io.WriteString(w, "data: {\"choices\":[],\"usage\":"+usage(8, 30, 38)+"}\n\ndata: [DONE]\n\n")
				})
				running := make(chan reply, 1)
				go func() { running <- v.chat(streamed) }()
				time.Sleep(10 * time.Second)
				spec := alice(t, "1000 tokens in total")
				gone(&spec.Keys[0])
				v.server.SetPolicy(v.policy(spec))
				if got := v.chat(hi); got.status != http.StatusUnauthorized {
					t.Errorf("a new call: %d %s", got.status, got.body)
				}
				if got := <-running; got.status != 200 || got.err != nil || !strings.HasSuffix(got.body, "data: [DONE]\n\n") {
					t.Errorf("the call that ran: %d, %v, %q", got.status, got.err, got.body)
				}
				time.Sleep(time.Minute) // its last row is written
				if rows := v.store.rows(t); len(rows) != 1 || rows[0].End == nil || rows[0].End.Usage.Input+rows[0].End.Usage.Output != 38 {
					t.Errorf("the call that ran is recorded as %+v", rows)
				}
			})
		})
	}
}
