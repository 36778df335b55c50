package cost_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// guid is the format of an extensible WAV file, behind its size, bits and speakers.
func guid(format uint16) []uint16 {
	return []uint16{22, 16, 0, 0, format, 0, 0, 0x10, 0x80, 0xaa00, 0x3800, 0x719b}
}

// at puts a little-endian number of four bytes somewhere in a file.
func at(file string, i int, n uint32) string {
	b := []byte(file)
	binary.LittleEndian.PutUint32(b[i:], n)
	return string(b)
}

// silence is frames of a FLAC file without sound, each with 65,536 samples, at the rate that the file's head has.
func silence(rate byte, frames int, more ...byte) string {
	head := append([]byte{0xff, 0xf8, 0x70 | rate, 0x08, 0x00, 0xff, 0xff}, more...)
	crc := byte(0)
	for _, c := range head {
		crc ^= c
		for range 8 {
			high := crc & 0x80
			crc <<= 1
			if high != 0 {
				crc ^= 0x07
			}
		}
	}
	return strings.Repeat(string(head)+string([]byte{crc, 0, 0, 0, 0, 0}), frames)
}

// flacOf is the head of a FLAC file.
func flacOf(hertz, channels, bits, samples uint64) string {
	return "fLaC\x80\x00\x00\x22\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00" + u64(hertz<<44|(channels-1)<<41|(bits-1)<<36|samples) + strings.Repeat("\x00", 16)
}

// No header makes a recording shorter than what a decoder finds in it.
func TestAudioOfHeadersThatLie(t *testing.T) {
	mp3 := mpeg(0xffe31800, 72, 500) // 36 seconds at 8 kbit/s
	const second = 8_000
	pcm := strings.Repeat("\x00", second)
	byteRate := len(wav(1, 1, 1, 8)) - 16
	for name, c := range map[string]struct {
		file  string
		least int64
	}{
		"MP3 in an extensible WAV":           {wavOf(0xfffe, 32, 384_000, 64, guid(0x55)...) + mp3, 36_000},
		"the same with believable figures":   {wavOf(0xfffe, 2, 48_000, 16, guid(0x55)...) + mp3, 36_000},
		"an extensible WAV that ends":        {wavOf(0xfffe, 2, 48_000, 16) + mp3, 36_000},
		"a format of somebody's own":         {wavOf(0xfffe, 2, 48_000, 16, append(guid(1)[:11], 0x719c)...) + mp3, 36_000},
		"MP3 called samples":                 {wav(1, 2, 192_000, 16) + mp3, 36_000},
		"MP3 called samples, behind others":  {wav(1, 2, 192_000, 16) + strings.Repeat("\x00", 999) + mp3, 36_000},
		"channels nobody has":                {wav(1, 9, 8_000, 8) + pcm, second * 25 / 2},
		"rates nobody has":                   {wav(1, 1, 192_001, 8) + pcm, second * 25 / 2},
		"fewer bytes a second than samples":  {at(wav(1, 2, 48_000, 16), byteRate, 4_000) + pcm, 2_000},
		"fewer bytes in all channels":        {at(wav(1, 2, 48_000, 16), byteRate+4, 1|16<<16) + pcm, 8_000 * 1000 / 48_000},
		"no bytes a second":                  {at(wav(1, 2, 48_000, 16), byteRate, 0) + pcm, second * 25 / 2},
		"two formats":                        {strings.Replace(wav(1, 2, 48_000, 16), "LIST\x03\x00\x00\x00abc\x00", wav(1, 1, 8_000, 8)[24:48], 1) + pcm, 1_000},
		"silence":                            {flacOf(8_000, 1, 16, 65_536*440) + silence(0, 440), 440 * 8192},
		"silence, said to be a sample":       {flacOf(655_350, 8, 32, 1) + silence(4, 440), 440 * 8192},
		"silence, said to be nothing":        {flacOf(8_000, 1, 16, 0) + silence(0, 440), 440 * 8192},
		"silence at a rate nobody uses":      {flacOf(655_350, 8, 32, 1) + silence(0, 440), 440 * 65_536 * 1000 / 192_000},
		"silence whose frames say 10 Hz":     {flacOf(96_000, 8, 32, 1) + silence(14, 10, 0, 1), 10 * 6_553_600},
		"frames that say more than the head": {flacOf(8_000, 8, 32, 1) + silence(13, 10, 0xff, 0xff), 10 * 8192},
		"a head that says no rate":           {flacOf(0, 1, 16, 0) + silence(4, 440), 440 * 8192},
		"only the head says how long it is":  {flacOf(8_000, 1, 16, 3600*8_000) + strings.Repeat("\xff\xf8"+strings.Repeat("\x00", 12), 440), 3_600_000},
		"Ogg FLAC, said to be a sample":      {oggPage(3, 2, 0, "\x7fFLAC\x01\x00\x00\x01"+flacOf(8_000, 8, 32, 1)) + oggPage(3, 0, 0, "c") + oggPage(3, 0, 1, silence(0, 1), silence(0, 1), silence(0, 1)), 3 * 8192},
		"Vorbis, said to be a sample":        {strings.Replace(vorbis(5), strings.Repeat("\x00", 16), strings.Repeat("\x00", 14)+"\xd0\x01", 1) + oggPage(5, 0, 1, slices.Repeat([]string{"x"}, 200)...), 198 * 4096 / 8},
		"AAC at a rate of its own":           {mp4("mp4a", 1, 1, 1000, 1_000_000, box("esds", u32(0)+"\x03\x19\x00\x00\x00\x04\x11\x40\x15"+strings.Repeat("\x00", 11)+"\x05\x80\x80\x80\x02\x15\x88")), 128_000},
		"sound, said to be a sample":         {flacOf(655_350, 8, 32, 1) + strings.Repeat("s", 6_912_000), 1_000},
	} {
		if a := cost.AudioOfFile([]byte(c.file)); a.Milliseconds < c.least {
			t.Errorf("%s: %+v, want at least %d", name, a, c.least)
		}
	}
}
