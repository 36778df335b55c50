package proxy_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tokenfare/tokenfare/proxy"
)

// leaver is a connection whose client has hung up when the test says so.
type leaver struct{ gone atomic.Bool }

func (l *leaver) During(left context.CancelCauseFunc) {
	if l.gone.Load() {
		left(context.Canceled)
	}
}
func (l *leaver) Left() bool { return l.gone.Load() }
func (l *leaver) Over()      {}
func (l *leaver) Break()     {}

// TestNobodyElseIsAskedForAClientWhoHasLeft: as for one of whom net/http says so.
func TestNobodyElseIsAskedForAClientWhoHasLeft(t *testing.T) {
	for name, leaves := range map[string]bool{"it leaves": true, "it stays": false} {
		t.Run(name, func(t *testing.T) {
			from := &leaver{}
			tw := newTwins(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
				from.gone.Store(leaves)
				answerWith(503, errorBody("overloaded"))(w, r)
			}, answerWith(200, plainAnswer(8, 3)))
			r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(hi))
			r.Header.Set("Authorization", "Bearer "+secret)
			w := httptest.NewRecorder()
			tw.server.ServeHTTP(w, r.WithContext(proxy.WithConnection(r.Context(), from)))
			used, status := int64(11), 200
			if leaves {
				used, status = 0, 503
				tw.want(1, 0)
			} else {
				tw.want(1, 1)
			}
			if got := tw.used("1000 tokens in total"); got != used || w.Code != status {
				t.Errorf("charged %d, want %d; answered %d", got, used, w.Code)
			}
		})
	}
}
