package cost

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"sync"
	"unsafe"

	"github.com/tokenfare/tokenfare/cost/bpe"
)

// recall remembers how many tokens long strings had, since agents send the same conversation again and again with a little
// more at its end. It keeps no text: a string is known by a hash of 128 bits under a key of this process, with which nobody
// who does not know the key can make two strings collide. It is safe for concurrent use, and bounded.
type recall struct {
	mac    cipher.AEAD
	mu     sync.Mutex
	newest map[recallKey]int64 // guarded by mu
	older  map[recallKey]int64 // guarded by mu; dropped when newest is full, which then takes its place
}

// recallKey stands for a string and an encoding. There is no pointer in it, so the collector need not look through the maps.
type recallKey [16]byte

const (
	// recallFrom is how long a string must be, in bytes: below, counting costs about as much as looking it up.
	recallFrom = 1 << 10

	// recallSize is how many strings each of the two maps holds. Both together take at most some 4 MB.
	recallSize = 1 << 15
)

func newRecall() *recall {
	key := make([]byte, 16)
	rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("BUG: cost: a key of 16 bytes is refused: " + err.Error())
	}
	mac, err := cipher.NewGCM(block)
	if err != nil {
		panic("BUG: cost: AES is refused by GCM: " + err.Error())
	}
	return &recall{mac: mac, newest: make(map[recallKey]int64)}
}

// count returns what is known of a string, or else counts it, until there are more than most. An error is the context's.
func (r *recall) count(ctx context.Context, encoding *bpe.Encoding, s string, most int64) (int64, error) {
	if len(s) < recallFrom {
		return encoding.CountContext(ctx, s, most)
	}
	key := r.hash(s, encoding)
	if n, ok := r.find(key); ok {
		return n, nil
	}
	n, err := encoding.CountContext(ctx, s, most)
	if err == nil && n <= most {
		r.keep(key, n)
	}
	return n, err
}

func (r *recall) find(key recallKey) (int64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.newest[key]
	if !ok {
		if n, ok = r.older[key]; ok {
			r.keepLocked(key, n) // still in use
		}
	}
	return n, ok
}

func (r *recall) keep(key recallKey, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keepLocked(key, n)
}

func (r *recall) keepLocked(key recallKey, n int64) {
	if len(r.newest) >= recallSize {
		r.older, r.newest = r.newest, make(map[recallKey]int64)
	}
	r.newest[key] = n
}

// hash is GMAC (NIST SP 800-38D): the tag of AES-GCM over data that is only authenticated. With the nonce always the same for an
// encoding it is a universal hash under a secret key, which is all that is asked of it, as no tag ever leaves the process; and it
// is fast where processors know AES.
func (r *recall) hash(s string, encoding *bpe.Encoding) (tag recallKey) {
	var nonce [12]byte
	copy(nonce[:], encoding.Name())                    // the longest has 11 bytes
	data := unsafe.Slice(unsafe.StringData(s), len(s)) // only read
	r.mac.Seal(tag[:0], nonce[:], nil, data)
	return tag
}
