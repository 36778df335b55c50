package proxy_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// An upstream that sends hints for ever, and no answer, is given up soon, and not when the time for an answer is over.
func TestThreatHintsForEver(t *testing.T) {
	spec := alice(t, plenty)
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Key: "sk-upstream-secret", Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			r, err := http.ReadRequest(bufio.NewReader(theirs))
			if err != nil {
				return
			}
			io.Copy(io.Discard, r.Body)
			for err == nil {
				_, err = io.WriteString(theirs, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
			}
		}()
		return ours, nil
	}}}
	h := newHouse(t, spec, nil)
	r, err := http.NewRequest(http.MethodPost, h.url+"/v1/chat/completions", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Body = io.NopCloser(strings.NewReader(hi))
	got := h.do(r.WithContext(ctx))
	if got.err != nil || got.status != http.StatusBadGateway {
		t.Errorf("%d %v %s", got.status, got.err, got.body)
	}
}
