package proxy_test

import (
	"fmt"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// homes are where the first choices are of so many sessions of alice, with a pool.
func homes(t *testing.T, pool []proxy.PoolSpec, sessions int) (list []string) {
	t.Helper()
	spec := alice(t)
	for _, name := range []string{"a", "b", "c"} {
		spec.Upstreams = append(spec.Upstreams, proxy.UpstreamSpec{Name: name, URL: "http://" + name + "/v1"})
	}
	spec.Models = []proxy.ModelSpec{{Pattern: "m", Pool: pool}}
	policy, err := proxy.NewPolicy(spec, limiter.NewMemory(), &cost.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range sessions {
		list = append(list, policy.FirstOf("m", "alice", fmt.Sprint("session-", i)))
	}
	return list
}

// TestOnlyTheShareOfOneDeploymentMoves: whoever comes to a pool takes from each of the others, and whoever goes leaves to them, and
// nothing else changes hands: also where it is another deployment at an upstream that is there already.
func TestOnlyTheShareOfOneDeploymentMoves(t *testing.T) {
	const sessions = 300
	a, b, c := proxy.PoolSpec{Upstream: "a"}, proxy.PoolSpec{Upstream: "b"}, proxy.PoolSpec{Upstream: "c", As: "d"}
	d1, d2, d3 := proxy.PoolSpec{Upstream: "a", As: "d1"}, proxy.PoolSpec{Upstream: "a", As: "d2", Weight: 2}, proxy.PoolSpec{Upstream: "b", As: "d1"}
	for _, pool := range [][]proxy.PoolSpec{
		{d1, b, d2}, {d1, d2}, {d1, d2, b, c}, {a, d1, b}, {b, a, d2}, {d1, d3, d2}, {d2, d1, b}, {a, b, c},
	} {
		with := homes(t, pool, sessions)
		for i, gone := range pool {
			rest := append(append([]proxy.PoolSpec{}, pool[:i]...), pool[i+1:]...)
			without, moved := homes(t, rest, sessions), 0
			name := gone.Upstream + "/" + gone.As
			for k := range with {
				switch {
				case with[k] == name:
					moved++
				case with[k] != without[k]:
					t.Fatalf("%v without %s: session %d moves from %s to %s", pool, name, k, with[k], without[k])
				}
			}
			if moved == 0 || moved == sessions {
				t.Errorf("%v: %d of %d sessions are at %s", pool, moved, sessions, name)
			}
		}
	}
}
