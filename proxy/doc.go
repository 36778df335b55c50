// Package proxy is the HTTP side of tokenfare: it speaks the OpenAI API to callers, charges every call to their budgets before
// it goes upstream, and squares the account when the call has ended.
//
// The files are in the order a request meets them:
//
//	server.go   routes and middleware
//	auth.go     bearer token -> caller
//	admit.go    read the body, estimate, reserve; or refuse
//	forward.go  send it upstream, and take its answer
//	relay.go    pass the answer on, bytes untouched
//	draw.go     what a stream without an output limit takes as it goes
//	settle.go   where every exchange ends, once; the table of endings
//	refuse.go   429 and every other error, in OpenAI's shape
//	usage.go    what a caller has left
//	owners.go   whose the objects are that providers store; claim.go checks it, made.go records it
//	stored.go   the paths of those objects
//
// Words. A caller is who a key names. A budget is one limit of one owner (a key, a group, an upstream) together with its
// counter. An estimate is the most a call may cost; it is reserved from all budgets that apply, or from none. To settle is
// to replace the reservation by what was really used.
//
// A [Spec] says what the operator wants, [NewPolicy] compiles it, and a [Server] reads the current [Policy] through one atomic
// pointer: requests in flight keep the policy they began with.
//
//	policy, err := proxy.NewPolicy(spec, memory, catalog)
//	server, err := proxy.New(proxy.Options{Limiter: memory, Estimator: cost.NewEstimator()}, policy)
//	http.ListenAndServe("127.0.0.1:8080", server)
//
// The package will not translate between providers' APIs, cache answers, or forward an endpoint it cannot meter.
package proxy
