package bpe

import (
	"container/heap"
	"context"
	"math"
	"strings"
	"testing"
)

// FuzzCount compares with merging, step by step, in texts of some 20 kB: parts
// that are repeated, and those together again and again.
func FuzzCount(f *testing.F) {
	f.Add(uint8(0), "hello world", uint16(1), "it's 12345\r\n", uint16(1), uint16(1))
	f.Add(uint8(1), "a", uint16(600), " ", uint16(600), uint16(1))
	f.Add(uint8(2), "\xff\u0301'ſ", uint16(3), "<|endoftext|>", uint16(1), uint16(9))
	f.Add(uint8(1), " ", uint16(107), "\n", uint16(1), uint16(180))
	f.Add(uint8(0), "#", uint16(40), "/", uint16(10), uint16(400))
	f.Add(uint8(1), "ab", uint16(10_000), "", uint16(0), uint16(1))
	f.Add(uint8(3), "\xe6\x97", uint16(1), "日", uint16(2), uint16(2_000))
	ranks := make(map[string]map[string]uint32)
	for _, name := range Names() {
		v := vocabulary(f, name)
		ranks[name] = make(map[string]uint32, v.size())
		for i := range uint32(v.size()) {
			ranks[name][v.bytesOf(i)] = i
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, a string, as uint16, b string, bs, times uint16) {
		most := 400 // bytes: ten times as many texts as with long ones alone, which are merged another way
		if which < 16 {
			most = 20_000
		}
		unit := repeat(a, int(as), most) + repeat(b, int(bs), most)
		text := repeat(unit, int(times), most)
		name := Names()[int(which)%len(Names())]
		enc, err := New(name)
		if err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		for valid, at := toValid(text), 0; at < len(valid); {
			end := enc.split(valid, at)
			want += mergeStepByStep(valid[at:end], ranks[name])
			at = end
		}
		if got := enc.Count(text); got != want {
			t.Fatalf("%s counts %d in %q x %d, %q x %d, x %d, want %d", name, got, a, as, b, bs, times, want)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if got, err := enc.CountContext(ended, text, math.MaxInt64); got > want || err == nil && got != want {
			t.Fatalf("%s counts %d of %d under a context that has ended, and says %v", name, got, want, err)
		}
	})
}

func repeat(unit string, times, most int) string {
	if unit == "" {
		return ""
	}
	return strings.Repeat(unit, min(times, most/len(unit)+1))
}

// mergeStepByStep is merging as it is defined: of all neighbours, those two become
// one whose token stands first in the vocabulary, the leftmost of several.
func mergeStepByStep(s string, ranks map[string]uint32) (tokens int64) {
	next, before := make([]int, len(s)+1), make([]int, len(s)+1) // where the neighbours of the token at a place begin
	var pairs pairs
	add := func(at int) {
		if at < 0 || next[at] == len(s) {
			return
		}
		end := next[next[at]]
		if rank, ok := ranks[s[at:end]]; ok {
			heap.Push(&pairs, pair{rank, at, end})
		}
	}
	for i := range len(s) {
		next[i], before[i+1] = i+1, i
	}
	before[0] = -1
	for i := range len(s) {
		add(i)
	}
	tokens = int64(len(s))
	for len(pairs) > 0 {
		p := heap.Pop(&pairs).(pair)
		middle := next[p.at]
		if middle < 0 || middle == len(s) || next[middle] != p.end { // it is no pair any more
			continue
		}
		next[p.at], before[p.end], next[middle] = p.end, p.at, -1
		tokens--
		add(p.at)
		add(before[p.at])
	}
	return tokens
}

// pair is two tokens that merge into one, from at to end.
type pair struct {
	rank    uint32
	at, end int
}

type pairs []pair

func (p pairs) Len() int { return len(p) }
func (p pairs) Less(i, j int) bool {
	return p[i].rank < p[j].rank || p[i].rank == p[j].rank && p[i].at < p[j].at
}
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *pairs) Push(x any)   { *p = append(*p, x.(pair)) }
func (p *pairs) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
