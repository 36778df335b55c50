package cost_test

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
)

// Files that programs in use have made: a tone by libsndfile with LAME, libopus, libvorbis and libFLAC, and what a browser
// records, which says nowhere how long it is. LAME adds frames before and after, and Opus some milliseconds before.
func TestAudioOfRealFiles(t *testing.T) {
	for name, ms := range map[string]int64{
		"tone.mp3": 2592, "tone.opus": 1507, "tone.ogg": 1500, "tone.flac": 500, "recorded.webm": 1500, "recorded.mp4": 1500,
	} {
		file, err := os.ReadFile(filepath.Join("testdata", "audio", name))
		if err != nil {
			t.Fatal(err)
		}
		a := cost.AudioOfFile(file)
		if a.Milliseconds < ms-300 || a.Milliseconds > ms+100 || !a.Measured {
			t.Errorf("%s: %+v, want about %d", name, a, ms)
		}
		t.Logf("%s: %d bytes, %d ms", name, len(file), a.Milliseconds)
		if half := cost.AudioOfFile(file[:len(file)/2]); name == "tone.mp3" && (half.Milliseconds < ms*4/10 || half.Milliseconds > ms*6/10) {
			t.Errorf("half of %s: %+v", name, half)
		}
	}
}

func u16(n uint16) string { return string(binary.BigEndian.AppendUint16(nil, n)) }
func u32(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }
func u64(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

// mpeg is frames of MPEG audio, each with so many bytes.
func mpeg(header uint32, size, frames int) string {
	return strings.Repeat(u32(header)+strings.Repeat("\x55", size-4), frames)
}

// id3 is an ID3v2 tag.
func id3(size int) string {
	return "ID3\x04\x00\x00\x00\x00" + string([]byte{byte(size >> 7), byte(size & 127)}) + strings.Repeat("\xff\xfb\x90\x00", size/4) + strings.Repeat("x", size%4)
}

func TestAudioByItsFrames(t *testing.T) {
	const layer3, small = 0xfffb9000, 0xfff31400 // 44.1 kHz at 128 kbit/s; 24 kHz at 8 kbit/s
	id1 := "TAG" + strings.Repeat("\x00", 125)
	for name, c := range map[string]struct {
		file     string
		ms       int64
		measured bool
	}{
		"a second of MP3, nearly":       {mpeg(layer3, 417, 38), 993, true},
		"with tags":                     {id3(1000) + id3(3) + mpeg(layer3, 417, 38) + id1, 993, true},
		"padded":                        {mpeg(layer3|0x200, 418, 38), 993, true},
		"the lowest rate":               {mpeg(small, 24, 50), 1200, true},
		"8 kHz":                         {mpeg(0xffe31800, 72, 10), 720, true},
		"layer II":                      {mpeg(0xfffd1400, 96, 10), 240, true},
		"layer I":                       {mpeg(0xffff1400, 32, 10), 80, true},
		"rates that change":             {mpeg(layer3, 417, 38) + mpeg(0xfffb5000, 208, 38), 1986, true},
		"one frame":                     {mpeg(layer3, 417, 1), 27, true},
		"cut off":                       {mpeg(layer3, 417, 38)[:417*37+50], 993, true},
		"something between the frames":  {mpeg(layer3, 417, 19) + strings.Repeat("?", 1000) + mpeg(layer3, 417, 19), 993 + 1000, false},
		"a tag between the frames":      {mpeg(layer3, 417, 19) + id3(90) + mpeg(layer3, 417, 19), 993 + 100, false},
		"frames hidden in a tag":        {mpeg(small, 24, 50) + "ID3\x04\x00\x00\x00\x00\x7f\x7f" + mpeg(small, 24, 500), 1200 + 10 + 12_000, false},
		"nothing for long, then frames": {mpeg(layer3, 417, 38) + strings.Repeat("\x00", 1<<17) + mpeg(layer3, 417, 38), 993 + 1<<17 + 417*38, false},
		"the end of a picture's tag":    {"APETAGEX\xd0\x07\x00\x00" + u32(0x40) + strings.Repeat("\x00", 16), (32+0)*25/2 + 1, false},
	} {
		for _, a := range []cost.Audio{cost.AudioOfFile([]byte(c.file)), cost.AudioOf([]byte(base64.RawStdEncoding.EncodeToString([]byte(c.file))))} {
			if want := (cost.Audio{Milliseconds: c.ms, Measured: c.measured}); a != want {
				t.Errorf("%s: %+v, want %+v", name, a, want)
			}
		}
	}
}

// oggPage is a page of an Ogg file.
func oggPage(serial uint32, flags byte, granule int64, packets ...string) string {
	var table, body string
	for _, p := range packets {
		table += strings.Repeat("\xff", len(p)/255) + string([]byte{byte(len(p) % 255)})
		body += p
	}
	return oggSegments(serial, flags, granule, table, body)
}

func oggSegments(serial uint32, flags byte, granule int64, table, body string) string {
	b := []byte("OggS\x00" + string([]byte{flags}))
	b = binary.LittleEndian.AppendUint64(b, uint64(granule))
	b = binary.LittleEndian.AppendUint32(b, serial)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, byte(len(table)))
	return string(b) + table + body
}

// opus is the beginning of an Opus file, and vorbis that of a Vorbis file at 8 kHz.
func opus(serial uint32) string {
	return oggPage(serial, 2, 0, "OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00\x00\x00") + oggPage(serial, 0, 0, "OpusTags")
}

func vorbis(serial uint32) string {
	return oggPage(serial, 2, 0, "\x01vorbis\x00\x00\x00\x00\x01\x40\x1f\x00\x00"+strings.Repeat("\x00", 14))
}

// flac is a FLAC file of 16 bits at 8 kHz, with a picture.
func flac(samples uint64, sound int) string {
	info := "\x10\x00\x10\x00\x00\x00\x00\x00\x00\x00" + u64(8_000<<44|15<<36|samples) + strings.Repeat("\x00", 16)
	return "fLaC\x00\x00\x00\x22" + info + "\x86\x00\x10\x00" + strings.Repeat("p", 4096) + strings.Repeat("s", sound)
}

// box is a box of an MP4 file.
func box(kind string, content ...string) string {
	s := strings.Join(content, "")
	return u32(uint32(8+len(s))) + kind + s
}

// mp4 is an MP4 file of one track of sound at 16 kHz.
func mp4(codec string, whole, track, packets uint32, sound int, described ...string) string {
	times := func(parts, n uint32) string { return u32(0) + u32(0) + u32(0) + u32(parts) + u32(n) }
	return box("ftyp", "M4A ") + box("mdat", strings.Repeat("m", sound)) + box("moov",
		box("mvhd", times(1000, whole)),
		box("trak",
			box("tkhd", u32(0), u32(0), u32(0), u32(7)),
			box("mdia", box("mdhd", times(16_000, track)), box("hdlr", u32(0), u32(0), "soun"), box("minf", box("stbl",
				box("stsd", u32(0), u32(1), u32(36), codec, strings.Repeat("\x00", 24), u32(16_000<<16), strings.Join(described, "")),
				box("stsz", u32(0), u32(0), u32(packets)))))))
}

// element is one of a WebM file.
func element(id string, content ...string) string {
	s := strings.Join(content, "")
	return id + u64(1<<56|uint64(len(s))) + s
}

// webm is a WebM file of one track, with an end that is not known or, where duration is not 0, said.
func webm(codec string, duration float64, blocks ...string) string {
	info := element("\x2a\xd7\xb1", "\x0f\x42\x40")
	if duration > 0 {
		info += element("\x44\x89", u64(math.Float64bits(duration)))
	}
	return element("\x1a\x45\xdf\xa3", "webm") + "\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff" + element("\x15\x49\xa9\x66", info) +
		element("\x16\x54\xae\x6b", element("\xae", element("\xd7", "\x01"), element("\x83", "\x02"), element("\x86", codec))) +
		"\x1f\x43\xb6\x75\xff" + element("\xe7", "\x03\xe8") + strings.Join(blocks, "")
}

func block(time uint16, flags, packet string) string {
	return element("\xa3", "\x81"+u16(time)+flags+packet)
}

// What a file says is taken as far as its size allows: 640 kbit/s at most, or as its codec has it. Packets of Opus are
// counted.
func TestAudioByWhatItClaims(t *testing.T) {
	packet := "\x08" + strings.Repeat("o", 99) // 20 ms of speech
	fragments := box("ftyp", "iso5") + box("moov", box("mvhd", strings.Repeat("\x00", 20)),
		box("trak", box("tkhd", u32(0), u32(0), u32(0), u32(7)), box("mdia", box("mdhd", u32(0), u32(0), u32(0), u32(48_000), u32(0)), box("hdlr", u32(0), u32(0), "soun"))),
		box("mvex", box("trex", u32(0), u32(7), u32(1), u32(960))))
	for name, c := range map[string]struct {
		file     string
		ms       int64
		measured bool
	}{
		"Opus":                             {opus(1) + oggPage(1, 0, 1, packet, packet, packet), 60, true},
		"Opus, two frames in a packet":     {opus(1) + oggPage(1, 0, 1, "\x09xx", "\x0bxx", "\x0b\x03", "\xe0x"), 40 + 6*20 + 60 + 3, true}, // the second has 56 frames, but 120 ms are the most
		"Opus over two pages":              {opus(1) + oggSegments(1, 0, 1, "\xff\xff", "\x08"+strings.Repeat("o", 509)) + oggSegments(1, 1, 1, "\x05\x02", "ooooo\x08x"), 20 + 20, true},
		"Opus, one behind the other":       {opus(1) + oggPage(1, 0, 1, packet) + opus(1) + oggPage(1, 0, 1, packet), 40, true},
		"Opus with something else behind":  {opus(1) + oggPage(1, 0, 1, packet) + strings.Repeat("?", 600), 20 + 800, false},
		"Vorbis":                           {vorbis(5) + oggPage(5, 0, 16_000, strings.Repeat("v", 9000)) + oggPage(5, 4, 32_000, "v"), 4000, true},
		"Vorbis that says too little":      {vorbis(5) + oggPage(5, 4, 1, strings.Repeat("v", 16_000)), 202, false},
		"Vorbis that says too much":        {vorbis(5) + oggPage(5, 4, 1<<60, "v"), 0, false},
		"Ogg of something else":            {oggPage(5, 2, 0, "\x80theora"), 0, false},
		"FLAC":                             {flac(80_000, 100_000), 10_000, true},
		"FLAC that says too little":        {flac(1, 144_000), 8000, false},        // 18,000 bytes a second
		"FLAC that says too much":          {flac(1<<36-1, 1000), 91 * 8192, true}, // as far as the size allows, all of it silent
		"FLAC that does not say":           {flac(0, 1000), 1000, false},           // a bit for each sample
		"MP4":                              {mp4("mp4a", 600_000, 0, 0, 10<<20), 600_000, true},
		"MP4, by its track":                {mp4("mp4a", 1, 16_000*5, 0, 100_000), 5000, true},
		"MP4, by its packets":              {mp4("mp4a", 1, 1, 1000, 100_000), 64_000, true},
		"MP4 that says too little":         {mp4("mp4a", 1, 1, 1, 800_000), 10_003, false},
		"MP4 without loss":                 {mp4("alac", 1_000, 1, 1, 500_000), 1000, true},
		"MP4 that says nothing":            {mp4("mp4a", math.MaxUint32, math.MaxUint32, 0, 1000), 0, false},
		"MP4 in pieces":                    {fragments + box("moof", box("traf", box("tfhd", u32(0), u32(7)), box("trun", u32(0), u32(50)))) + box("mdat", "m"), 1000, true},
		"MP4 in pieces that say their own": {fragments + box("moof", box("traf", box("tfhd", u32(8), u32(7), u32(480)), box("trun", u32(0), u32(50)), box("trun", u32(0x301), u32(2), u32(0), u32(480), u32(9), u32(4320), u32(9)))), 600, true},
		"MP4 with boxes of any size":       {box("ftyp", "M4A ") + u32(1) + "free" + u64(1<<63) + u32(3) + "moov", 0, false},
		"WebM of Opus":                     {webm("A_OPUS", 0, block(0, "\x80", packet), block(20, "\x80", packet)), 40, true},
		"WebM of Opus, in groups":          {webm("A_OPUS", 9, element("\xa0", element("\xa1", "\x81\x00\x00\x00"+packet))), 20, true},
		"WebM of Opus, cut off":            {webm("A_OPUS", 0, block(0, "\x80", packet), block(20, "\x80", packet)[:40]), 20 + 54, false},
		"WebM of Opus, some in one block":  {webm("A_OPUS", 0, block(0, "\x80", packet), block(20, "\x86", "\x02"+packet)), 20 + 140, false},
		"WebM that says how long it is":    {webm("A_VORBIS", 1234.5, block(0, "\x80", "vorbis")), 1235, true},
		"WebM that does not":               {webm("A_VORBIS", 0, block(0, "\x80", "v"), block(30, "\x80", "v"), block(50, "\x80", "v")), 80, true},
		"WebM that says too little":        {webm("A_VORBIS", 1, block(0, "\x80", strings.Repeat("v", 80_000))), 1002, false},
		"WebM of pictures alone":           {strings.Replace(webm("V_VP8", 5, "x"), "\x83\x01\x00\x00\x00\x00\x00\x00\x01\x02", "\x83\x01\x00\x00\x00\x00\x00\x00\x01\x01", 1), 0, false},
		"something else":                   {"\x1a\x45\xdf\xa4" + strings.Repeat("x", 76), 0, false},
	} {
		if c.ms == 0 {
			c.ms = int64(len(c.file))*25/2 + 1 // 640 bit/s
		}
		for _, a := range []cost.Audio{cost.AudioOfFile([]byte(c.file)), cost.AudioOf([]byte(base64.RawURLEncoding.EncodeToString([]byte(c.file))))} {
			if want := (cost.Audio{Milliseconds: c.ms, Measured: c.measured}); a != want {
				t.Errorf("%s: %+v, want %+v", name, a, want)
			}
		}
	}
}

// However a file is made, a bounded number of its headers is looked at, and little is kept.
func TestAudioIsReadInBoundedTime(t *testing.T) {
	const size = 8 << 20
	fill := func(head, s string) []byte { return []byte(head + strings.Repeat(s, (size-len(head))/len(s))) }
	packet := oggPage(1, 0, 1, "\x08o")
	for name, file := range map[string][]byte{
		"frames":            fill("", mpeg(0xfff31400, 24, 1)),
		"frames and others": fill("", mpeg(0xfff31400, 24, 1)+"?"),
		"tags":              fill("", id3(0)),
		"pages":             fill(opus(1), packet),
		"streams":           fill("", opus(1)+opus(2)),
		"boxes":             fill(box("ftyp"), box("free")),
		"tracks":            fill(box("ftyp"), box("trak", box("tkhd"))),
		"boxes in boxes":    fill(box("ftyp"), u32(1<<30)+"moov"),
		"elements":          fill(webm("A_OPUS", 0), block(0, "\x80", "\x08o")),
		"entries":           fill(webm("A_OPUS", 0), "\xae\x80"),
		"blocks":            fill(flac(0, 0)[:42], "\x06\x00\x00\x00"),
		"chunks":            fill("RIFF....WAVE", "LIST\x00\x00\x00\x00"),
		"sync":              fill("ID3\x04\x00\x00\x00\x00\x00\x00", "\xff\xfb\x90\x00"),
	} {
		text := []byte(base64.StdEncoding.EncodeToString(file))
		began := time.Now()
		a := cost.AudioOf(text)
		if b := cost.AudioOfFile(file); a != b || a.Milliseconds <= 0 {
			t.Errorf("%s: %+v in base64, %+v as it is", name, a, b)
		}
		if n := testing.AllocsPerRun(1, func() { cost.AudioOfFile(file) }); n > 20 {
			t.Errorf("%s: %v allocations", name, n)
		}
		t.Logf("%s: %+v in %v", name, a, time.Since(began))
	}
}

// A box may be said to end in the middle of the head of one that it holds.
func TestABoxThatEndsInAHead(t *testing.T) {
	for _, inner := range []string{"free", "trak", "tfhd", "trun"} {
		for size := uint32(8); size < 40; size++ {
			file := box("ftyp") + u32(size) + "moov" + u32(1) + inner + u64(32) + strings.Repeat("x", 40)
			if a := cost.AudioOfFile([]byte(file)); a.Milliseconds <= 0 {
				t.Errorf("%s in %d bytes: %+v", inner, size, a)
			}
		}
	}
}

func FuzzAudioOf(f *testing.F) {
	for _, file := range []string{
		wav(1, 1, 16_000, 16), wav(0xfffe, 2, 48_000, 24) + "abc", "ID3", "\xff\xfb", "", mpeg(0xfffb9000, 417, 2), id3(9) + flac(9, 9),
		opus(1) + oggPage(1, 0, 1, "\x08o"), vorbis(5) + oggPage(5, 4, 9, "v"), mp4("mp4a", 1, 2, 3, 9), webm("A_OPUS", 9, block(0, "\x80", "\x08o")),
		box("ftyp") + u32(16) + "moov" + u32(1) + "free" + u64(32) + "behind it",
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		text := []byte(base64.StdEncoding.EncodeToString(file))
		a := cost.AudioOf(text)
		if b := cost.AudioOf(file); a.Milliseconds < 0 || a.Milliseconds > 1000<<16*int64(len(file)+1) || b.Milliseconds < 0 {
			t.Fatalf("%+v, %+v", a, b)
		}
		if b := cost.AudioOfFile(slices.Clone(file)); a != b {
			t.Fatalf("%+v in base64, %+v as it is", a, b)
		}
	})
}
