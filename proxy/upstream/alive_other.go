//go:build !unix

package upstream

// alive reports whether the server has closed an idle connection, which cannot be known here: the next write will tell.
func (c *conn) alive() bool { return true }

func (c *conn) peek(uintptr) bool { return true }
