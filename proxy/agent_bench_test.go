package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// BenchmarkAgent reads and estimates a request with a conversation of 800 kB, in 200 messages or in 2,000, that has grown by
// 4 kB since it was last seen, and one that is new: cost.BenchmarkAgent with the JSON around it.
func BenchmarkAgent(b *testing.B) {
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		b.Fatal(err)
	}
	model := catalog.Model("gpt-4o")
	for _, messages := range []int{200, 2_000} {
		message := func(i int) string {
			text := strings.Repeat(fmt.Sprintf("Line %d of the file, with some of the code that it has. ", i), 800_000/messages/56)
			return fmt.Sprintf(`{"role":"user","content":%q}`, text)
		}
		history := make([]string, messages)
		for i := range history {
			history[i] = message(i)
		}
		conversation := func(more ...string) []byte {
			return []byte(`{"model":"gpt-4o","messages":[` + strings.Join(append(history[:messages:messages], more...), ",") + `]}`)
		}
		estimate := func(b *testing.B, e *cost.Estimator, body []byte) {
			request, err := wire.Read(wire.Chat, "", body)
			if err != nil {
				b.Fatal(err)
			}
			e.Estimate(request.Cost, model)
		}
		b.Run(fmt.Sprintf("%d-messages/new", messages), func(b *testing.B) {
			body := conversation()
			for b.Loop() {
				estimate(b, cost.NewEstimator(), body)
			}
		})
		b.Run(fmt.Sprintf("%d-messages/grown", messages), func(b *testing.B) {
			e, n := cost.NewEstimator(), messages
			estimate(b, e, conversation())
			for b.Loop() {
				b.StopTimer()
				n++
				body := conversation(message(n))
				b.StartTimer()
				estimate(b, e, body)
			}
		})
	}
}
