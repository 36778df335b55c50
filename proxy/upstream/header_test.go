package upstream_test

import (
	"testing"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// TestWhatCallersMaySend: no header of theirs that names who pays, or another call, goes with the upstream's key.
func TestWhatCallersMaySend(t *testing.T) {
	for _, name := range []string{
		"authorization", "Api-Key", "x-api-key", "X-Goog-Api-Key", "ocp-apim-subscription-key", "X-Amz-Security-Token", "Cookie",
		"openai-organization", "OpenAI-Project", "X-Goog-User-Project",
		"X-Forwarded-For", "x-forwarded-host", "Forwarded", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP",
		"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-URL", "X-Rewrite-URL",
		"Idempotency-Key", "X-Idempotency-Key", "Host", "Connection", "Transfer-Encoding", "Content-Length", "Expect", "Te", "", "two words",
	} {
		if upstream.CheckForward(name) == nil {
			t.Errorf("%q of callers would be sent", name)
		}
	}
	for _, name := range []string{"X-Team-Trace", "traceparent", "X-Stainless-Lang", "User-Agent", "Helicone-Session-Id"} {
		if err := upstream.CheckForward(name); err != nil {
			t.Errorf("%q of callers cannot be sent: %v", name, err)
		}
	}
}
