package notify_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy/notify"
)

// TestWhatIsPosted: to a real receiver, over TCP.
func TestWhatIsPosted(t *testing.T) {
	got := make(chan *http.Request, 1)
	var body []byte
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusNoContent)
		got <- r
	}))
	defer receiver.Close()
	err := notify.Try(t.Context(), notify.Settings{URL: receiver.URL + "/services/T0/B0/token?thread=7", At: []int64{80, 100}, Help: "Ask in <#ai>."})
	if err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.Method != http.MethodPost || r.URL.String() != "/services/T0/B0/token?thread=7" || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s, %v", r.Method, r.URL, r.Header)
	}
	var message map[string]string
	if err := json.Unmarshal(body, &message); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	const want = "This is a test: people will be told here when 80 % or 100 % of a budget is used. Ask in &lt;#ai&gt;."
	if len(message) != 1 || message["text"] != want {
		t.Errorf("posted %s", body)
	}
}

// TestWhyNothingWasDelivered: what the error says, and that it never holds the address or what the receiver made of it.
func TestWhyNothingWasDelivered(t *testing.T) {
	const path = "/services/T0000/B0000/the_secret_token"
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()
	untrusted.Config.ErrorLog = nil
	rude, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer rude.Close()
	go func() {
		for {
			conn, err := rude.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, "the_secret_token is what you sent\r\n\r\n")
			conn.Close()
		}
	}()
	followed := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer other.Close()
	answering := func(status int, answer string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if status/100 == 3 {
				w.Header().Set("Location", other.URL+r.URL.Path)
			}
			w.WriteHeader(status)
			io.WriteString(w, answer)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	for _, c := range []struct{ name, base, want string }{
		{"nobody listens", closed.URL, "the webhook cannot be reached: connection refused"},
		{"no such host", "http://tokenfare.invalid", "the webhook cannot be reached"},
		{"its own certificate", untrusted.URL, "the webhook's certificate is not trusted here"},
		{"no HTTP", "http://" + rude.Addr().String(), "the webhook could not be asked"},
		{"no TLS", strings.Replace(other.URL, "http:", "https:", 1), "the webhook could not be asked"},
		{"not an address", "http://[::1", "the url of the webhook cannot be used"},
		{"Slack's code", answering(410, "channel_is_archived\n"), "the webhook answered 410 channel_is_archived: perhaps it was removed, or its address is not whole"},
		{"an echo", answering(404, "the_secret_token"), "the webhook answered 404: perhaps"},
		{"a page", answering(502, "<html>cannot POST "+path+"</html>"), "the webhook answered 502"},
		{"an endless page", answering(500, strings.Repeat("a", 1<<20)), "the webhook answered 500"},
		{"moved", answering(302, ""), "the webhook answered 302: redirects are not followed, so give the address that it leads to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			err := notify.Try(t.Context(), notify.Settings{URL: c.base + path, At: []int64{80}})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("%v, want %s", err, c.want)
			}
			for _, secret := range []string{"secret", "B0000", "127.0.0.1", "tokenfare.invalid"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%q shows %q", err, secret)
				}
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
	if followed {
		t.Error("a redirect was followed")
	}
}
