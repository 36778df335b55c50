package proxy

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// memoSize is how many refused requests are remembered at most. One takes about 150 bytes.
const memoSize = 4096

// memo remembers what refused requests were estimated at, so that a caller who hammers, or an SDK that retries, is answered
// without counting the same prompt again. It holds digests and numbers, no text. Callers of whom nothing is remembered do not
// pay for a digest.
type memo struct {
	mu    sync.Mutex
	known map[memoKey]memoEntry // guarded by mu
	of    map[string]int        // guarded by mu; how many entries each caller has
}

type memoKey struct {
	caller   string
	endpoint wire.Endpoint
	route    *route // it may count otherwise elsewhere
	digest   [sha256.Size]byte
}

type memoEntry struct {
	estimate cost.Estimate
	partial  bool      // it was not counted to its end, as no budget could hold it
	until    time.Time // when the refusal said to come back
}

// recall returns what is known of a body, and forgets it: if it is refused again, it is remembered again. A body that was
// not counted to its end is known only as long as no budget can hold what was: limits may have ended meanwhile.
func (m *memo) recall(x *exchange, body []byte) (memoEntry, bool) {
	m.mu.Lock()
	none := m.of[x.caller.name] == 0
	m.mu.Unlock()
	if none {
		return memoEntry{}, false
	}
	key := x.memoKey(body)
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.known[key]
	if ok {
		m.forgetLocked(key)
	}
	return e, ok && (!e.partial || e.estimate.Input > x.inputThatFits())
}

// remember keeps a refused exchange's estimate. When the memo is full some other entry makes room; which one does not matter.
func (m *memo) remember(x *exchange, body []byte) {
	if x.refused == nil {
		return
	}
	key := x.memoKey(body)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known, m.of = make(map[memoKey]memoEntry), make(map[string]int)
	}
	if len(m.known) >= memoSize {
		for other := range m.known {
			m.forgetLocked(other)
			break
		}
	}
	if _, ok := m.known[key]; !ok {
		m.of[key.caller]++
	}
	m.known[key] = memoEntry{estimate: x.refused.estimate, partial: x.partial, until: x.began.Add(x.refused.promised)}
}

// memoKey is where what is known of the body of a call is kept.
func (x *exchange) memoKey(body []byte) memoKey {
	if x.digest == ([sha256.Size]byte{}) {
		x.digest = sha256.Sum256(body)
	}
	return memoKey{x.caller.name, x.endpoint, x.route, x.digest}
}

func (m *memo) forgetLocked(key memoKey) {
	delete(m.known, key)
	if m.of[key.caller]--; m.of[key.caller] == 0 {
		delete(m.of, key.caller)
	}
}

func (m *memo) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.known)
	clear(m.of)
}
