package upstream_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// What net/http sends as Host and dials for the same URL.
func TestHostsAsNetHTTP(t *testing.T) {
	for _, url := range []string{"http://bücher.example/v1", "http://[fe80::1%25eth0]:80/v1", "http://host:80/v1", "http://a/v1"} {
		var hosts, dialled [2]string
		for i := range 2 {
			dial := func(_ context.Context, _, address string) (net.Conn, error) {
				dialled[i] = address
				ours, theirs := net.Pipe()
				go func() {
					r, err := http.ReadRequest(bufio.NewReader(theirs))
					if err == nil {
						hosts[i] = r.Host
					} else {
						hosts[i] = err.Error()
					}
					io.WriteString(theirs, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
					theirs.Close()
				}()
				return ours, nil
			}
			u, err := upstream.New(upstream.Options{Name: "up", URL: url, Dial: dial})
			if err != nil {
				t.Error(err)
				break
			}
			r, err := http.NewRequest(http.MethodPost, u.Endpoint("/x").String(), strings.NewReader("b"))
			if err != nil {
				t.Error(err)
				break
			}
			var rt http.RoundTripper = u
			if i == 1 {
				rt = &http.Transport{DialContext: dial}
			}
			resp, err := rt.RoundTrip(r)
			if err != nil {
				t.Logf("%s: %v", url, err)
				continue
			}
			resp.Body.Close()
		}
		if hosts[0] != hosts[1] || dialled[0] != dialled[1] {
			t.Errorf("%s: Host %q, dials %q; net/http %q, %q", url, hosts[0], dialled[0], hosts[1], dialled[1])
		}
	}
}
