package wire_test

import (
	"testing"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

func TestCarriesError(t *testing.T) {
	for event, want := range map[string]bool{
		"data: {\"error\":{\"message\":\"m\"}}\n\n":                                             true,
		"data: {\"error\":\n" + "data: \"m\"}\r\n\r\n":                                          true,
		"event: error\ndata: {\"message\":\"m\"}\n\n":                                           true,
		"data: {\"type\":\"error\",\"message\":\"m\"}\n\n":                                      true,
		"data: {\"object\":\"error\",\"message\":\"m\",\"code\":500}\n\n":                       true,
		"data: {\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\n":                       false,
		"data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"message\":\"m\"}}}\n\n": true,
		"data: {\"type\":\"response.completed\",\"response\":{\"error\":null}}\n\n":             false,
		"data: {\"choices\":[{\"delta\":{\"content\":\"error\"}}],\"error\":null}\n\n":          false,
		"data: [DONE]\n\n":                          false,
		"event: error2\ndata: {\"response\":7}\n\n": false,
		": error\n\n":                               false,
	} {
		if got := wire.CarriesError([]byte(event)); got != want {
			t.Errorf("%q: %v", event, got)
		}
	}
}

func TestFailed(t *testing.T) {
	for object, want := range map[string]bool{
		`{"id":"x","error":{"message":"m"}}`: true, `{"error":"m"}`: true, `{"error":null}`: false, `{}`: false, `[{"error":1}]`: false, `{"a":{"error":1}}`: false, `"error"`: false,
	} {
		if got := wire.Failed([]byte(object)); got != want {
			t.Errorf("%s: %v", object, got)
		}
	}
}
