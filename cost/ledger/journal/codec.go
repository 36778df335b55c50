package journal

import (
	"encoding/binary"
	"errors"
)

// errShort says that rows end before they are complete, or are none at all.
var errShort = errors.New("the rows of a frame are not complete")

// codec writes values to a frame, or reads them from one: rows are described once, for both.
type codec struct {
	reading bool
	frame   []byte // written so far, or not read yet
	err     error  // of reading
}

// integer is a number, as a varint.
func integer[T ~int | ~int64 | ~uint8](c *codec, v *T) {
	if !c.reading {
		c.frame = binary.AppendVarint(c.frame, int64(*v))
		return
	}
	n, size := binary.Varint(c.frame)
	if size <= 0 {
		c.fail()
		return
	}
	*v, c.frame = T(n), c.frame[size:]
}

// text is a string, after its length.
func text[T ~string](c *codec, v *T) {
	n := len(*v)
	integer(c, &n)
	if !c.reading {
		c.frame = append(c.frame, *v...)
		return
	}
	if n < 0 || n > len(c.frame) {
		c.fail()
		return
	}
	*v, c.frame = T(c.frame[:n]), c.frame[n:]
}

// flag is a boolean.
func flag(c *codec, v *bool) {
	var n uint8
	if *v {
		n = 1
	}
	integer(c, &n)
	if c.reading { // else the store may be reading the row
		*v = n != 0
	}
}

// list is a list of values, after their number; nil if there are none.
func list[T any](c *codec, v *[]T, each func(*codec, *T)) {
	n := len(*v)
	integer(c, &n)
	if c.reading {
		if n < 0 || n > len(c.frame) { // each takes a byte at least
			c.fail()
			return
		}
		*v = nil
		for range n {
			var one T
			if each(c, &one); c.err != nil {
				return
			}
			*v = append(*v, one)
		}
		return
	}
	for i := range *v {
		each(c, &(*v)[i])
	}
}

// rows is a list of pointers to values.
func rows[T any](c *codec, v *[]*T, each func(*codec, *T)) {
	list(c, v, func(c *codec, p **T) {
		if c.reading {
			*p = new(T)
		}
		each(c, *p)
	})
}

func (c *codec) fail() { c.frame, c.err = nil, errShort }
