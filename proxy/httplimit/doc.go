// Package httplimit limits what each client of an HTTP server may do: middleware for chi or any other router of net/http, on
// package limiter.
//
//	r := chi.NewRouter()
//	r.Use(httplimit.New(httplimit.Options{
//		Rule:           limiter.TokenBucket{Size: 20, Refill: 10, Every: time.Second},
//		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
//	}))
//
// The files are in the order a request meets them:
//
//	httplimit.go  options and the walk of one request
//	client.go     who is asking: a key, an address, or nobody in particular
//	cost.go       what the request costs
//	charge.go     charging it to all of the client's budgets, or to none
//	refuse.go     429 and the other answers, in the shape OpenAI's clients parse
//
// Every request that is decided gets X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset, the whole seconds until
// the client has all of its limit again (left out if time alone does not bring that). Of several limits (MoreRules) these are
// about the one that refused and waits longest, or else the one with the smallest share left. A refused one gets
//
//   - 429 with Retry-After, in whole seconds rounded up, and retry-after-ms: waiting that long is enough, if the client asks for
//     nothing else meanwhile;
//   - 429 with x-should-retry: false where waiting is not worth it: what does not refill is used up, or the wait is longer than
//     SDKs sit through;
//   - 400 with x-should-retry: false and no Retry-After if it costs more than the limit, so that it can never pass.
//
// Handlers behind it find the client's address with chi's middleware.GetClientIP.
//
// It limits, and does nothing else: it does not authenticate, queue, or count what an answer turns out to cost. All limits of a
// client belong in one middleware: of two in a row, the first has already charged what the second refuses. Package proxy
// corrects the charge afterwards.
package httplimit
