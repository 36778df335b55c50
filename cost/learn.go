package cost

import (
	"math"
	"math/bits"
	"sync"
)

// Learner learns from finished calls, model by model, how far estimates of input are off and how long answers are. Old calls
// count less and less. It is safe for concurrent use, and keeps a few hundred bytes for each of at most 1,000 models; of others
// it learns nothing.
type Learner struct {
	mu     sync.Mutex
	models map[string]*learned // guarded by mu
}

// learned is what is known of one model.
type learned struct {
	estimated, reported float64 // input tokens, old ones counting less
	outputs             [outputBuckets]uint32
	calls               uint32 // sum over outputs
}

const (
	mostLearned = 1000

	// fewest is how many calls a quantile needs to say anything.
	fewest = 50

	// halveAt is after how many calls each counts half as much.
	halveAt = 1000

	// Answers up to 2^34 tokens fall into buckets of which each is a quarter of an octave wide: a quantile is at most a fifth
	// too large.
	outputBuckets = 4 * 34
)

// Observe takes the result of one call: input tokens as estimated and as reported, and the output tokens of one choice,
// reasoning included. Numbers that cannot be are ignored.
func (l *Learner) Observe(model string, estimated, reported, output int64) {
	if estimated <= 0 || reported <= 0 || output < 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.models[model]
	if m == nil {
		if len(l.models) >= mostLearned {
			return
		}
		if l.models == nil {
			l.models = make(map[string]*learned)
		}
		m = new(learned)
		l.models[model] = m
	}
	m.estimated += float64(estimated)
	m.reported += float64(reported)
	m.outputs[outputBucket(output)]++
	if m.calls++; m.calls >= halveAt {
		m.halve()
	}
}

func (m *learned) halve() {
	m.estimated /= 2
	m.reported /= 2
	m.calls = 0
	for i := range m.outputs {
		m.outputs[i] /= 2
		m.calls += m.outputs[i]
	}
}

// InputRatio returns how much input was reported for each token estimated, and whether enough calls have been seen to say so.
func (l *Learner) InputRatio(model string) (ratio float64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.models[model]
	if m == nil || m.calls < fewest {
		return 1, false
	}
	return m.reported / m.estimated, true
}

// Output returns a number of output tokens, reasoning included, that a share of the model's answers from 0 to 1 does not exceed,
// and whether enough calls have been seen to say so. It errs on the long side, by a fifth at most.
func (l *Learner) Output(model string, share float64) (tokens int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.models[model]
	if m == nil || m.calls < fewest {
		return 0, false
	}
	left := uint32(math.Ceil(share * float64(m.calls)))
	for i, n := range m.outputs {
		if n >= left {
			return outputWithin(i), true
		}
		left -= n
	}
	return outputWithin(outputBuckets - 1), true
}

// outputBucket is where an answer belongs: four buckets an octave, by the two bits below the highest.
func outputBucket(tokens int64) int {
	if tokens < 4 {
		return int(tokens)
	}
	octave := bits.Len64(uint64(tokens)) - 1
	return min(4*(octave-1)+int(tokens>>(octave-2)&3), outputBuckets-1)
}

// outputWithin is the longest answer of a bucket.
func outputWithin(bucket int) int64 {
	if bucket < 4 {
		return int64(bucket)
	}
	octave, quarter := bucket/4+1, int64(bucket%4)
	return (4+quarter+1)<<(octave-2) - 1
}
