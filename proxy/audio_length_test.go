package proxy_test

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"testing"
)

// aRecording is a form with a second of telephone sound, to be written down by a model that is billed by length.
func aRecording() string {
	b := []byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x07\x00\x01\x00")
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = append(b, 1, 0, 8, 0)
	file := string(b) + "data\xff\xff\xff\xff" + string(make([]byte, 8000))
	return "--BB\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n" +
		"--BB\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n" + file + "\r\n--BB--\r\n"
}

// TestAReportedLengthIsCharged: how long a file is by its own headers bounds what is reserved, and nothing else. What the
// provider found beyond it is debt; what no upload can have is charged as the longest that any can be.
func TestAReportedLengthIsCharged(t *testing.T) {
	const day = 24 * 60 * 60 * 1000
	for seconds, milliseconds := range map[string]int64{"0.25": 250, "1": 1000, "3600": 3_600_000, "86400": day, "86401": day, "900000": day} {
		h := newHouse(t, alice(t, "$100 in total"), answerWith(200, fmt.Sprintf(`{"text":"Hi","usage":{"type":"duration","seconds":%s}}`, seconds)))
		got := h.postForm("/v1/audio/transcriptions", "multipart/form-data; boundary=BB", aRecording())
		if got.status != http.StatusOK {
			t.Fatalf("%s seconds: %d %s", seconds, got.status, got.body)
		}
		if used := h.used("$100 in total"); used != milliseconds*100 { // nano-dollars
			t.Errorf("%s seconds: %d used, want %d", seconds, used, milliseconds*100)
		}
	}
}
