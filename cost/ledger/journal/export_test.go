package journal

import (
	"encoding/binary"
	"hash/crc32"
	"os"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Decode reads the rows of one frame, whose checksum is right.
func Decode(rows []byte, identity int64) (*ledger.Batch, error) {
	frame := make([]byte, frameHead, frameHead+len(rows))
	put := binary.LittleEndian
	put.PutUint32(frame[4:], uint32(len(rows)))
	put.PutUint64(frame[8:], uint64(identity))
	put.PutUint64(frame[16:], 2)
	put.PutUint16(frame[26:], format)
	frame = append(frame, rows...)
	put.PutUint32(frame, crc32.Checksum(frame[4:], castagnoli))
	b, _, err := next(frame, uint64(identity))
	return b, err
}

// Reformat makes the file at path one of another format.
func Reformat(path string, to uint16) error {
	frame, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	put := binary.LittleEndian
	put.PutUint16(frame[26:], to)
	put.PutUint32(frame, crc32.Checksum(frame[4:frameHead+put.Uint32(frame[4:])], castagnoli))
	return os.WriteFile(path, frame, 0o600)
}

// FrameSize is what the frame takes that a file begins with.
func FrameSize(content []byte) int {
	h, _ := headOf(content)
	return int(h.size)
}
