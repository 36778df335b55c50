package proxy_test

import (
	"fmt"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
)

// What is stored at the sixth upstream of a pool is asked for there.
func TestWhatTheSixthHasStored(t *testing.T) {
	v := freshVault(t, func(s *proxy.Spec) {
		s.Upstreams = nil
		for i := range 6 {
			s.Upstreams = append(s.Upstreams, proxy.UpstreamSpec{Name: fmt.Sprint("up", i), Key: fmt.Sprint("sk-key-", i)})
		}
		s.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up5"}}
	})
	id := v.must(secret, "POST", "/v1/responses", remember)
	spec := v.spec
	var pool []proxy.PoolSpec
	for i := range 6 {
		pool = append(pool, proxy.PoolSpec{Upstream: fmt.Sprint("up", i), Priority: i + 1})
	}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: pool}}
	catalog, _ := cost.DefaultCatalog()
	policy, err := proxy.NewPolicy(spec, v.limiter, catalog)
	if err != nil {
		t.Fatal(err)
	}
	v.server.SetPolicy(policy)
	got := v.as(secret, "POST", "/v1/responses", fmt.Sprintf(`{"model":"gpt-4o-mini","input":"And then?","max_output_tokens":50,"previous_response_id":%q}`, id))
	if got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
