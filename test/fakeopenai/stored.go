package fakeopenai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Stored is the part of OpenAI that remembers: responses, stored chat completions, conversations and files, of one account, for
// whoever has its key. It answers in OpenAI's words, and counts a token for each word, so that a proxy which counts by
// vocabulary never counts less. Its methods may be called from any goroutine.
type Stored struct {
	// Think is called, if it is set, with the number of words of a response's whole input before it is answered.
	Think func(input int64)
	// Tools are the calls that a response makes if it is offered functions, and brought no output of any.
	Tools []ToolCall

	mu      sync.Mutex
	made    int
	used    int64                    // tokens that were reported; guarded by mu
	objects map[string]*storedObject // guarded by mu
	order   []string                 // of objects, oldest first; guarded by mu
	asked   []string                 // methods and paths, in order; guarded by mu
}

// storedObject is one of them, or an item of one.
type storedObject struct {
	kind  string // "response", "chat.completion", "conversation", "file", or the type of an item
	json  map[string]any
	items []*storedObject
	words int64 // of all that it brings into a call
	bytes []byte
}

// NewStored makes an account in which nothing is stored.
func NewStored() *Stored { return &Stored{objects: map[string]*storedObject{}} }

// Store has the server remember what it is asked to store, and answer /v1/responses, /v1/conversations and /v1/files.
func (s *Server) Store() *Stored {
	stored := NewStored()
	s.Remember(stored)
	return stored
}

// Remember is Store with what is stored already; nil ends it.
func (s *Server) Remember(stored *Stored) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = stored
}

func (s *Server) storage() *Stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored
}

// Asked are the methods and paths that came, in order.
func (s *Stored) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Used are the tokens of all the usage that was reported.
func (s *Stored) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Add stores objects of another customer's making: chat completions or files, by kind.
func (s *Stored) Add(kind string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.make(kind, map[string]any{"object": kind, "secret": "not yours"})
	}
}

// concernsStored reports whether a request is for what is stored, or is to be.
func concernsStored(r *http.Request, body []byte) bool {
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	switch root, _, _ := strings.Cut(path, "/"); root {
	case "responses", "conversations", "files":
		return true
	case "chat":
		var asked struct{ Store bool }
		return r.Method != http.MethodPost || path != "chat/completions" || json.Unmarshal(body, &asked) == nil && asked.Store
	default:
		return false
	}
}

// Serve answers a request if it concerns what is stored, and reports whether it does.
func (s *Stored) Serve(w http.ResponseWriter, r *http.Request, body []byte) bool {
	if !concernsStored(r, body) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	switch path[0] {
	case "responses":
		s.responses(w, r, path[1:], body)
	case "conversations":
		s.conversations(w, r, path[1:], body)
	case "files":
		s.files(w, r, path[1:], body)
	default:
		s.completions(w, r, path[2:], body)
	}
	return true
}

// make stores an object under a new id.
func (s *Stored) make(kind string, members map[string]any) *storedObject {
	s.made++
	prefix := map[string]string{
		"response": "resp_", "chat.completion": "chatcmpl-", "conversation": "conv_", "file": "file-", "message": "msg_", "reasoning": "rs_", "function_call": "fc_",
	}[kind]
	id := fmt.Sprintf("%s%06d", prefix, s.made)
	members["id"] = id
	o := &storedObject{kind: kind, json: members}
	s.objects[id] = o
	s.order = append(s.order, id)
	return o
}

func (o *storedObject) id() string { return o.json["id"].(string) }

// find finds an object of a kind; nil if there is none.
func (s *Stored) find(kind, id string) *storedObject {
	if o := s.objects[id]; o != nil && o.kind == kind {
		return o
	}
	return nil
}

func (s *Stored) remove(w http.ResponseWriter, o *storedObject) {
	delete(s.objects, o.id())
	s.order = slices.DeleteFunc(s.order, func(id string) bool { return id == o.id() })
	answerJSON(w, http.StatusOK, map[string]any{"id": o.id(), "object": o.kind + ".deleted", "deleted": true})
}

// list answers with a page of all objects of a kind, whosever they are.
func (s *Stored) list(w http.ResponseWriter, r *http.Request, kind string) {
	var all []any
	after, limit := r.URL.Query().Get("after"), 20
	fmt.Sscan(r.URL.Query().Get("limit"), &limit)
	begun, more := after == "", false
	for _, id := range s.order {
		o := s.objects[id]
		switch {
		case o.kind != kind:
		case !begun:
			begun = id == after
		case len(all) == limit:
			more = true
		default:
			all = append(all, o.json)
		}
	}
	answerList(w, all, more)
}

func answerList(w http.ResponseWriter, all []any, more bool) {
	list := map[string]any{"object": "list", "data": all, "has_more": more, "first_id": nil, "last_id": nil}
	if all == nil {
		list["data"] = []any{}
	} else {
		list["first_id"], list["last_id"] = all[0].(map[string]any)["id"], all[len(all)-1].(map[string]any)["id"]
	}
	answerJSON(w, http.StatusOK, list)
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who left does not need the rest
}

func refuse(w http.ResponseWriter, status int, message, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(ErrorBody(message, "invalid_request_error", code)))
}

// words counts all strings in a JSON value, but for those that select.
func words(v any) (n int64) {
	switch v := v.(type) {
	case string:
		return int64(len(strings.Fields(v)))
	case []any:
		for _, item := range v {
			n += words(item)
		}
	case map[string]any:
		for name, member := range v {
			if name == "content" || name == "text" || name == "summary" || name == "arguments" || name == "output" {
				n += words(member)
			}
		}
	}
	return n
}
