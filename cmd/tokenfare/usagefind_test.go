package main

import (
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// TestACallIsFoundByItsUpstreamsID: which is all that its caller may have, in the time that is looked through.
func TestACallIsFoundByItsUpstreamsID(t *testing.T) {
	u := newUsageBook(t)
	u.write("config.yaml", "timezone: UTC\n")
	of := func(id string) func(*ledger.Exchange) {
		return func(x *ledger.Exchange) { x.End.UpstreamID = id }
	}
	u.call(usageNow.Add(-20*24*time.Hour), "old", "", "m", "", of("chatcmpl-9:old"))
	u.call(usageNow.Add(-50*time.Hour), "first", "", "m", "", of("0f1e2d3c-twice"))
	u.call(usageNow.Add(-50*time.Hour+time.Second), "second", "", "m", "", of("0f1e2d3c-twice"))
	u.call(usageNow.Add(-2*time.Hour), "third", "", "m", "", of("0f1e2d3c-twice"))
	u.call(usageNow.Add(-time.Hour), "once", "", "m", "", of("req_1jzzzzzzzzzzz")) // of a proxy like this one
	for range mostFound + 3 {
		u.call(usageNow.Add(-3*time.Hour), "many", "", "m", "", of("always"))
	}
	u.keep()
	for _, c := range []struct {
		args string
		code int
		want []string // in this order
	}{
		{"-id req_1jzzzzzzzzzzz", 0, []string{"complete", "key", "once", "upstream's id", "req_1jzzzzzzzzzzz"}},
		{"-id 0f1e2d3c-twice", 0, []string{"3 calls", "the newest first", "third", "second", "first"}},
		{"-id 0f1e2d3c-twice -since 3h", 0, []string{"complete", "key", "third"}},
		{"-id 0f1e2d3c-twice -json", 0, []string{`"key":"third"`, "\n", `"key":"second"`, "\n", `"key":"first"`, "\n"}},
		{"-id always", 0, []string{"20 or more calls"}},
		{"-id chatcmpl-9:old", 1, []string{`"chatcmpl-9:old" is no id of this proxy's`, "no call since 2026-11-14 00:00", "-since 30d"}},
		{"-id chatcmpl-9:old -since 30d", 0, []string{"complete", "key", "old"}},
		{"-id req_00000000000zz", 1, []string{"req_00000000000zz is not in the ledger"}},
	} {
		code, out, errs := u.run(strings.Fields(c.args)...)
		rest := out + errs
		for _, want := range c.want {
			at := strings.Index(rest, want)
			if at < 0 {
				t.Fatalf("%s: no %q where it should be in\n%s%s", c.args, want, out, errs)
			}
			rest = rest[at+len(want):]
		}
		if code != c.code || strings.Count(out, "\n") > mostFound+10 {
			t.Errorf("%s: exit code %d, want %d\n%s%s", c.args, code, c.code, out, errs)
		}
	}
}
