package ledger_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// FuzzParseID: what is read as an id is one that is written so, and no other text is read as the same; ids sort as their texts do.
func FuzzParseID(f *testing.F) {
	now := ledger.At(time.Unix(1767225600, 0)).String()
	for _, seed := range []string{now, "req_0000000000000", "req_7zzzzzzzzzzzz", "req_zzzzzzzzzzzzz", "req_8000000000000", strings.ToUpper(now), "req_l000000000000", now + "0", "", "req_"} {
		f.Add(seed, now)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, err := ledger.ParseID(a)
		if err != nil {
			if x != 0 {
				t.Errorf("%q is %d, and an error", a, x)
			}
			return
		}
		if x < 0 || x.String() != a || x.Slot() < 0 || x.Slot() >= ledger.Slots {
			t.Errorf("%q is %d, which is written %q", a, x, x)
		}
		if y, err := ledger.ParseID(b); err == nil && cmp.Compare(x, y) != strings.Compare(a, b) {
			t.Errorf("%q and %q do not sort as %d and %d do", a, b, x, y)
		}
	})
}
