package main

import (
	"io"
	"os"
	"strings"
	"text/template"
)

// demoGuide is what the demo prints: what there is, and what to paste to see it work. Everything meant to be pasted starts at
// the left edge, holds no shell comments (zsh does not take them at its prompt) and needs nothing that was not said.
type demoGuide struct {
	BaseURL    string
	MetricsURL string
	Model      string
	Keys       []demoKey
	MaxOutput  int64 // tokens; the output limit in the call that bob can afford once
	Wait       int64 // seconds; what Retry-After will say to his second
}

func (g demoGuide) Alice() string { return g.Keys[0].Secret }
func (g demoGuide) Bob() string   { return g.Keys[1].Secret }

// write prints the guide; bold, if wanted, marks what a glance should find.
func (g demoGuide) write(w io.Writer, bold bool) error {
	funcs := template.FuncMap{
		"bold": func(s string) string {
			if bold {
				return "\x1b[1m" + s + "\x1b[0m"
			}
			return s
		},
		"join": strings.Join,
	}
	return template.Must(template.New("guide").Funcs(funcs).Parse(demoText)).Execute(w, g)
}

const demoText = `{{bold "tokenfare demo"}}   Keys with token and dollar budgets, in front of a simulated OpenAI. No account, no network.

  base URL   {{bold .BaseURL}}
{{range .Keys}}  {{printf "%-9s" .Name}}  {{printf "%-14s" .Secret | bold}}  {{join .Limits ", "}}
{{end}}  metrics    {{.MetricsURL}}

Paste what follows into a second terminal, and watch this one.

{{bold "1  Stream an answer"}}   Each call leaves a line here: what it reserved first, and what it used in the end.

curl -N {{.BaseURL}}/chat/completions \
  -H 'Authorization: Bearer {{.Alice}}' -H 'Content-Type: application/json' \
  -d '{"model":"{{.Model}}","stream":true,"messages":[{"role":"user","content":"Tell me about budgets"}]}'

{{bold "2  The same from code"}}   Python (pip install openai) or Node (npm install openai).

python3 - <<'END'
from openai import OpenAI
client = OpenAI(base_url="{{.BaseURL}}", api_key="{{.Alice}}")
messages = [{"role": "user", "content": "Tell me about budgets"}]
for chunk in client.chat.completions.create(model="{{.Model}}", messages=messages, stream=True):
    print(chunk.choices[0].delta.content or "", end="", flush=True)
END

node --input-type=module - <<'END'
import OpenAI from "openai";
const client = new OpenAI({ baseURL: "{{.BaseURL}}", apiKey: "{{.Alice}}" });
const messages = [{ role: "user", content: "Tell me about budgets" }];
for await (const chunk of await client.chat.completions.create({ model: "{{.Model}}", messages, stream: true }))
  process.stdout.write(chunk.choices[0].delta.content ?? "");
END

{{bold "3  Spend more than the budget"}}   bob can afford this call once. The second is refused: 429, and how long to wait.

ask() { curl -sSi {{.BaseURL}}/chat/completions \
  -H 'Authorization: Bearer {{.Bob}}' -H 'Content-Type: application/json' \
  -d '{"model":"{{.Model}}","max_completion_tokens":{{.MaxOutput}},"messages":[{"role":"user","content":"Tell me a long story"}]}'; echo; }
ask; ask

   Retry-After says {{.Wait}} seconds, or less if you took your time. Wait that long, and the same call is answered:

sleep {{.Wait}}; ask

{{bold "Ctrl-C"}} stops the demo and leaves nothing behind.

`

// isTerminal reports whether w is a terminal whose owner has not asked for plain text (https://no-color.org).
func isTerminal(w io.Writer) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
