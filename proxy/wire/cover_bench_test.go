package wire

import (
	"fmt"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// BenchmarkCover relays a long stream that is paid for in steps, beside the same one that is not: the difference is what drawing
// costs, counting included.
func BenchmarkCover(b *testing.B) {
	const events, step = 16_000, 4096
	estimator := cost.NewEstimator()
	if err := estimator.Load("o200k_base"); err != nil {
		b.Fatal(err)
	}
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		b.Fatal(err)
	}
	model := catalog.Model("gpt-4o-mini")
	stream := []byte(typicalStream(events))
	for _, draws := range []bool{false, true} {
		b.Run(fmt.Sprintf("draws=%v", draws), func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			p, drawn := make([]byte, 32<<10), int64(0)
			for b.Loop() {
				var a *Answer
				drawn = step
				o := AnswerOptions{Stream: true, Withhold: true, Count: func(s string) int64 { return estimator.Count(model, s) }}
				if draws {
					o.Cover = func(bool) (bool, error) {
						if a.Beyond(drawn-step/2) > 0 {
							drawn += step
						}
						return true, nil
					}
				}
				a = NewAnswer(&perEvent{rest: stream}, o)
				for {
					if _, err := a.Read(p); err != nil {
						break
					}
				}
				if r := a.Report(); !r.Reported || !r.Complete || r.Counted != 0 || draws != (drawn > step) {
					b.Fatalf("%+v, drawn %d", r, drawn)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
			b.ReportMetric(float64(drawn/step-1), "draws")
		})
	}
}
