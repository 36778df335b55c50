package limiter

// holdList is a bucket's open holds in the order they were taken.
//
// Giving back what a hold did not use must leave the bucket as if it had never
// been taken. Adding it back, capped at full, would not: refill that came
// while the bucket would have been full anyway has replaced part of it, and
// would be handed out twice. So each hold remembers the smallest deficit since
// it was taken; that much, and no more, is still missing because of it. This
// gives the same levels as replaying every charge since the oldest hold, in
// time proportional to the open holds.
//
// The smallest deficits never decrease from older to younger holds: an older
// one has seen every deficit a younger one has.
type holdList struct {
	oldest, youngest *hold
	reservations     int // whose holds these are

	// bound is what returnable keeps, unless it is stale.
	bound wide
	stale bool
}

// add puts h last, without a deficit seen yet.
func (l *holdList) add(h *hold, n wide) {
	h.least = infinite
	if l.oldest == nil {
		l.bound, l.stale = infinite, false
	} else if l.bound.less(infinite) {
		l.bound = l.bound.plus(n)
	}
	h.older = l.youngest
	if l.youngest == nil {
		l.oldest = h
	} else {
		l.youngest.younger = h
	}
	l.youngest = h
	l.reservations += h.first()
}

func (l *holdList) remove(h *hold) {
	if h.older == nil {
		l.oldest = h.younger
	} else {
		h.older.younger = h.younger
	}
	if h.younger == nil {
		l.youngest = h.older
	} else {
		h.younger.older = h.older
	}
	h.older, h.younger = nil, nil
	l.reservations -= h.first()
	l.stale = true
}

// observe notes the deficit the bucket has now. It must be called before the
// deficit grows and before anything is given back; as it only falls in
// between, no smaller one is missed.
func (l *holdList) observe(deficit wide) {
	lower(l.youngest, deficit)
	if deficit.less(l.bound) {
		l.bound = deficit
	}
}

// lower caps h and all older holds at a deficit. The order of the list lets it
// stop at the first that is no higher.
func lower(h *hold, deficit wide) {
	for ; h != nil && deficit.less(h.least); h = h.older {
		h.least = deficit
	}
}

// giveBack returns how much of n, which h did not use, is to come off the
// deficit, and corrects what the other holds have seen.
func (l *holdList) giveBack(h *hold, n wide) wide {
	back := n
	if h.least.less(back) {
		back = h.least
	}
	if back.isZero() {
		return back
	}
	for y := h.younger; y != nil; y = y.younger {
		y.least = y.least.minus(back)
	}
	lower(h.older, h.least.minus(back))
	return back
}

// returnable is how much would come off the deficit if every hold were settled
// at zero, oldest first. Each can give back its amount, but no more than the
// smallest deficit it has seen, or the present one, less what the older ones
// gave. Written out, that is the smallest of three: all that is held, the
// deficit, and, over all holds, the smallest deficit one has seen and what the
// younger ones hold. The last, bound, changes in ways that are easy to follow
// but when a hold ends; so refusals, however many, look through the holds once
// for each that does.
func (l *holdList) returnable(deficit, held wide, every int64) wide {
	back := least(held, deficit)
	if l.stale {
		l.bound, l.stale = infinite, false
		var younger wide
		for h := l.youngest; h != nil; h = h.older {
			if h.least.less(infinite) {
				l.bound = least(l.bound, h.least.plus(younger))
			}
			younger = younger.plus(product(h.n, every))
		}
	}
	return least(back, l.bound)
}
