package httplimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"testing"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/httplimit"
)

// TestClient says for each kind of request whose budget it is charged to.
func TestClient(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		what    string
		trusted []netip.Prefix
		request *http.Request
		want    string
	}{
		{"IPv4", nil, from("192.0.2.1:1"), "address 192.0.2.1"},
		{"IPv4 written as IPv6", nil, from("[::ffff:192.0.2.1]:1"), "address 192.0.2.1"},
		{"IPv6 goes by its network", nil, from("[2001:db8:1:2:3:4:5:6]:1"), "address 2001:db8:1:2::/64"},
		{"IPv6 with a zone", nil, from("[fe80::1%eth0]:1"), "address fe80::/64"},
		{"no port", nil, from("192.0.2.1"), "address 192.0.2.1"},
		{"a Unix socket", nil, from("@"), "unknown"},
		{"nothing", nil, from(""), "unknown"},
		{"nobody is trusted", nil, from("192.0.2.1:1", "X-Forwarded-For", "203.0.113.7"), "address 192.0.2.1"},
		{"other headers are not read", proxies, from("10.0.0.1:1", "X-Forwarded-For", "203.0.113.7", "X-Real-IP", "1.1.1.1", "Forwarded", "for=1.1.1.1", "True-Client-IP", "1.1.1.1"), "address 203.0.113.7"},
		{"one proxy", proxies, from("10.0.0.1:1", "X-Forwarded-For", "203.0.113.7"), "address 203.0.113.7"},
		{"two proxies", proxies, from("10.0.0.1:1", "X-Forwarded-For", "203.0.113.7, 10.0.0.2"), "address 203.0.113.7"},
		{"a proxy by IPv6", proxies, from("[fd00::1]:1", "X-Forwarded-For", "2001:db8:1:2:3:4:5:6"), "address 2001:db8:1:2::/64"},
		{"what comes before the client is its own invention", proxies, from("10.0.0.1:1", "X-Forwarded-For", "1.1.1.1, 203.0.113.7"), "address 203.0.113.7"},
		{"several headers are one", proxies, from("10.0.0.1:1", "X-Forwarded-For", "1.1.1.1", "X-Forwarded-For", "203.0.113.7"), "address 203.0.113.7"},
		{"a stranger", proxies, from("192.0.2.1:1", "X-Forwarded-For", "203.0.113.7"), "address 192.0.2.1"},
		{"nonsense from a trusted proxy", proxies, from("10.0.0.1:1", "X-Forwarded-For", "203.0.113.7, unknown"), "unknown"},
		{"a trusted proxy says nothing", proxies, from("10.0.0.1:1"), "unknown"},
		{"trusted all the way", proxies, from("10.0.0.1:1", "X-Forwarded-For", "10.0.0.3, 10.0.0.2"), "unknown"},
		{"an empty key is none", nil, from("192.0.2.1:1", "X-API-Key", ""), "address 192.0.2.1"},
	} {
		t.Run(c.what, func(t *testing.T) {
			var name string
			family := limiter.NewMemory().Family(limiter.FamilyOptions{Rule: bucket(1, 1, time.Second)})
			d := newDesk(t, httplimit.Options{TrustedProxies: c.trusted, Budget: func(client string) *limiter.Budget {
				name = client
				return family.Budget(client)
			}})
			d.passes(c.request)
			if name != c.want {
				t.Errorf("charged to %q, want %q", name, c.want)
			}
		})
	}
}

func TestClientsShare(t *testing.T) {
	one := httplimit.Options{Rule: bucket(1, 1, time.Hour)}
	story(t, "a key counts wherever it calls from", one, func(d *desk) {
		d.passes(from("192.0.2.1:1", "X-API-Key", "a"))
		d.limitedLong(from("192.0.2.2:1", "X-API-Key", "a"))
		d.passes(from("192.0.2.1:1")) // and does not use up its address's own
	})
	story(t, "one IPv6 network is one client", one, func(d *desk) {
		d.passes(from("[2001:db8::1]:1"))
		for i := range 100 {
			d.limitedLong(from(fmt.Sprintf("[2001:db8::%x]:1", 1000+i)))
		}
		d.passes(from("[2001:db8:0:1::1]:1"))
	})
	story(t, "nobody in particular", one, func(d *desk) {
		d.passes(from("@"))
		d.limitedLong(from("")).mentions("all clients without a key or a known address")
	})
	known := one
	known.KnownKey = func(key string) bool { return key == "known" }
	story(t, "a key that nobody knows is not a way to be somebody else", known, func(d *desk) {
		d.passes(from("192.0.2.1:1", "X-API-Key", "made up 0"))
		for i := range 100 {
			d.limitedLong(from("192.0.2.1:1", "X-API-Key", fmt.Sprint("made up ", i)))
		}
		d.passes(from("192.0.2.1:1", "X-API-Key", "known"))
	})
	few := one
	few.MostClients = 100
	story(t, "inventing clients makes no capacity", few, func(d *desk) {
		passed := 0
		for i := range 1000 {
			if d.ask(withKey(fmt.Sprint(i))).Code == http.StatusNoContent {
				passed++
			}
		}
		if passed != 101 { // the last for all newcomers together
			d.Fatalf("%d passed", passed)
		}
		d.limitedLong(withKey("0")) // none of the first was forgotten to make room
	})
	story(t, "chi has found the address out", one, func(d *desk) {
		d.handler = middleware.ClientIPFromHeader("CF-Connecting-IP", "10.0.0.0/8")(d.handler)
		d.passes(from("10.0.0.1:1", "CF-Connecting-IP", "203.0.113.7"))
		d.limitedLong(from("10.0.0.1:1", "CF-Connecting-IP", "203.0.113.7"))
		d.passes(from("10.0.0.1:1", "CF-Connecting-IP", "203.0.113.8"))
	})
}

// limitedLong wants a 429 with a wait that is not worth waiting out.
func (d *desk) limitedLong(r *http.Request) answer {
	d.Helper()
	return d.limited(r).says("x-should-retry", "false")
}

// FuzzClient has whatever a client may send end as the name of some client.
func FuzzClient(f *testing.F) {
	f.Add("192.0.2.1:1", "203.0.113.7, 10.0.0.1", "key")
	f.Add("[fe80::1%eth0]:1", "::ffff:10.0.0.1%x,,\x00", "")
	names := regexp.MustCompile(`^(unknown|key [0-9a-f]{32}|address [0-9.]{7,15}|address [0-9a-f:]+::/64)$`)
	family := limiter.NewMemory().Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: 1 << 60}})
	var name string
	limit := httplimit.New(httplimit.Options{
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/2"), netip.MustParsePrefix("::/1")},
		Budget: func(client string) *limiter.Budget {
			name = client
			return family.Budget(client)
		},
	})(http.NotFoundHandler())
	f.Fuzz(func(t *testing.T, peer, forwarded, key string) {
		w := httptest.NewRecorder()
		limit.ServeHTTP(w, from(peer, "X-Forwarded-For", forwarded, "X-API-Key", key))
		if !names.MatchString(name) || w.Code != http.StatusNotFound {
			t.Fatalf("charged to %q, answered %d", name, w.Code)
		}
	})
}

func BenchmarkPassed(b *testing.B) {
	limit := httplimit.New(httplimit.Options{Rule: bucket(1<<40, 1<<40, time.Second)})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for name, request := range map[string]*http.Request{"key": withKey("a key of usual length, say 51 characters of base 64"), "address": from("192.0.2.1:1")} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				limit.ServeHTTP(httptest.NewRecorder(), request)
			}
		})
	}
}
