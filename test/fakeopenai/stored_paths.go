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

// said is what every stored answer says.
const said = "That is noted, and will be remembered."

// responses answers the Responses API.
func (s *Stored) responses(w http.ResponseWriter, r *http.Request, path []string, body []byte) {
	switch {
	case len(path) == 0:
		s.respond(w, body)
		return
	case path[0] == "input_tokens":
		if _, _, input, ok := s.context(w, body); ok {
			answerJSON(w, http.StatusOK, map[string]any{"object": "response.input_tokens", "input_tokens": input})
		}
		return
	}
	o := s.find("response", path[0])
	switch {
	case o == nil:
		refuse(w, http.StatusNotFound, fmt.Sprintf("Response with id '%s' not found.", path[0]), "")
	case r.Method == http.MethodDelete:
		s.remove(w, o)
	case len(path) == 2 && path[1] == "input_items":
		answerList(w, nil, false)
	default:
		answerJSON(w, http.StatusOK, o.json)
	}
}

// context is what a request for a response brings with it: how many words are its input.
func (s *Stored) context(w http.ResponseWriter, body []byte) (asked map[string]any, conversation *storedObject, input int64, ok bool) {
	if json.Unmarshal(body, &asked) != nil {
		refuse(w, http.StatusBadRequest, "We could not parse the JSON body of your request.", "")
		return nil, nil, 0, false
	}
	input = words(asked["input"]) + words(asked["instructions"])
	if id, given := asked["previous_response_id"].(string); given {
		o := s.find("response", id)
		if o == nil {
			refuse(w, http.StatusBadRequest, fmt.Sprintf("Previous response with id '%s' not found.", id), "previous_response_not_found")
			return nil, nil, 0, false
		}
		input += o.words
	}
	id, given := asked["conversation"].(string)
	if !given {
		named, _ := asked["conversation"].(map[string]any)
		id, given = named["id"].(string)
	}
	if given {
		if conversation = s.find("conversation", id); conversation == nil {
			refuse(w, http.StatusNotFound, fmt.Sprintf("Conversation with id '%s' not found.", id), "")
			return nil, nil, 0, false
		}
		input += conversation.words
	}
	items, _ := asked["input"].([]any)
	for _, item := range items {
		m, _ := item.(map[string]any)
		if m["type"] != "item_reference" {
			continue
		}
		id, _ := m["id"].(string)
		o := s.objects[id]
		if o == nil {
			refuse(w, http.StatusNotFound, fmt.Sprintf("Item with id '%s' not found.", id), "")
			return nil, nil, 0, false
		}
		input += o.words
	}
	if s.Think != nil {
		s.Think(input)
	}
	return asked, conversation, input, true
}

// respond makes a response of two items, and stores it unless it is told not to.
func (s *Stored) respond(w http.ResponseWriter, body []byte) {
	asked, conversation, input, ok := s.context(w, body)
	if !ok {
		return
	}
	thought := s.make("reasoning", map[string]any{"type": "reasoning", "summary": []any{}})
	message := s.make("message", map[string]any{
		"type": "message", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": said, "annotations": []any{}}},
	})
	output := words(said)
	message.words = output
	o := s.make("response", map[string]any{
		"object": "response", "created_at": created, "status": "completed", "model": asked["model"], "output": []any{thought.json, message.json},
		"metadata": map[string]any{}, "store": asked["store"] != false, "previous_response_id": asked["previous_response_id"],
		"usage": map[string]any{
			"input_tokens": input, "output_tokens": output, "total_tokens": input + output,
			"input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		},
	})
	o.words = input + output
	if conversation != nil {
		conversation.words = input + output
		conversation.items = append(conversation.items, thought, message)
	}
	if asked["store"] == false {
		for _, gone := range []*storedObject{thought, message, o} {
			delete(s.objects, gone.id())
		}
		s.order = s.order[:len(s.order)-3]
	}
	if asked["stream"] != true {
		answerJSON(w, http.StatusOK, o.json)
		return
	}
	begun := map[string]any{"id": o.id(), "object": "response", "status": "in_progress", "model": asked["model"], "output": []any{}}
	events := []map[string]any{{"type": "response.created", "response": begun}}
	for i, item := range []*storedObject{thought, message} {
		events = append(
			events,
			map[string]any{"type": "response.output_item.added", "output_index": i, "item": map[string]any{"id": item.id(), "type": item.json["type"]}},
			map[string]any{"type": "response.output_item.done", "output_index": i, "item": item.json},
		)
	}
	for i, word := range strings.SplitAfter(said, " ") {
		events = append(events, map[string]any{"type": "response.output_text.delta", "item_id": message.id(), "output_index": 1, "content_index": i, "delta": word})
	}
	events = append(events, map[string]any{"type": "response.completed", "response": o.json})
	w.Header().Set("Content-Type", "text/event-stream")
	for i, event := range events {
		event["sequence_number"] = i
		text, err := json.Marshal(event)
		if err != nil {
			panic(err) // made of what was read as JSON
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], text)
		_ = http.NewResponseController(w).Flush() // in a test without connections there is nothing to flush
	}
}

// completions answers for stored chat completions.
func (s *Stored) completions(w http.ResponseWriter, r *http.Request, path []string, body []byte) {
	if len(path) == 0 && r.Method == http.MethodGet {
		s.list(w, r, "chat.completion")
		return
	}
	if len(path) == 0 {
		var asked map[string]any
		_ = json.Unmarshal(body, &asked) // the proxy has read it already
		input, output := words(asked["messages"]), words(said)
		o := s.make("chat.completion", map[string]any{
			"object": "chat.completion", "created": created, "model": asked["model"],
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": said}}},
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
