package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
)

// warm reads vocabularies, so that the first call need not wait for them.
func warm(e *cost.Estimator, encodings []string) {
	for _, encoding := range encodings {
		_ = e.Load(encoding) // what cannot be read is reported by the first estimate that needs it
	}
}

// encodings are the vocabularies of models that are configured by name, and where a pattern stands for them, that of today's models. Any
// other is read when it is needed: that takes some tens of milliseconds, once, and 6 MB.
func encodings(models []proxy.ModelSpec, catalog *cost.Catalog) (names []string) {
	today := catalog.Model("").Encoding
	if len(models) == 0 {
		return []string{today}
	}
	for _, m := range models {
		encoding := today
		if name := cmp.Or(m.CountsAs, m.As, m.Pattern); !strings.Contains(name, "*") {
			encoding = catalog.Model(name).Encoding
		}
		if !slices.Contains(names, encoding) {
			names = append(names, encoding)
		}
	}
	return names
}
