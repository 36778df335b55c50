package wire

import (
	"errors"
	"strings"
	"testing"
)

// TestMembersThatPickATemplateAHostOrAProviderAreRefused: at every endpoint that takes JSON, under any spelling, unless they say nothing.
func TestMembersThatPickATemplateAHostOrAProviderAreRefused(t *testing.T) {
	for _, member := range []string{
		`"chat_template":"{% for i in range(99999) %}word {% endfor %}"`, `"chat_template_kwargs":{"chat_template":"{{ 'word ' * 99999 }}"}`,
		`"chat_template_kwargs":{"enable_thinking":true,"padding":"max_length","max_length":99999}`, `"chat_template_kwargs":{"max_length":99999}`,
		`"chat_template_kwargs":{"tokenizer_kwargs":{"padding":"max_length"}}`, `"vllm_xargs":{"kv_transfer_params":"x"}`,
		`"vllm_xargs":{"ec_transfer_params":{"remote_host":"x"}}`, `"safety_model":"dearest"`, `"web_search":{"enable":true}`,
		`"mm_processor_kwargs":{"max_pixels":1000000000}`, `"media_io_kwargs":{"video":{"num_frames":9999}}`, `"images_config":{"image_max_dynamic_patch":99}`,
		`"max_dynamic_patch":99`, `"min_dynamic_patch":99`,
		`"kv_transfer_params":{"remote_host":"169.254.169.254","remote_port":80,"do_remote_prefill":true}`, `"ec_transfer_params":{}`,
		`"bootstrap_host":"169.254.169.254"`, `"bootstrap_port":80`, `"bootstrap_room":0`, `"session_params":{"id":"x"}`,
		`"data_parallel_rank":0`, `"routed_dp_rank":0`, `"disagg_prefill_dp_rank":0`, `"lora_path":"/etc"`, `"custom_logit_processor":"x"`,
		`"provider":{"order":["dearest"],"allow_fallbacks":false}`, `"preset":"x"`, `"route":"fallback"`, `"transforms":["middle-out"]`,
		`"context_window_fallbacks":[{"m":["dearest"]}]`, `"content_policy_fallbacks":[]`, `"model_list":[{"model_name":"m"}]`, `"custom_llm_provider":"x"`,
		`"models":["dearest"]`, `"plugins":[{"id":"web"}]`, `"fallbacks":["dearest"]`,
	} {
		name, value, _ := strings.Cut(member, ":")
		for e := range dialects {
			refusedMember(t, e, member, CodeUnsupportedMember)
		}
		refusedMember(t, Chat, strings.ToUpper(name)+":"+value, CodeAmbiguousMember)
		refusedMember(t, Chat, strings.ReplaceAll(name, "_", "-")+":"+value, map[bool]string{true: CodeAmbiguousMember, false: CodeUnsupportedMember}[strings.Contains(name, "_")])
		if _, err := leastRequest(Chat, name+":null"); err != nil {
			t.Errorf("%s is null: %v", name, err)
		}
	}
	refusedMember(t, Chat, `"chat_template_kwargs":{"Chat_Template":"x"}`, CodeAmbiguousMember)
	refusedMember(t, Chat, `"chat_template_kwargs":{"x":1,"x":2}`, CodeDuplicateMember)
}

func refusedMember(t *testing.T, e Endpoint, member, code string) {
	t.Helper()
	_, err := leastRequest(e, member)
	if fault, ok := errors.AsType[*Error](err); !ok || fault.Code != code || fault.Status != 400 {
		t.Errorf("%s with %s: %v, want %s", e, member, err, code)
	}
}

// TestPartsThatAreReplacedByMoreAreRefused: a tool by its name, and pictures in as many pieces as the caller says.
func TestPartsThatAreReplacedByMoreAreRefused(t *testing.T) {
	for _, part := range []string{
		`{"type":"tool_reference","name":"f"}`, `{"type":"image_url","image_url":{"url":"https://x/y.png","max_dynamic_patch":99}}`,
		`{"type":"image_url","image_url":{"url":"https://x/y.png","min_dynamic_patch":99}}`,
	} {
		if e := refused(t, `{"model":"m","messages":[{"role":"user","content":[`+part+`]}]}`); e.Code != CodeUnsupportedMember {
			t.Errorf("%s: %v", part, e)
		}
	}
}

// TestValuesForATemplateCount: whole, as JSON, since a template can show all of it.
func TestValuesForATemplateCount(t *testing.T) {
	for _, value := range []string{`{"enable_thinking":false}`, `{"documents":[{"a":1,"b":"c"}],"x":{}}`, `"text"`, `["a",1]`, `17`, `{"chat_template":null,"a":"b"}`} {
		req := accepted(t, Chat, `"chat_template_kwargs": `+value)
		last := req.Cost.Text[len(req.Cost.Text)-1].S
		if last != strings.Trim(value, `"`) {
			t.Errorf("%s counts as %q", value, last)
		}
	}
}

// TestMembersOfOtherServersPass that change neither the prompt beyond what they hold, nor the bill.
func TestMembersOfOtherServersPass(t *testing.T) {
	for _, member := range []string{
		`"documents":[{"title":"a","text":"b"}]`, `"add_generation_prompt":false`, `"continue_final_message":true`, `"guided_json":{"a":1}`,
		`"structured_outputs":{"regex":"a"}`, `"echo":true`, `"prompt_logprobs":1`, `"top_k":5`, `"session_id":"x"`, `"cache_salt":"x"`,
		`"chat_template_kwargs":{"enable_thinking":true,"reasoning_effort":"high"}`, `"input_ids":[1,2]`,
	} {
		if _, err := leastRequest(Chat, member); err != nil {
			t.Errorf("%s: %v", member, err)
		}
	}
}

// TestForeignFieldsOfFormsAreRefused as members are, under any spelling, and if they are parts of an object.
func TestForeignFieldsOfFormsAreRefused(t *testing.T) {
	for e := range forms {
		for _, name := range []string{
			"api_base", "base_url", "models", "fallbacks", "provider", "kv_transfer_params", "bootstrap_host", "Bootstrap_Host", "baseURL",
			"kv_transfer_params[remote_host]", "extra_body[api_base]", "chat_template",
		} {
			refusedMember(t, e, `"`+name+`":"x"`, CodeUnsupportedMember)
			if _, err := leastRequest(e, `"`+name+`":""`); err != nil {
				t.Errorf("%s that is empty: %v", name, err)
			}
		}
		for _, name := range []string{"max_completion_tokens", "seed", "to_language"} {
			if _, err := leastRequest(e, `"`+name+`":"5"`); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
