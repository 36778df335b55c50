package fakeopenai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Noted is what every stored answer says.
const Noted = "That is noted, and will be remembered."

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
	for _, item := range members(asked["input"]) {
		n, missing := s.named(item)
		if missing != "" {
			refuse(w, http.StatusNotFound, missing, "")
			return nil, nil, 0, false
		}
		input += n
	}
	if s.Think != nil {
		s.Think(input)
	}
	return asked, conversation, input, true
}

// members are the objects in a list.
func members(list any) (out []map[string]any) {
	elements, _ := list.([]any)
	for _, element := range elements {
		if m, ok := element.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// named is how many words an item of the input brings by what it names, or the sentence which says that there is no such thing.
func (s *Stored) named(item map[string]any) (n int64, missing string) {
	id, _ := item["id"].(string)
	bare := item["type"] == nil && len(item) == 1 // an item_reference whose type is left out
	if bare || item["type"] == "item_reference" || item["type"] == "reasoning" && id != "" && item["encrypted_content"] == nil {
		o := s.objects[id]
		if o == nil {
			return 0, fmt.Sprintf("Item with id '%s' not found.", id)
		}
		n += o.words
	}
	for _, part := range members(item["content"]) {
		id, given := part["file_id"].(string)
		if !given || part["type"] != "input_file" {
			continue
		}
		o := s.find("file", id)
		if o == nil {
			return 0, "No such File object: " + id
		}
		n += words(string(o.bytes))
	}
	return n, ""
}

// respond makes a response, and stores it unless it is told not to.
func (s *Stored) respond(w http.ResponseWriter, body []byte) {
	asked, conversation, input, ok := s.context(w, body)
	if !ok {
		return
	}
	items, output := s.say(asked)
	var all []any
	for _, item := range items {
		all = append(all, item.json)
	}
	o := s.make("response", map[string]any{
		"object": "response", "created_at": created, "status": "completed", "model": asked["model"], "output": all,
		"metadata": map[string]any{}, "store": asked["store"] != false, "previous_response_id": asked["previous_response_id"],
		"usage": map[string]any{
			"input_tokens": input, "output_tokens": output, "total_tokens": input + output,
			"input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		},
	})
	o.words = input + output
	s.used += input + output
	if conversation != nil {
		conversation.words = input + output
		conversation.items = append(conversation.items, items...)
	}
	if asked["store"] == false {
		gone := append([]*storedObject{o}, items...)
		for _, g := range gone {
			delete(s.objects, g.id())
		}
		s.order = s.order[:len(s.order)-len(gone)]
	}
	if asked["stream"] != true {
		answerJSON(w, http.StatusOK, o.json)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, event := range o.events(items) {
		event["sequence_number"] = i
		text, err := json.Marshal(event)
		if err != nil {
			panic(err) // made of what was read as JSON
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], text)
		_ = http.NewResponseController(w).Flush() // in a test without connections there is nothing to flush
	}
}

// say makes the items of an answer: a thought, a message, and the calls that are to be made.
func (s *Stored) say(asked map[string]any) (items []*storedObject, output int64) {
	items = append(items, s.make("reasoning", map[string]any{"type": "reasoning", "summary": []any{}}), s.make("message", map[string]any{
		"type": "message", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": Noted, "annotations": []any{}, "logprobs": []any{}}},
	}))
	if s.calls(asked) {
		for _, call := range s.Tools {
			items = append(items, s.make("function_call", map[string]any{
				"type": "function_call", "status": "completed", "call_id": call.ID, "name": call.Name, "arguments": call.Arguments,
			}))
		}
	}
	for _, item := range items {
		item.words = words(item.json)
		output += item.words
	}
	return items, output
}

// calls reports whether functions are to be called: some are offered, and none has answered.
func (s *Stored) calls(asked map[string]any) bool {
	answered := slices.ContainsFunc(members(asked["input"]), func(item map[string]any) bool { return item["type"] == "function_call_output" })
	return len(members(asked["tools"])) > 0 && !answered
}

// events are those of a streamed response.
func (o *storedObject) events(items []*storedObject) []map[string]any {
	begun := map[string]any{"id": o.id(), "object": "response", "created_at": created, "status": "in_progress", "model": o.json["model"], "output": []any{}}
	events := []map[string]any{{"type": "response.created", "response": begun}}
	for i, item := range items {
		add := func(kind string, more map[string]any) {
			more["type"], more["output_index"] = kind, i
			events = append(events, more)
		}
		beginning := map[string]any{"id": item.id(), "type": item.kind}
		part := map[string]any{"type": "output_text", "text": "", "annotations": []any{}, "logprobs": []any{}}
		switch item.kind {
		case "message":
			beginning["role"], beginning["status"], beginning["content"] = "assistant", "in_progress", []any{}
		case "function_call":
			beginning["call_id"], beginning["name"], beginning["arguments"], beginning["status"] = item.json["call_id"], item.json["name"], "", "in_progress"
		case "reasoning":
			beginning["summary"] = []any{}
		}
		add("response.output_item.added", map[string]any{"item": beginning})
		switch item.kind {
		case "message":
			add("response.content_part.added", map[string]any{"item_id": item.id(), "content_index": 0, "part": part})
			for _, word := range strings.SplitAfter(Noted, " ") {
				add("response.output_text.delta", map[string]any{"item_id": item.id(), "content_index": 0, "delta": word, "logprobs": []any{}})
			}
			add("response.output_text.done", map[string]any{"item_id": item.id(), "content_index": 0, "text": Noted, "logprobs": []any{}})
		case "function_call":
			add("response.function_call_arguments.delta", map[string]any{"item_id": item.id(), "delta": item.json["arguments"]})
			add("response.function_call_arguments.done", map[string]any{"item_id": item.id(), "name": item.json["name"], "arguments": item.json["arguments"]})
		}
		add("response.output_item.done", map[string]any{"item": item.json})
	}
	return append(events, map[string]any{"type": "response.completed", "response": o.json})
}
