package upstream

import "bytes"

// keySearch looks for a key in what passes. That is done for many events, and finds nothing nearly always, so it
// looks for one byte of the key, of all the one that is the rarest elsewhere: the processor does that 32 bytes at a time, which it
// does not for keys as long as they are.
type keySearch struct {
	key  []byte
	rare int // where its rarest byte stands
}

func newKeySearch(key string) keySearch {
	k := keySearch{key: []byte(key)}
	for i, c := range k.key {
		if commonness[c] < commonness[k.key[k.rare]] {
			k.rare = i
		}
	}
	return k
}

// commonness says how common bytes are in a stream of events, roughly. Of capitals there are few, of small letters and digits many.
var commonness = func() (of [256]uint8) {
	const common = `QZXJKVWYGHBUFLPNORMTDCSIAE_zqjx8769543kvwyb201gfp.hmul-dcsnriotae`
	for i, c := range []byte(common) {
		of[c] = uint8(i + 1)
	}
	return of
}()

// index is where the key first stands in b; -1: nowhere.
func (k *keySearch) index(b []byte) int {
	for from := k.rare; from < len(b); from++ {
		i := bytes.IndexByte(b[from:], k.key[k.rare])
		if i < 0 {
			break
		}
		from += i
		if bytes.HasPrefix(b[from-k.rare:], k.key) {
			return from - k.rare
		}
	}
	return -1
}
