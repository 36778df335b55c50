package main

import (
	"slices"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
)

// TestEncodings: what is read at the start is what the configured models need.
func TestEncodings(t *testing.T) {
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		models []proxy.ModelSpec
		want   []string
	}{
		{nil, []string{"o200k_base"}},
		{[]proxy.ModelSpec{{Pattern: "*"}, {Pattern: "gpt-4*"}, {Pattern: "llama3"}}, []string{"o200k_base"}},
		{[]proxy.ModelSpec{{Pattern: "gpt-*"}, {Pattern: "text-embedding-3-small"}}, []string{"o200k_base", "cl100k_base"}},
		{[]proxy.ModelSpec{{Pattern: "team-*", As: "gpt-4-turbo"}}, []string{"cl100k_base"}},
		{[]proxy.ModelSpec{{Pattern: "ours", As: "deployment-7", CountsAs: "gpt-3.5-turbo"}}, []string{"cl100k_base"}},
	} {
		if got := encodings(c.models, catalog); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, not %v", c.models, got, c.want)
		}
	}
}
