package proxy_test

import (
	"net/http"
	"testing"
)

// TestAStoredResponseIsNotStreamedAgain, and nobody is left waiting for events.
func TestAStoredResponseIsNotStreamedAgain(t *testing.T) {
	v := freshVault(t)
	path := "/v1/responses/" + v.must(secret, "POST", "/v1/responses", remember)
	for query, param := range map[string]string{
		"stream=true": "stream", "stream=1": "stream", "stream": "stream", "stream=false&stream=true": "stream",
		"starting_after=3": "starting_after", "stream=false&starting_after=3": "starting_after",
	} {
		got := v.as(secret, "GET", path+"?"+query, "")
		if _, _, named, code := got.errorOf(t); got.status != http.StatusBadRequest || code != "unsupported_member" || named != param {
			t.Errorf("?%s: %d %s", query, got.status, got.body)
		}
	}
	for _, query := range []string{"stream=false", "include[]=reasoning.encrypted_content"} {
		v.must(secret, "GET", path+"?"+query, "")
	}
}
