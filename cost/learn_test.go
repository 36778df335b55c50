package cost_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

func TestLearner(t *testing.T) {
	var l cost.Learner
	if ratio, ok := l.InputRatio("m"); ok || ratio != 1 {
		t.Error("knows a model it has never seen")
	}
	random := rand.New(rand.NewPCG(1, 2))
	var outputs []int64
	for i := range 900 {
		output := int64(random.ExpFloat64() * 1000)
		outputs = append(outputs, output)
		l.Observe("m", 100, 110, output)
		if _, ok := l.Output("m", .5); ok != (i+1 >= 50) {
			t.Fatalf("after %d calls: %v", i+1, ok)
		}
	}
	slices.Sort(outputs)
	for _, share := range []float64{0.01, .5, .9, .95, .99, 1} {
		got, _ := l.Output("m", share)
		want := outputs[max(0, int(share*900+.999999)-1)]
		if got < want || float64(got) > 1.26*float64(want)+1 {
			t.Errorf("%v of the answers are within %d, said %d", share, want, got)
		}
	}
	if ratio, ok := l.InputRatio("m"); !ok || ratio < 1.0999 || ratio > 1.1001 {
		t.Errorf("ratio %v", ratio)
	}
	for range 20_000 { // the model has changed
		l.Observe("m", 100, 90, 50)
	}
	if got, _ := l.Output("m", .99); got < 50 || got > 63 {
		t.Errorf("remembers the past too well: %d", got)
	}
	if ratio, _ := l.InputRatio("m"); ratio > .901 {
		t.Errorf("remembers the past too well: %v", ratio)
	}
}

func TestLearnerOfWhatCannotBe(t *testing.T) {
	var l cost.Learner
	for range 100 {
		l.Observe("m", 0, 1, 1)
		l.Observe("m", 1, 0, 1)
		l.Observe("m", 1, 1, -1)
	}
	if _, ok := l.InputRatio("m"); ok {
		t.Error("learned from nothing")
	}
	for range 100 {
		l.Observe("m", 1<<62, 1<<62, 1<<62)
	}
	if got, ok := l.Output("m", .5); !ok || got < 1<<33 {
		t.Errorf("%d", got)
	}
}

func TestLearnerIsBounded(t *testing.T) {
	var l cost.Learner
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 2000 {
				for range 50 {
					l.Observe(fmt.Sprint("model ", (i+g*500)%2000), 1, 1, 1)
				}
			}
		})
	}
	all.Wait()
	known := 0
	for i := range 2000 {
		if _, ok := l.InputRatio(fmt.Sprint("model ", i)); ok {
			known++
		}
	}
	if known != 1000 {
		t.Errorf("%d models", known)
	}
}
