package proxy_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/tokenfare/tokenfare/proxy"
)

// unread fails the test if anybody reads the body.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestAuth(t *testing.T) {
	spec := proxy.Spec{Keys: []proxy.KeySpec{
		{Name: "alice"},
		{Name: "old", Hashes: [][32]byte{sha256.Sum256([]byte("tf-old"))}, Expires: time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC)},
		{Name: "off", Hashes: [][32]byte{sha256.Sum256([]byte("tf-off"))}, Disabled: true},
		{Name: "two", Hashes: [][32]byte{sha256.Sum256([]byte("tf-a")), sha256.Sum256([]byte("tf-b"))}},
	}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	for _, c := range []struct {
		name   string
		header []string // Authorization values
		status int
		says   string
	}{
		{"known, with spaces in it", []string{"Bearer " + secret}, 200, ""},
		{"scheme in lower case", []string{"bearer " + secret}, 200, ""},
		{"first of two secrets", []string{"Bearer tf-a"}, 200, ""},
		{"second of two secrets", []string{"Bearer tf-b"}, 200, ""},
		{"none", nil, 401, "didn't provide an API key"},
		{"empty", []string{"Bearer "}, 401, "didn't provide an API key"},
		{"twice", []string{"Bearer " + secret, "Bearer " + secret}, 401, "didn't provide an API key"},
		{"basic", []string{"Basic " + secret}, 401, "didn't provide an API key"},
		{"unknown", []string{"Bearer sk-unknown-secret"}, 401, "Incorrect API key"},
		{"trailing space", []string{"Bearer " + secret + "x"}, 401, "Incorrect API key"},
		{"expired", []string{"Bearer tf-old"}, 401, "expired on 2020-01-02"},
		{"disabled", []string{"Bearer tf-off"}, 401, "disabled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _ := http.NewRequest(http.MethodPost, h.url+"/v1/chat/completions", strings.NewReader(hi))
			r.Header["Authorization"] = c.header
			got := h.do(r)
			if got.status != c.status {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if c.status != 401 {
				return
			}
			message, kind, _, code := got.errorOf(t)
			if kind != "invalid_request_error" || code != "invalid_api_key" || !strings.Contains(message, c.says) {
				t.Errorf("%s %s: %s", kind, code, message)
			}
			if strings.Contains(got.body, "sk-unknown-secret") {
				t.Error("the answer quotes the secret")
			}
			for name := range got.header {
				if strings.HasPrefix(strings.ToLower(name), "x-ratelimit") {
					t.Errorf("limit header %s on a 401", name)
				}
			}
		})
	}
}

func TestAnUnknownKeyIsToldBeforeItsBodyIsRead(t *testing.T) {
	h := newHouse(t, proxy.Spec{Keys: []proxy.KeySpec{{Name: "alice"}}}, answerWith(200, plainAnswer(8, 3)))
	r, _ := http.NewRequest(http.MethodPost, "/v1/chat/completions", unread{t})
	r.Header.Set("Authorization", "Bearer nobody")
	rec := newRecorder()
	h.server.ServeHTTP(rec, r)
	if rec.status != 401 {
		t.Errorf("%d", rec.status)
	}
}

// TestWhoIsRefusedIsToldBeforeTheBodyComes: net/http would hold the answer back until it has the body, for as long as its sender likes.
func TestWhoIsRefusedIsToldBeforeTheBodyComes(t *testing.T) {
	const known = "Authorization: Bearer " + secret + "\r\n"
	for name, c := range map[string]struct {
		head   string
		status int
	}{
		"an unknown key":       {"POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer nobody\r\nContent-Length: 9\r\n", 401},
		"no key, in chunks":    {"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", 401},
		"a path that is none":  {"POST /v1/elsewhere HTTP/1.1\r\n" + known + "Content-Length: 9\r\n", 404},
		"another method":       {"PUT /v1/chat/completions HTTP/1.1\r\n" + known + "Content-Length: 9\r\n", 405},
		"a body that is coded": {"POST /v1/chat/completions HTTP/1.1\r\n" + known + "Content-Encoding: gzip\r\nContent-Length: 9\r\n", 415},
		"one that is too long": {"POST /v1/chat/completions HTTP/1.1\r\n" + known + "Content-Length: 999999999\r\n", 413},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
				conn, err := v.network.Dial(t.Context(), "tcp", "proxy:80")
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				began := time.Now()
				fmt.Fprintf(conn, "%sHost: x\r\n\r\n", c.head)
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if took := time.Since(began); resp.StatusCode != c.status || took != 0 {
					t.Errorf("%d after %s, want %d at once", resp.StatusCode, took, c.status)
				}
				time.Sleep(time.Minute) // the server closes the connection some time after its answer
			})
		})
	}
}

func TestUnknownKeysLeaveNothingBehind(t *testing.T) {
	h := newHouse(t, proxy.Spec{Keys: []proxy.KeySpec{{Name: "alice"}}}, answerWith(200, plainAnswer(8, 3)))
	ask := func(key string) {
		r, _ := http.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(hi))
		r.Header.Set("Authorization", "Bearer "+key)
		h.server.ServeHTTP(newRecorder(), r)
	}
	ask("nobody")
	before := series(t, h)
	for i := range 1000 {
		ask("nobody" + strings.Repeat("x", i%50) + string(rune('a'+i%26)))
	}
	if after := series(t, h); after != before {
		t.Errorf("%d metric series became %d", before, after)
	}
}

func series(t *testing.T, h *house) int {
	t.Helper()
	n, err := testutil.GatherAndCount(h.registry)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// recorder is a ResponseWriter without a connection.
type recorder struct {
	header http.Header
	status int
	body   strings.Builder
}

func newRecorder() *recorder                    { return &recorder{header: http.Header{}} }
func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
