package cost_test

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// wav is the beginning of a WAV file, up to its samples.
func wav(format, channels uint16, samples uint32, bits uint16) string {
	if format == 0xfffe {
		return wavOf(format, channels, samples, bits, guid(1)...)
	}
	return wavOf(format, channels, samples, bits)
}

// wavOf is wav, with what its format says more.
func wavOf(format, channels uint16, samples uint32, bits uint16, more ...uint16) string {
	b := []byte("RIFF\xff\xff\xff\xffWAVELIST\x03\x00\x00\x00abc\x00fmt ")
	b = binary.LittleEndian.AppendUint32(b, uint32(16+2*len(more)))
	b = binary.LittleEndian.AppendUint16(b, format)
	b = binary.LittleEndian.AppendUint16(b, channels)
	b = binary.LittleEndian.AppendUint32(b, samples)
	b = binary.LittleEndian.AppendUint32(b, samples*uint32(channels)*uint32(bits/8))
	b = binary.LittleEndian.AppendUint16(b, channels*(bits/8))
	b = binary.LittleEndian.AppendUint16(b, bits)
	for _, field := range more {
		b = binary.LittleEndian.AppendUint16(b, field)
	}
	return string(b) + "data\xff\xff\xff\xff" // a length that is not believed
}

func TestAudioByItsLength(t *testing.T) {
	sound := func(n int) string { return strings.Repeat("\x00", n) }
	for name, c := range map[string]struct {
		file     string
		ms       int64
		measured bool
	}{
		"a second of 16 kHz":        {wav(1, 1, 16_000, 16) + sound(32_000), 1000, true},
		"a byte more":               {wav(1, 1, 16_000, 16) + sound(32_001), 1001, true},
		"stereo, 24 bits":           {wav(0xfffe, 2, 48_000, 24) + sound(288_000), 1000, true},
		"telephone":                 {wav(7, 1, 8_000, 8) + sound(4_000), 500, true},
		"no sound":                  {wav(1, 1, 16_000, 16), 0, true},
		"compressed":                {wav(0x11, 1, 16_000, 4) + sound(900), (44+12+900)*25/2 + 1, false},
		"rates nobody uses":         {wav(1, 1, 1<<31, 16) + sound(1000), (44+12+1000)*25/2 + 1, false},
		"no samples a second":       {wav(1, 1, 0, 16) + sound(1000), (44+12+1000)*25/2 + 1, false},
		"samples before the format": {"RIFF....WAVEdata....", 20*25/2 + 1, false},
		"a header that ends":        {"RIFF....WAVE", 12*25/2 + 1, false},
		"MP3 with a tag":            {"ID3" + sound(997), 990, false},
		"MP3":                       {"\xff\xfb" + sound(998), 1000, false},
		"AAC":                       {"\xff\xf1" + sound(998), 12_501, false},
		"something else":            {"OggS" + sound(996), 12_501, false},
		"nothing":                   {"", 1, false},
	} {
		data := base64.StdEncoding.EncodeToString([]byte(c.file))
		want := cost.Audio{Milliseconds: c.ms, Measured: c.measured}
		for _, text := range []string{data, "data:audio/wav;base64," + data} {
			if got := cost.AudioOf([]byte(text)); got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
		if got := cost.AudioOfFile([]byte(c.file)); got != want {
			t.Errorf("%s as it is: %+v, want %+v", name, got, want)
		}
	}
}

func TestAudioTokens(t *testing.T) {
	for _, c := range []struct {
		audio cost.Audio
		want  int64
		basis cost.Basis
	}{
		{cost.Audio{Milliseconds: 1000, Measured: true}, 10, cost.Formula},
		{cost.Audio{Milliseconds: 1001, Measured: true}, 11, cost.Formula},
		{cost.Audio{Milliseconds: 1000, Measured: true, Assistant: true}, 20, cost.Formula},
		{cost.Audio{Milliseconds: 1000}, 10, cost.Approximate},
		{cost.Audio{Milliseconds: -1}, 0, cost.Exact},
	} {
		est := cost.NewEstimator().Estimate(cost.Request{Audio: []cost.Audio{c.audio}, HasMaxOutput: true}, catalog(t).Model("gpt-audio"))
		if est.Input != c.want || est.ByPart[cost.PartAudio] != c.want || est.Basis != c.basis {
			t.Errorf("%+v: %+v, want %d, %v", c.audio, est, c.want, c.basis)
		}
	}
}

func TestFilesBySize(t *testing.T) {
	for data, want := range map[string]int64{
		"": 0, "data:application/pdf;base64,AAAA": 3, "data:application/pdf;base64,AAAAAA==": 4, "data:application/pdf;base64,": 0,
		"AAAAAA==":         8, // it may be text
		"data:,plain text": 16,
		"data:application/pdf;base64,JVBERi0xLjcK": 5, "JVBERi0xLjcK": 5, "data:text/plain;base64,JVBERi0xLjcK": 5, // %PDF-1.7 and a line end
		"data:application/pdf;base64,JVBERg==": 4, "%PDF-1.7": 8, // not one
	} {
		if got := cost.FileTokens([]byte(data)); got != want {
			t.Errorf("%q: %d tokens, want %d", data, got, want)
		}
	}
}
