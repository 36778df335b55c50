package proxy

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/tokenfare/tokenfare/cost"
)

// memoSize is how many refused requests are remembered at most. One takes about 150 bytes.
const memoSize = 4096

// memo remembers what refused requests were estimated at, so that a caller who hammers, or an SDK that retries, is answered
// without counting the same prompt again. It holds digests and numbers, no text.
type memo struct {
	mu    sync.Mutex
	known map[memoKey]memoEntry // guarded by mu
}

type memoKey [sha256.Size]byte

type memoEntry struct {
	estimate cost.Estimate
	until    time.Time // when the refusal said to come back
}

func newMemoKey(caller string, body []byte) memoKey {
	h := sha256.New()
	h.Write([]byte(caller))
	h.Write([]byte{0})
	h.Write(body)
	var key memoKey
	h.Sum(key[:0])
	return key
}

func (m *memo) recall(key memoKey) (memoEntry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.known[key]
	return e, ok
}

// remember keeps a refused exchange's estimate. When the memo is full some other entry makes room; which one does not matter.
func (m *memo) remember(key memoKey, x *exchange) {
	if x.refused == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = make(map[memoKey]memoEntry)
	}
	if len(m.known) >= memoSize {
		for other := range m.known {
			delete(m.known, other)
			break
		}
	}
	m.known[key] = memoEntry{estimate: x.refused.estimate, until: x.began.Add(x.refused.promised)}
}

func (m *memo) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.known)
}

func (m *memo) forget(key memoKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, key)
}
