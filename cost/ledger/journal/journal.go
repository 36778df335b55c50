package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// names are what the two files are called besides the ledger's own name.
var names = [2]string{"-tail0", "-tail1"}

// Names are the journal's files of the ledger at path.
func Names(path string) []string { return []string{path + names[0], path + names[1]} }

// Sizes of a frame.
const (
	frameHead = 4 + 4 + 8 + 8 + 2 + 2
	mostRows  = 1<<32 - 1
	mostLeft  = 1 << 20 // of a file that is written anew: what an unusual batch took is given back
)

// format is that of the rows. Whoever changes what they look like changes it, too.
const format = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Journal is a [ledger.Journal] of two files.
type Journal struct {
	path   string
	ledger uint64
	files  [2]file
	frame  []byte // of the last call, to be used again
}

// file is one of the two.
type file struct {
	*os.File // nil: not open yet
	info     os.FileInfo
	number   int64 // of the batch that is in it
	size     int64 // of its frames
}

// New makes the journal of the ledger at path that has an identity. Its files are made when there is something to keep, for the owner
// alone to read. Nobody else may keep a journal there: whoever opens the ledger to write has its lock.
func New(path string, identity int64) *Journal {
	return &Journal{path: path, ledger: uint64(identity)}
}

// Keep is that of [ledger.Journal]. After an error, the same rows can be kept again.
func (j *Journal) Keep(b *ledger.Batch) error {
	f := &j.files[b.Number&1]
	newest := max(j.files[0].number, j.files[1].number)
	switch {
	case b.Number < newest-1:
		return fmt.Errorf("BUG: keep rows of batch %d of the ledger after those of batch %d", b.Number, newest)
	case f.File == nil || b.Number != f.number:
		if err := j.begin(f, b.Number); err != nil {
			return fmt.Errorf("keep rows of the ledger: %w", err)
		}
	}
	j.frame = j.encode(j.frame[:0], b)
	if len(j.frame)-frameHead > mostRows {
		return errors.New("keep rows of the ledger: they are more than a frame holds")
	}
	if _, err := f.WriteAt(j.frame, f.size); err != nil {
		return fmt.Errorf("keep rows of the ledger: %w", err)
	}
	f.size += int64(len(j.frame))
	if cap(j.frame) > mostLeft {
		j.frame = nil
	}
	return nil
}

// begin makes a file that of another batch. It is opened where it is not there any more: what has no name outlasts nothing.
func (j *Journal) begin(f *file, number int64) error {
	path := j.path + names[number&1]
	if f.File != nil {
		now, err := os.Stat(path)
		if err != nil || !os.SameFile(now, f.info) {
			f.Close()
			*f = file{number: f.number}
		}
	}
	switch {
	case f.File == nil:
		// For those who may read the ledger: who spent what is nobody else's business.
		opened, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		f.File = opened
		if f.info, err = opened.Stat(); err != nil {
			f.Close()
			f.File = nil
			return err
		}
	case f.size > mostLeft:
		if err := f.Truncate(0); err != nil {
			return err
		}
	}
	f.number, f.size = number, 0
	return nil
}

func (j *Journal) encode(frame []byte, b *ledger.Batch) []byte {
	c := codec{frame: append(frame, make([]byte, frameHead)...)}
	batch(&c, b)
	put := binary.LittleEndian
	put.PutUint32(c.frame[4:], uint32(len(c.frame)-frameHead))
	put.PutUint64(c.frame[8:], j.ledger)
	put.PutUint64(c.frame[16:], uint64(b.Number))
	put.PutUint16(c.frame[24:], uint16(b.Slot))
	put.PutUint16(c.frame[26:], format)
	put.PutUint32(c.frame, crc32.Checksum(c.frame[4:], castagnoli))
	return c.frame
}

// Clear is that of [ledger.Journal]: it removes the files. The journal can be used again.
func (j *Journal) Clear() error {
	var errs []error
	for i := range j.files {
		if j.files[i].File != nil {
			errs = append(errs, j.files[i].Close())
		}
		j.files[i] = file{}
	}
	return errors.Join(append(errs, Remove(j.path))...)
}

// Remove removes the files of the journal at path, if there are any.
func Remove(path string) error {
	var errs []error
	for _, name := range Names(path) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove the journal of the ledger: %w", err))
		}
	}
	return errors.Join(errs...)
}

var _ ledger.Journal = (*Journal)(nil)
