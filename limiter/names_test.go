package limiter_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/tokenfare/tokenfare/limiter"
)

// TestNamesAreCopied makes names that are part of a buffer, as those of a
// request may be, and then uses the buffer for something else: the family must
// not notice.
func TestNamesAreCopied(t *testing.T) {
	rule := bucket(10, 1, time.Hour)
	for how, makeIt := range map[string]func(*limiter.Family, string) *limiter.Budget{
		"Budget": func(f *limiter.Family, name string) *limiter.Budget { return f.Budget(name) },
		"BudgetUnder": func(f *limiter.Family, name string) *limiter.Budget {
			return f.BudgetUnder(name, bucket(20, 1, time.Hour))
		},
		"Set": func(f *limiter.Family, name string) *limiter.Budget { return f.Set(name, bucket(20, 1, time.Hour)) },
	} {
		story(t, how, func(d *desk) {
			f := d.family(rule, 0)
			request := []byte("GET /?key=ann HTTP/1.1")
			name := unsafe.String(&request[10], 3)
			if name != "ann" {
				t.Fatalf("the story begins with %q", name)
			}
			ann := makeIt(f, name)
			d.passes(ann, 7)
			copy(request, "GET /?key=bob HTTP/1.1")
			if ann.Name() != "ann" || f.Find("ann") != ann || f.Budget("ann") != ann {
				t.Fatalf("ann is lost, or called %q", ann.Name())
			}
			if f.Find("bob") != nil {
				t.Fatal("bob has a budget without having asked")
			}
			d.passes(f.Budget("bob"), 10)
			d.counts(f.Budget("ann"), 7, 0)
			if f.Len() != 2 {
				t.Fatalf("%d names", f.Len())
			}
		})
	}
}
