package proxy_test

import (
	"fmt"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// BenchmarkQuotas looks at ten thousand budgets once, as is done every second where people are to be told.
func BenchmarkQuotas(b *testing.B) {
	spec := proxy.Spec{Upstreams: []proxy.UpstreamSpec{{Name: "up", URL: "http://127.0.0.1:1/v1"}}}
	for i := range 5000 {
		spec.Keys = append(spec.Keys, proxy.KeySpec{Name: fmt.Sprintf("key-%d", i), Hashes: [][32]byte{{byte(i), byte(i >> 8)}}, Limits: limits(b, "$50 each month", "10m tokens each day")})
	}
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		b.Fatal(err)
	}
	l := limiter.NewMemory()
	policy, err := proxy.NewPolicy(spec, l, catalog)
	if err != nil {
		b.Fatal(err)
	}
	server, err := proxy.New(proxy.Options{Limiter: l, Estimator: estimator}, policy)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if list, err := server.Quotas(b.Context(), 80); err != nil || len(list) != 0 {
			b.Fatal(len(list), err)
		}
	}
}
