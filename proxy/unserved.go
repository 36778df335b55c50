package proxy

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// codeUnserved says that something is not served on purpose, and not missing by mistake.
const codeUnserved = "unsupported_endpoint"

// unserved are places of the API that callers may look for and that are not served, each with the reason. The first that fits is
// given.
var unserved = []struct{ prefix, why string }{
	{"/openai/", "This proxy speaks the OpenAI API, not that of Azure: use the plain client (not the one for Azure) with this proxy's address ending in /v1 as base URL, and the model's name in the body."},
	{"/v1/v1/", "The base URL has /v1 twice."},
	{"/chat/", "The base URL must end in /v1."},
	{"/responses", "The base URL must end in /v1."},
	{"/completions", "The base URL must end in /v1."},
	{"/embeddings", "The base URL must end in /v1."},
	{"/models", "The base URL must end in /v1."},
	{"/v1/responses/compact", "Compaction is not metered here: send the items that you want to keep."},
	{"/v1/batches", "A batch is worked on later, and what it costs is in a file: make the calls themselves."},
	{"/v1/vector_stores", "A vector store is billed for as long as it is there: send files in requests (input_file), or search on your side with a function tool."},
	{"/v1/fine_tuning", "Fine-tuning costs what nobody knows before: ask the operator of this proxy."},
	{"/v1/containers", `A container is billed for as long as it is there: say "container": {"type": "auto"} in the tool.`},
	{"/v1/skills", "Skills are shared by all keys of the account: send their text as instructions."},
	{"/v1/evals", "An evaluation is worked on later: make the calls themselves."},
	{"/v1/realtime", "What a realtime session costs cannot be bounded at its beginning: use /v1/responses with stream: true."},
	{"/v1/uploads", "Files are uploaded in one piece here: use POST /v1/files (files.create)."},
	{"/v1/assistants", "Assistants are shared by all keys of the account: use /v1/responses."},
	{"/v1/threads", "Threads are shared by all keys of the account: use /v1/conversations."},
	{"/v1/videos", "A video is made after the call: ask the operator of this proxy."},
	{"/v1/organization", "It belongs to the account that all keys share: ask the operator of this proxy."},
	{"/v1/projects", "It belongs to the account that all keys share: ask the operator of this proxy."},
}

// notFound answers everything that is not metered here.
func notFound(_ http.ResponseWriter, r *http.Request) error {
	path := r.URL.EscapedPath()
	code, why := "", "This proxy forwards only what it can meter: GET /v1/models lists the models, and the documentation of tokenfare the endpoints."
	for _, e := range unserved {
		if strings.HasPrefix(path, e.prefix) {
			code, why = codeUnserved, e.why
			break
		}
	}
	return invalidURL(r, code, why)
}

// asksForWebSocket reports whether a client wants to go on in another protocol than HTTP (RFC 6455, section 4.1).
func asksForWebSocket(r *http.Request) bool {
	for _, list := range r.Header.Values("Upgrade") {
		for protocol := range strings.SplitSeq(list, ",") {
			if strings.EqualFold(strings.TrimSpace(protocol), "websocket") {
				return true
			}
		}
	}
	return false
}

func invalidURL(r *http.Request, code, why string) error {
	path := r.URL.EscapedPath()
	return &wire.Error{
		Status: http.StatusNotFound, Type: "invalid_request_error", Code: code,
		Message: fmt.Sprintf("Invalid URL (%s %s). %s", shorten(r.Method, 20), shorten(path, 200), why),
	}
}
