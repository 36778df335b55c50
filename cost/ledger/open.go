package ledger

import (
	"container/heap"
	"maps"
	"slices"
)

// mostEnded bounds how many exchanges that have ended are kept for one that has not.
const mostEnded = 1000

// openSet holds the exchanges that have begun and not ended, and knows the oldest of them.
type openSet struct {
	begins map[ID]*Begin
	ids    idHeap // with those that have ended meanwhile, until they come to the top
}

func newOpenSet() *openSet { return &openSet{begins: map[ID]*Begin{}} }

func (s *openSet) add(b *Begin) {
	if _, known := s.begins[b.Exchange]; !known {
		s.begins[b.Exchange] = b
		heap.Push(&s.ids, b.Exchange)
	}
}

// end removes an exchange and returns its begin row, nil if it is not open.
func (s *openSet) end(id ID) *Begin {
	b := s.begins[id]
	delete(s.begins, id)
	if len(s.ids) > 2*len(s.begins)+mostEnded { // one that never ends would keep all of them
		s.ids = slices.AppendSeq(s.ids[:0], maps.Keys(s.begins))
		heap.Init(&s.ids)
	}
	return b
}

// oldest returns the smallest id, 0 if nothing is open.
func (s *openSet) oldest() ID {
	for len(s.ids) > 0 {
		if _, open := s.begins[s.ids[0]]; open {
			return s.ids[0]
		}
		heap.Pop(&s.ids)
	}
	return 0
}

type idHeap []ID

func (h idHeap) Len() int           { return len(h) }
func (h idHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h idHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *idHeap) Push(x any)        { *h = append(*h, x.(ID)) }

func (h *idHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
