package fakeopenai

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
)

// completions answers for stored chat completions.
func (s *Stored) completions(w http.ResponseWriter, r *http.Request, path []string, body []byte) {
	if len(path) == 0 && r.Method == http.MethodGet {
		s.list(w, r, "chat.completion")
		return
	}
	if len(path) == 0 {
		var asked map[string]any
		_ = json.Unmarshal(body, &asked) // the proxy has read it already
		input, output := words(asked["messages"]), words(Noted)
		s.used += input + output
		o := s.make("chat.completion", map[string]any{
			"object": "chat.completion", "created": created, "model": asked["model"],
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": Noted}}},
			"usage":   map[string]any{"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output},
		})
		answerJSON(w, http.StatusOK, o.json)
		return
	}
	o := s.find("chat.completion", path[0])
	switch {
	case o == nil:
		refuse(w, http.StatusNotFound, "Not found.", "")
	case r.Method == http.MethodDelete:
		s.remove(w, o)
	case len(path) == 2:
		answerList(w, nil, false)
	case r.Method == http.MethodPost:
		s.update(w, o, body)
	default:
		answerJSON(w, http.StatusOK, o.json)
	}
}

func (s *Stored) update(w http.ResponseWriter, o *storedObject, body []byte) {
	var change map[string]any
	_ = json.Unmarshal(body, &change) // the proxy has read it already
	o.json["metadata"] = change["metadata"]
	answerJSON(w, http.StatusOK, o.json)
}

// conversations answers the Conversations API.
func (s *Stored) conversations(w http.ResponseWriter, r *http.Request, path []string, body []byte) {
	if len(path) == 0 {
		o := s.make("conversation", map[string]any{"object": "conversation", "created_at": created, "metadata": map[string]any{}})
		s.put(o, body)
		answerJSON(w, http.StatusOK, o.json)
		return
	}
	o := s.find("conversation", path[0])
	switch {
	case o == nil:
		refuse(w, http.StatusNotFound, fmt.Sprintf("Conversation with id '%s' not found.", path[0]), "")
	case len(path) == 3:
		s.item(w, r, o, path[2])
	case len(path) == 2 && r.Method == http.MethodPost:
		answerList(w, s.put(o, body), false)
	case len(path) == 2:
		var all []any
		for _, item := range o.items {
			all = append(all, item.json)
		}
		answerList(w, all, false)
	case r.Method == http.MethodDelete:
		s.remove(w, o)
	case r.Method == http.MethodPost:
		s.update(w, o, body)
	default:
		answerJSON(w, http.StatusOK, o.json)
	}
}

// put adds items to a conversation.
func (s *Stored) put(o *storedObject, body []byte) (added []any) {
	var asked struct {
		Items []map[string]any `json:"items"`
	}
	_ = json.Unmarshal(body, &asked) // the proxy has read it already
	for _, item := range asked.Items {
		made := s.make("message", item)
		made.words = words(item)
		o.words += made.words
		o.items = append(o.items, made)
		added = append(added, made.json)
	}
	return added
}

func (s *Stored) item(w http.ResponseWriter, r *http.Request, o *storedObject, id string) {
	for i, item := range o.items {
		switch {
		case item.id() != id:
		case r.Method == http.MethodDelete:
			o.items = append(o.items[:i:i], o.items[i+1:]...)
			answerJSON(w, http.StatusOK, o.json)
			return
		default:
			answerJSON(w, http.StatusOK, item.json)
			return
		}
	}
	refuse(w, http.StatusNotFound, fmt.Sprintf("Item with id '%s' not found.", id), "")
}

// files answers the Files API.
func (s *Stored) files(w http.ResponseWriter, r *http.Request, path []string, body []byte) {
	switch {
	case len(path) == 0 && r.Method == http.MethodGet:
		s.list(w, r, "file")
		return
	case len(path) == 0:
		_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		form := multipart.NewReader(strings.NewReader(string(body)), params["boundary"])
		o := s.make("file", map[string]any{"object": "file", "created_at": created, "status": "processed"})
		for part, err := form.NextPart(); err == nil; part, err = form.NextPart() {
			text, _ := io.ReadAll(part) // it is in memory
			if part.FormName() == "file" {
				o.bytes, o.json["filename"], o.json["bytes"] = text, part.FileName(), len(text)
			} else {
				o.json[part.FormName()] = string(text)
			}
		}
		answerJSON(w, http.StatusOK, o.json)
		return
	}
	o := s.find("file", path[0])
	switch {
	case o == nil:
		refuse(w, http.StatusNotFound, "No such File object: "+path[0], "")
	case r.Method == http.MethodDelete:
		s.remove(w, o)
	case len(path) == 2:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(o.bytes) // who left does not need the rest
	default:
		answerJSON(w, http.StatusOK, o.json)
	}
}
