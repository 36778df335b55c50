//go:build !linux

package sqlite

import "os"

// On other systems flock is one of the locks that SQLite uses, or there is none: the lock beside the file has to do.

func taken(*os.File) bool { return false }

func apart(*os.File, string) bool { return false }

// full is not known: SQLite's own word has to do.
func full(string) bool { return false }
