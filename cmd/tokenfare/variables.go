package main

import (
	"regexp"
	"strings"
)

// foreign are the ways in which other programs write that a value comes from the environment. The name is the first group
// that matched.
var foreign = regexp.MustCompile(`^(?:` +
	`\$([A-Za-z_]\w*)` + // the shell, and most programs
	`|\$\(([A-Za-z_]\w*)\)` + // make, Kubernetes
	`|%([A-Za-z_]\w*)%` + // Windows
	`|os\.environ(?:/|\[['"]?|\.get\(['"]?)([A-Za-z_]\w*)['"]?[\])]?` + // LiteLLM, Python
	`|(?:process\.)?env[.:/]([A-Za-z_]\w*)` + // Node and others
	`|\{\{-?\s*(?:\.?[Ee]nv(?:iron)?[. ]|\.Values\.|secrets\.)?\s*["']?\.?([A-Za-z_]\w*)["']?\s*-?\}\}` + // templates
	`)$`)

// innerName is the name in what stands between ${ and }: the shell's defaults, other programs' env. and env:.
var innerName = regexp.MustCompile(`^\{?\s*(?:env[.:]|secrets\.)?\s*([A-Za-z_]\w*)`)

// foreignVariable returns what to write instead where a value seems to mean a variable in another program's way; such a
// value would otherwise be sent to the upstream as its key.
func foreignVariable(s string) string {
	s = strings.TrimSpace(s)
	for i, name := range foreign.FindStringSubmatch(s) {
		if i > 0 && name != "" {
			return `write "${` + name + `}"`
		}
	}
	_, inner, found := strings.Cut(variable.ReplaceAllString(s, ""), "${")
	if !found {
		return ""
	}
	if m := innerName.FindStringSubmatch(inner); m != nil {
		return `write "${` + m[1] + `}", with nothing but the name between the braces`
	}
	return `write "${NAME}", with nothing but the name between the braces`
}
