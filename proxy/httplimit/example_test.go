package httplimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/httplimit"
)

// Two requests at once, and one more each hour, for each client behind a load balancer; health checks are free.
func Example() {
	r := chi.NewRouter()
	r.Use(httplimit.New(httplimit.Options{
		Rule:           limiter.TokenBucket{Size: 2, Refill: 1, Every: time.Hour},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Cost: func(r *http.Request) int64 {
			if r.URL.Path == "/health" {
				return 0
			}
			return 1
		},
	}))
	r.Get("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	r.Get("/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "well") })

	for _, path := range []string{"/", "/", "/", "/health"} {
		request := httptest.NewRequest(http.MethodGet, path, http.NoBody)
		request.RemoteAddr = "10.0.0.5:41952"
		request.Header.Set("X-Forwarded-For", "1.2.3.4, 203.0.113.7") // the client made the first one up
		w := httptest.NewRecorder()
		r.ServeHTTP(w, request)
		h := w.Result().Header
		fmt.Printf("%s: %d, %s of %s left\n", path, w.Code, h.Get("X-RateLimit-Remaining"), h.Get("X-RateLimit-Limit"))
		if w.Code == http.StatusTooManyRequests {
			wait, _ := time.ParseDuration(h.Get("Retry-After") + "s")
			fmt.Println("come back in", wait.Round(time.Minute))
		}
	}

	// Output:
	// /: 200, 1 of 2 left
	// /: 200, 0 of 2 left
	// /: 429, 0 of 2 left
	// come back in 1h0m0s
	// /health: 200, 0 of 2 left
}

// Two requests a minute and three a day: one that the minute refuses costs nothing of the day.
func ExampleNew_severalRules() {
	limit := httplimit.New(httplimit.Options{
		Rule:      limiter.SlidingWindow{Limit: 2, Window: time.Minute},
		MoreRules: []limiter.Rule{limiter.SlidingWindow{Limit: 3, Window: 24 * time.Hour}},
	})
	hello := limit(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	for range 3 {
		w := httptest.NewRecorder()
		hello.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		h := w.Result().Header
		fmt.Printf("%d, %s of %s left\n", w.Code, h.Get("X-RateLimit-Remaining"), h.Get("X-RateLimit-Limit"))
	}

	// Output:
	// 200, 1 of 2 left
	// 200, 0 of 2 left
	// 429, 0 of 2 left
}
