package main

import (
	"net/netip"
	"strings"
	"testing"
)

func TestListenersThatTakeTheSamePort(t *testing.T) {
	for pair, same := range map[string]bool{
		"127.0.0.1:9090 127.0.0.1:9090":   true,
		"0.0.0.0:9090 127.0.0.1:9090":     true,
		":9090 127.0.0.1:9090":            true,
		"[::]:9090 127.0.0.1:9090":        true,
		":9090 [::1]:9090":                true,
		"localhost:9090 127.0.0.1:9090":   true,
		"LocalHost:9090 0.0.0.0:9090":     true,
		"localhost:9090 [::1]:9090":       true,
		"0.0.0.0:9090 [::]:9090":          true,
		"127.0.0.1:09090 127.0.0.1:9090":  true,
		"0.0.0.0:9090 example.com:9090":   true,
		"[0:0::1]:9090 [::1]:9090":        true,
		"0.0.0.0:9090 127.0.0.1:9091":     false,
		"127.0.0.1:9090 127.0.0.2:9090":   false,
		"10.0.0.1:9090 127.0.0.1:9090":    false,
		"0.0.0.0:9090 [::1]:9090":         false,
		"10.0.0.1:9090 localhost:9090":    false,
		"127.0.0.1:0 127.0.0.1:0":         false,
		"a.example:9090 b.example:9090":   false,
		"[fd00::1]:9090 [fd00::2]:9090":   false,
		"[fd00::1]:9090 localhost:9090":   false,
		"example.com:9090 localhost:9090": false,
	} {
		a, b, _ := strings.Cut(pair, " ")
		if sameSocket(a, b) != same || sameSocket(b, a) != same {
			t.Errorf("%s and %s: want %v, got %v and %v", a, b, same, sameSocket(a, b), sameSocket(b, a))
		}
	}
}

// TestThreatAdminListensOnLoopback: a configuration that does not say where has the admin listener on this machine alone, whatever else it
// says, and wherever callers connect to.
func TestThreatAdminListensOnLoopback(t *testing.T) {
	const up = "upstreams: { local: { url: \"http://localhost:1\" } }\nkeys: { alice: { hash: \"" + testHash + "\", limits: none } }\n"
	for _, more := range []string{"", "listen: \":8080\"\n", "listen: \"0.0.0.0:8080\"\n", "admin: {}\n", "admin: { token: \"only-when-others-can-reach-it-anew\" }\n"} {
		c := parseTest(t, up+more)
		at, err := netip.ParseAddrPort(c.Admin.Listen)
		if err != nil || !at.Addr().IsLoopback() {
			t.Errorf("%q: the admin listener is at %q: %v", more, c.Admin.Listen, err)
		}
		if _, warnings := compileTest(t, c); strings.Contains(strings.Join(warnings, "\n"), "may read the metrics") {
			t.Errorf("%q: %q", more, warnings)
		}
	}
}

func TestMetricsThatOthersCanReadAreWarnedOf(t *testing.T) {
	const up = "upstreams: { local: { url: \"http://localhost:1\" } }\n"
	for admin, warned := range map[string]bool{
		`{ listen: ":9091" }`:                             true,
		`{ listen: "10.0.0.1:9091" }`:                     true,
		`{ listen: "localhost:9091" }`:                    false,
		`{ listen: ":9091", token: "twelve-letters" }`:    false,
		`{ listen: "127.0.0.1:9091" }`:                    false,
		`{ token: "only-when-others-can-reach-it-anew" }`: false,
	} {
		_, warnings := compileTest(t, parseTest(t, up+"admin: "+admin+"\n"))
		if got := strings.Contains(strings.Join(warnings, "\n"), "may read the metrics"); got != warned {
			t.Errorf("%s: warned %v, want %v", admin, got, warned)
		}
	}
}
