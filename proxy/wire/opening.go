package wire

// opening finds out by its first byte whether a body is the object that it should be. Blanks and a byte order mark do not count.
type opening struct {
	mark  int  // how many bytes of a byte order mark were read
	begun bool // the first byte that counts was read...
	other bool // ...and begins no object
}

func (o *opening) feed(b []byte) {
	for _, c := range b {
		within := o.mark > 0 && o.mark < len(byteOrder)
		switch {
		case o.begun:
			return
		case o.mark < len(byteOrder) && c == byteOrder[o.mark]:
			o.mark++
		case !within && byteClass[c] == blankByte:
		default:
			o.begun, o.other = true, within || c != '{'
		}
	}
}

// Begun reports whether it is known if the answer is Strange.
func (a *Answer) Begun() bool { return !a.object || a.opening.begun }

// Strange reports whether the answer begins otherwise than the object that it should be: as a page, a text, or events that are not said to
// be such.
func (a *Answer) Strange() bool { return a.object && a.opening.other }
