package proxy

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// FuzzRequestHeaders: headers of callers are read as what they say, or not at all.
func FuzzRequestHeaders(f *testing.F) {
	f.Add("Bearer tf-key with spaces", "team a")
	f.Add("bearer  x", "\u00fcml\u00e4ut")
	f.Add("Basic dTpw", strings.Repeat("x", 65))
	f.Add("Bearer", "a\tb")
	f.Add("Bearer \xff", "\xff")
	f.Add("Bearer a, Bearer b", "")
	f.Fuzz(func(t *testing.T, authorization, label string) {
		secret, ok := bearer(http.Header{"Authorization": {authorization}})
		if scheme, rest, cut := strings.Cut(authorization, " "); ok != (cut && strings.EqualFold(scheme, "bearer") && rest != "") || ok && secret != rest {
			t.Errorf("%q has the secret %q: %v", authorization, secret, ok)
		}
		if _, ok := bearer(http.Header{"Authorization": {authorization, authorization}}); ok {
			t.Errorf("%q is taken twice", authorization)
		}
		x := &exchange{}
		err := x.readLabel(http.Header{"X-Tokenfare-Label": {label}})
		if good := utf8.ValidString(label) && len([]rune(label)) <= longestLabel && !slices.ContainsFunc([]rune(label), unicode.IsControl); good != (err == nil) || good && x.label != label || !good && x.label != "" {
			t.Errorf("label %q is %q: %v", label, x.label, err)
		}
	})
}

// FuzzStoredQuery: of the query of an address, what passes is known, short, and what it was; cursors are ids.
func FuzzStoredQuery(f *testing.F) {
	names := []string{"limit", "after", "order", "metadata", "include"}
	for _, seed := range []string{
		"limit=5&after=resp_1", "after=../x", "metadata[a]=b&metadata[c]=d", "include[]=x&include[]=y", "limit[x]=5", "order=asc;after=1", "%zz", "after=a&after=b",
		"api_key=x&user=y", "limit=" + strings.Repeat("9", 300), strings.Repeat("include[]=a&", 40), "after=%00", "=x&limit", "metadata[[=x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		c := &stored{r: &http.Request{URL: &url.URL{RawQuery: query}}}
		out, err := c.query(names)
		if err != nil {
			if out != nil {
				t.Errorf("%q: %v and %v", query, out, err)
			}
			return
		}
		asked, err := url.ParseQuery(query)
		if err != nil {
			t.Fatalf("%q was read: %v", query, err)
		}
		n := 0
		for name, values := range out {
			plain, _, nested := strings.Cut(name, "[")
			if !slices.Contains(names, plain) || nested && plain != "metadata" && plain != "include" {
				t.Errorf("%q passes of %q", name, query)
			}
			if !slices.Equal(values, asked[name]) {
				t.Errorf("%q became %v", query, out)
			}
			for _, v := range values {
				if n++; len(v) > longestParameter || name == "after" && !wire.IsID(v) {
					t.Errorf("%s=%q passes", name, v)
				}
			}
		}
		if n > mostParameters {
			t.Errorf("%d parameters pass", n)
		}
	})
}
