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
}

// add puts h last, without a deficit seen yet.
func (l *holdList) add(h *hold) {
	h.least = infinite
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
}

// observe notes the deficit the bucket has now. It must be called before the
// deficit grows and before anything is given back; as it only falls in
// between, no smaller one is missed.
func (l *holdList) observe(deficit wide) { lower(l.youngest, deficit) }

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
// at zero, oldest first: each can give back up to the smallest deficit it has
// seen, less what the older ones gave.
func (l *holdList) returnable(deficit wide, every int64) wide {
	var back wide
	for h := l.oldest; h != nil; h = h.younger {
		least := h.least
		if deficit.less(least) {
			least = deficit
		}
		if back = back.plus(product(h.n, every)); least.less(back) {
			back = least
		}
	}
	return back
}
