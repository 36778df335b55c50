// Bench measures what the proxy costs. One command, one run, one machine:
//
//	go run ./test/bench
//
// Three servers or four, each a process of its own, answer the same requests in interleaved rounds:
//
//   - mock: a scripted upstream with prebuilt answers, asked directly. It is measured twice; the difference between its two rows is
//     the noise of the run.
//   - nginx, where it is installed: a reverse proxy in C, without counting or limits. It shows how far down the road goes.
//   - bare proxy: net/http/httputil.ReverseProxy in front of the mock and nothing else: the floor for anything written in Go on top
//     of it. Only what keeps it correct and fair is added: it reads the request before it sends it, and keeps idle connections.
//   - tokenfare: the built program with everything on: keys, exact counting, three budgets, the ledger, metrics, a log line for
//     each request.
//
// Prompts differ from request to request, so nothing can be remembered. Every answer is compared byte by byte with what the mock
// sends, stamped with the number of the request it belongs to; one wrong byte ends the run.
//
// CPU is what the server's own process used, read from /proc/PID/stat (children included), while a few connections ask as fast as
// they are answered. It is the figure a busy machine disturbs least; ratios to the bare proxy travel between machines, milliseconds
// do not. Latency is measured apart from it, at a rate that every server holds, all servers in turn within each
// fiftieth of a second.
//
// What the ledger costs is measured by -ledger in the same way: three copies of the program, of which the middle one has a ledger,
// with every exchange durable before its answer; time is to the first byte, of which the ledger may hold up none.
//
// It needs Linux and the Go tool chain, nothing else, and leaves nothing behind.
package main
