package proxy

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// unownable are the parts of the API of which nobody can know whose what they name is, or whose cost comes later or elsewhere,
// and what to do instead.
var unownable = []struct{ path, why, instead string }{
	{"/v1/batches", "a batch is worked on later, and what it costs is in a file", "make the calls themselves"},
	{"/v1/vector_stores", "a vector store is billed for as long as it is there", "send files in requests (input_file), or search on your side with a function tool"},
	{"/v1/fine_tuning", "fine-tuning costs what nobody knows before", "ask the operator of this proxy"},
	{"/v1/containers", "a container is billed for as long as it is there", `say "container": {"type": "auto"} in the tool`},
	{"/v1/skills", "skills are shared by all keys of the account", "send their text as instructions"},
	{"/v1/evals", "an evaluation is worked on later", "make the calls themselves"},
	{"/v1/realtime", "what a session costs cannot be bounded at its beginning", "use /v1/responses with stream: true"},
	{"/v1/uploads", "files are uploaded in one piece here", "use POST /v1/files (files.create)"},
	{"/v1/assistants", "assistants are shared by all keys of the account", "use /v1/responses"},
	{"/v1/threads", "threads are shared by all keys of the account", "use /v1/conversations"},
	{"/v1/videos", "a video is made after the call", "ask the operator of this proxy"},
	{"/v1/organization", "it belongs to the account that all keys share", "ask the operator of this proxy"},
	{"/v1/projects", "it belongs to the account that all keys share", "ask the operator of this proxy"},
}

// unowned says why a part of the API is not there; nil if nothing is known of it.
func unowned(path string) error {
	for _, u := range unownable {
		if path == u.path || strings.HasPrefix(path, u.path+"/") {
			return &wire.Error{
				Status: http.StatusNotFound, Type: "invalid_request_error", Code: "unsupported_endpoint",
				Message: fmt.Sprintf("This proxy has no %s: %s. Instead, %s.", u.path, u.why, u.instead),
			}
		}
	}
	return nil
}
