package wire

// places are those of the items and their parts that have been said, as many as may be kept.
type places struct {
	last   uint64 // the one added last, and one more; 0: there is none
	all    map[uint64]bool
	astray bool // something was said that has no place
}

const mostPlaces = 1 << 14

// key is the place of an item.
func (i *itemState) key() uint64 { return uint64(i.place) << 32 }

// partKey is the place of a part of it, which is no item's.
func (i *itemState) partKey() uint64 {
	list := uint64(1)
	if i.summary {
		list = 2
	}
	return i.key() | uint64(i.part)<<2 | list
}

// add notes that something was said, in an item and in a part of it if there is one.
func (p *places) add(i *itemState) {
	if !i.indexed {
		p.astray = true
		return
	}
	key := i.key()
	if i.parted {
		key = i.partKey()
	}
	if p.last == key+1 {
		return
	}
	p.last = key + 1
	if p.all == nil {
		p.all = map[uint64]bool{}
	}
	if len(p.all) < mostPlaces {
		p.all[i.key()], p.all[key] = true, true
	}
}

func (p *places) has(key uint64) bool { return p.last == key+1 || p.all[key] }

// placeDigits reads on in a place, and reports whether it can be one.
func placeDigits(place *uint32, digits []byte) bool {
	const most = 1 << 28
	for _, c := range digits {
		if c < '0' || c > '9' || *place >= most {
			return false
		}
		*place = *place*10 + uint32(c-'0')
	}
	return true
}
