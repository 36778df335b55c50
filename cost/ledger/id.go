package ledger

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ID names an exchange, in the log, in the answer's x-tokenfare-id and in the ledger. It holds the microsecond at which it was
// made, 53 bits, good until the year 2255, and the slot of the writer that made it, 10 bits. So ids sort by time, and no two
// writers make the same. The zero ID names nothing.
type ID int64

// Slots is how many writers can share a ledger: slots are numbered from 0 on.
const Slots = 1 << slotBits

const (
	slotBits  = 10
	lastMicro = 1<<(63-slotBits) - 1
)

// At is the smallest ID of an instant, to compare others with. Instants that no ID can be of are as the nearest that one can.
func At(t time.Time) ID {
	return ID(min(max(0, t.UnixMicro()), lastMicro) << slotBits)
}

// Time is the instant the ID was made at, to the microsecond.
func (id ID) Time() time.Time { return time.UnixMicro(int64(id) >> slotBits) }

// Slot is the slot of the writer that made it.
func (id ID) Slot() int { return int(id) & (Slots - 1) }

// alphabet is Crockford's base 32: no letter looks like a digit.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const prefix = "req_"

// String is "req_" and 13 letters and digits, which sort as the IDs do.
func (id ID) String() string {
	var text [len(prefix) + 13]byte
	copy(text[:], prefix)
	for i, rest := len(text)-1, uint64(id); i >= len(prefix); i, rest = i-1, rest>>5 {
		text[i] = alphabet[rest&31]
	}
	return string(text[:])
}

var errID = errors.New(`an id is "req_" and 13 letters and digits, as the log and x-tokenfare-id have it`)

// ParseID reads what [ID.String] wrote.
func ParseID(text string) (ID, error) {
	if len(text) != len(prefix)+13 || text[:len(prefix)] != prefix {
		return 0, fmt.Errorf("read id %.40q: %w", text, errID)
	}
	var n uint64
	for _, c := range []byte(text[len(prefix):]) {
		digit := indexIn(alphabet, c)
		if digit < 0 || n>>58 != 0 {
			return 0, fmt.Errorf("read id %q: %w", text, errID)
		}
		n = n<<5 | uint64(digit)
	}
	return ID(n), nil
}

func indexIn(s string, c byte) int {
	for i := range len(s) {
		if s[i] == c {
			return i
		}
	}
	return -1
}

// IDs makes the ids of one writer. Each is larger than the one before, whatever the clock does. It is safe for concurrent use.
type IDs struct {
	mu   sync.Mutex
	slot int
	last int64 // microseconds of the newest one; guarded by mu
}

// NewIDs makes ids for a slot, from 0 to Slots-1, all of them larger than after.
func NewIDs(slot int, after ID) *IDs {
	return &IDs{slot: slot & (Slots - 1), last: int64(after) >> slotBits}
}

// Next makes an ID.
func (s *IDs) Next() ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(time.Now().UnixMicro(), s.last+1)
	return ID(s.last<<slotBits | int64(s.slot))
}

// Following makes the ID that follows the newest one, whatever the clock says: it is dated as that is, to some microseconds.
func (s *IDs) Following() ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return ID(s.last<<slotBits | int64(s.slot))
}

// ahead is how far the newest ID is ahead of the clock.
func (s *IDs) ahead() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(max(0, s.last-time.Now().UnixMicro())) * time.Microsecond
}

// reached is an ID that all made from now on are larger than.
func (s *IDs) reached() ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(time.Now().UnixMicro(), s.last)
	return ID(s.last<<slotBits | int64(s.slot))
}
