package simulated

import (
	"net/http"
	"strings"
	"time"
)

// Options shape the simulated upstream. The zero value is usable: every field says what its zero means.
type Options struct {
	// Count gives the number of tokens of a text in a model's vocabulary; it must be safe for concurrent use.
	// Nil: one token for every four bytes begun, which is near the truth for English.
	Count func(model, text string) int64

	// Pace is the mean pause before each piece of an answer; single pauses vary by half of it either way.
	// Zero: 20 ms. Negative: no pauses.
	Pace time.Duration

	// ThinkTime is the pause before an answer begins. Zero: 250 ms. Negative: none.
	ThinkTime time.Duration

	// Models are the names that can be called and are listed, in this order; other names are a 404.
	// Empty: a handful of current OpenAI chat models.
	Models []string
}

const (
	defaultPace      = 20 * time.Millisecond
	defaultThinkTime = 250 * time.Millisecond
)

// New returns the upstream: POST /v1/chat/completions and GET /v1/models, with OpenAI's 401, 400 and 404 for everything else.
// The handler is safe for concurrent use, holds nothing between calls and stops an answer as soon as its request's context ends.
func New(o Options) http.Handler {
	if o.Count == nil {
		o.Count = func(_, text string) int64 { return int64(len(text)+3) / 4 }
	}
	if o.Pace == 0 {
		o.Pace = defaultPace
	}
	if o.ThinkTime == 0 {
		o.ThinkTime = defaultThinkTime
	}
	if len(o.Models) == 0 {
		o.Models = []string{"gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini"}
	}
	return &upstream{o}
}

type upstream struct{ Options }

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Openai-Version", "2020-10-01")
	w.Header().Set("X-Request-Id", newID("req_"))
	if !bearer(r) {
		unauthorized.write(w)
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /v1/chat/completions":
		u.chat(w, r)
	case "GET /v1/models":
		u.models(w)
	default:
		invalidURL(r.Method, r.URL.Path).write(w)
	}
}

func bearer(r *http.Request) bool {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && strings.TrimSpace(key) != ""
}

// modelsCreated is a fixed instant, so that the list is the same in every run; clients only show it.
const modelsCreated = 1_754_425_777

func (u *upstream) models(w http.ResponseWriter) {
	list := modelList{Object: "list"}
	for _, name := range u.Models {
		list.Data = append(list.Data, model{ID: name, Object: "model", Created: modelsCreated, OwnedBy: "simulated"})
	}
	writeJSON(w, http.StatusOK, list)
}
