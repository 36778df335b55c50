package proxy

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// elsewhere are places of the API that callers may look for and that are not served, each with the reason. The first that fits is
// given.
var elsewhere = []struct{ prefix, why string }{
	{"/openai/", "This proxy speaks the OpenAI API, not that of Azure: use the plain client (not the one for Azure) with this proxy's address ending in /v1 as base URL, and the model's name in the body."},
	{"/v1/v1/", "The base URL has /v1 twice."},
	{"/chat/", "The base URL must end in /v1."},
	{"/responses", "The base URL must end in /v1."},
	{"/completions", "The base URL must end in /v1."},
	{"/embeddings", "The base URL must end in /v1."},
	{"/models", "The base URL must end in /v1."},
	{"/v1/realtime", "What a realtime session costs cannot be bounded before it begins, so this proxy does not open any: use /v1/responses or /v1/chat/completions, and /v1/audio for speech."},
	{"/v1/batches", "A batch costs what stands in an uploaded file, which no budget could be asked for: send the requests one by one."},
	{"/v1/fine_tuning", "What training costs cannot be bounded before it begins, so this proxy does not start it."},
	{"/v1/vector_stores", "Vector stores belong to the account that all callers share, so this proxy does not reach them: send the text itself, or a file."},
	{"/v1/containers", "Containers belong to the account that all callers share, so this proxy does not reach them."},
	{"/v1/assistants", "Assistants belong to the account that all callers share, so this proxy does not reach them: use /v1/responses."},
	{"/v1/threads", "Threads belong to the account that all callers share, so this proxy does not reach them: use /v1/responses."},
	{"/v1/uploads", "Uploads in parts cannot be bounded: send the file in one piece."},
	{"/v1/evals", "What an evaluation costs cannot be bounded before it begins, so this proxy does not start it."},
	{"/v1/videos", "What videos cost is not metered here, so this proxy does not make any."},
	{"/v1/responses/compact", "Compaction is not metered here: send the items that you want to keep."},
	{"/v1/organization", "The provider's account is its operator's alone."},
	{"/v1/projects", "The provider's account is its operator's alone."},
}

// notFound answers everything that is not metered here.
func notFound(_ http.ResponseWriter, r *http.Request) error {
	path := r.URL.EscapedPath()
	why := "This proxy forwards only what it can meter: GET /v1/models lists the models, and the documentation of tokenfare the endpoints."
	for _, e := range elsewhere {
		if strings.HasPrefix(path, e.prefix) {
			why = e.why
			break
		}
	}
	return &wire.Error{
		Status: http.StatusNotFound, Type: "invalid_request_error",
		Message: fmt.Sprintf("Invalid URL (%s %s). %s", shorten(r.Method, 20), shorten(path, 200), why),
	}
}
