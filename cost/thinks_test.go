package cost_test

import (
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// TestModelsThatMayThinkUnseen: of what is not in the price list, the name says so.
func TestModelsThatMayThinkUnseen(t *testing.T) {
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"gemini-2.5-pro": true, "google/gemini-3-pro-preview": true, "gemini-10-flash": true, "gemini-flash-latest": true,
		"gemini-2.0-flash-thinking-exp": true, "gemini-2.0-flash": false, "gemini-1.5-pro": false, "gemini-exp-1206": false,
		"grok-4": true, "x-ai/grok-4-fast": true, "grok-3-mini": true, "grok-code-fast-1": true, "grok-3": false, "grok-2-vision": false,
		"claude-opus-4-1": true, "claude-3-7-sonnet-latest": true, "us.anthropic.claude-sonnet-4-20250514-v1:0": true, "claude-haiku-4-5": true,
		"claude-3-5-sonnet": false, "claude-3-opus-20240229": false, "claude-2.1": false, "claude-instant-1.2": false, "claude": false,
		"deepseek-reasoner": true, "kimi-k2-thinking": true, "QwQ-Thinking": true, "my-reasoning-model": true,
		"o9": true, "o4-nano": true, "gpt-9": true, "team-gpt-5-eu": true, "gpt-35-turbo": false, "gpt-": false,
		"llama3": false, "llama-3.3-70b": false, "qwen3-max": false, "mistral-large": false, "deepseek-chat": false, "": false, "ollama": false, "olmo-2": false,
	} {
		m := catalog.Model(name)
		if m.Reasoning != want {
			t.Errorf("%q: reasons: %v, not %v", name, m.Reasoning, want)
		}
		if want && m.DefaultOutput != 16_384 {
			t.Errorf("%q: %d tokens by default", name, m.DefaultOutput)
		}
	}
}
