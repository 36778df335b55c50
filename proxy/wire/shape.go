package wire

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// A shape lists the member names that matter in one kind of object. In an object with a shape no member may be
// repeated, and no member may have a name that is not one of these but that a lenient parser would take for one.
type shape struct {
	exact  map[string]int    // name to its number, which is its bit in a set of seen members
	folded map[string]string // folded name to the name
}

// maxNames is how many names a shape may have.
const maxNames = 128

// A nameSet is a set of names of one shape.
type nameSet [maxNames / 64]uint64

// add adds a name by its number, and reports whether it was there already.
func (s *nameSet) add(number int) bool {
	word, bit := &s[number/64], uint64(1)<<(number%64)
	there := *word&bit != 0
	*word |= bit
	return there
}

// foldedMax is more than the longest folded name of any shape: longer names cannot be look-alikes.
const foldedMax = 48

func newShape(names ...string) *shape {
	s := &shape{exact: make(map[string]int, len(names)), folded: make(map[string]string, len(names))}
	for i, name := range names {
		key := string(fold(make([]byte, 0, foldedMax), name))
		if i >= maxNames || key == "" || s.folded[key] != "" {
			panic("BUG: wire: a shape holds at most maxNames names, none longer than foldedMax, none alike: " + name)
		}
		s.exact[name], s.folded[key] = i, name
	}
	return s
}

// foreignMembers are what some servers would take for another limit, another model, another address or another bill, or for a way to make
// more tokens of what is sent than it has.
var foreignMembers = []string{
	"n_predict", "num_predict", "max_new_tokens", "use_beam_search", "models", "fallbacks", "api_base", "api_key", "base_url",
	"extra_body", "search_parameters", "plugins", "enable_search", "data_sources", "deferred",
	"max_tokens", "max_completion_tokens", "max_output_tokens", "n_cmpl", "max_length", "max_gen_len", "generation_config",
	"prompt_embeds",
	// A template is a program, and these say how pictures are cut up (vLLM, SGLang).
	"chat_template", "mm_processor_kwargs", "media_io_kwargs", "images_config", "max_dynamic_patch", "min_dynamic_patch",
	// From where a server takes what it has read before, which of several answers, and what of itself it loads for that (vLLM, SGLang).
	"kv_transfer_params", "ec_transfer_params", "bootstrap_host", "bootstrap_port", "bootstrap_room", "session_params",
	"data_parallel_rank", "routed_dp_rank", "disagg_prefill_dp_rank", "lora_path", "custom_logit_processor",
	// Who answers, at what price (OpenRouter, LiteLLM).
	"provider", "preset", "route", "transforms", "context_window_fallbacks", "content_policy_fallbacks", "model_list", "custom_llm_provider",
	// Another model beside it, and searches (Together, Qianfan).
	"safety_model", "web_search",
}

func isForeign(name string) bool { return slices.Contains(foreignMembers, name) }

// newBodyShape is the shape of a whole body: its own members, all foreign ones but the limits it knows itself, and what
// may hold some more of those.
func newBodyShape(limits []string, names ...string) *shape {
	for _, name := range foreignMembers {
		if !slices.Contains(limits, name) {
			names = append(names, name)
		}
	}
	for name := range foreignWithin {
		names = append(names, name)
	}
	return newShape(names...)
}

// fold appends the form of a name in which look-alikes are equal. It returns nil for a name too long to matter.
//
// Letters are folded as encoding/json and many others do when they match names regardless of case (so that U+017F and
// U+212A equal s and k). Underscores and hyphens are left out because parsers built on protocol buffers accept maxTokens
// for max_tokens.
func fold(dst []byte, name string) []byte {
	for _, r := range name {
		if r == '_' || r == '-' {
			continue
		}
		if len(dst)+utf8.UTFMax > cap(dst) {
			return nil
		}
		dst = utf8.AppendRune(dst, foldRune(r))
	}
	return dst
}

// foldRune is the smallest of the characters that r equals under simple case folding.
func foldRune(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}

// resembles returns the name of the shape that name could be taken for, or "".
func (s *shape) resembles(name string) string {
	var buf [foldedMax]byte
	return s.folded[string(fold(buf[:0], name))]
}

// unknowable are the members of a content part by which some servers take what has no size before it is fetched or
// decoded, whatever the part's type says.
var unknowable = []string{
	"video_url", "audio_url", "file_url", "document_url", "input_video", "video", "audio", "image", "document", "image_pil",
	"image_embeds", "audio_embeds", "prompt_embeds",
}

// patches are the members by which a picture says in how many pieces it is read, each of which has tokens of its own (SGLang).
var patches = []string{"max_dynamic_patch", "min_dynamic_patch"}

// usualWords are the names, and the values of some members, that are in nearly every request or answer, each as itself.
var usualWords = func() map[string]string {
	all := map[string]string{}
	for _, s := range []*shape{chatShape, streamOptionsShape, messageShape, partShape, imageShape, toolShape, itemShape, itemPartShape} {
		for name := range s.exact {
			all[name] = name
		}
	}
	for _, word := range []string{
		"system", "developer", "user", "assistant", "tool", "message", "input_text", "output_text", "function_call_output", "reasoning",
		"instructions", "max_output_tokens", "prompt", "dimensions", "encoding_format",
		"prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details",
		"input_tokens_details", "output_tokens_details", "cached_tokens", "audio_tokens", "reasoning_tokens", "image_tokens",
		"accepted_prediction_tokens", "rejected_prediction_tokens",
	} {
		all[word] = word
	}
	return all
}()

// The shapes of chat completion requests, and of what others have in common with them. Objects without one (schemas, tool
// parameters, metadata, logit_bias and whatever we do not know) are not judged: only their strings count.
var (
	chatShape = newBodyShape(
		[]string{"max_tokens", "max_completion_tokens"},
		"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "n", "best_of",
		"tools", "functions", "tool_choice", "function_call", "parallel_tool_calls", "response_format", "prediction",
		"store", "background", "previous_response_id", "conversation", "web_search_options", "modalities", "audio",
		"service_tier", "reasoning_effort", "verbosity", "temperature", "top_p", "stop", "seed", "logit_bias", "logprobs",
		"top_logprobs", "presence_penalty", "frequency_penalty", "metadata", "user", "safety_identifier",
		"prompt_cache_key", "prompt_cache_retention", "prompt_cache_options",
	)
	streamOptionsShape  = newShape("include_usage", "include_obfuscation")
	messageShape        = newShape("role", "content", "name", "refusal", "audio", "tool_calls", "tool_call_id", "function_call")
	partShape           = newShape(append([]string{"type", "text", "refusal", "image_url", "input_audio", "file", "file_id"}, unknowable...)...)
	imageShape          = newShape(append([]string{"url", "detail", "file_id"}, patches...)...)
	audioShape          = newShape(append([]string{"data", "format"}, addressed...)...)
	fileShape           = newShape(append([]string{"file_data", "file_id", "filename"}, addressed...)...)
	toolShape           = newShape("type", "function", "custom")
	responseFormatShape = newShape("type", "json_schema")
)
