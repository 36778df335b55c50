// Package examples has nothing in it but this page. Its subpackages put four
// published rate limiters on package limiter, each with the interface its
// readers know:
//
//   - slidingwindow: usage in a window, recorded whether or not it is allowed;
//     after "How to Implement an In-Memory Rate Limiter in Rust".
//   - perclient: a bucket for each client, forgotten when idle; after "Building
//     a Token Bucket Rate Limiter in Rust with Axum". Its middleware is
//     proxy/httplimit.
//   - lockfree: a bucket for hot paths, and many by key, with metrics; after "A
//     120-line lock-free token bucket in Rust".
//   - gate: batches charged to a user, an address, an endpoint and everybody at
//     once, by a limiter that may be down; after "Token bucket rate limiter with
//     Redis and Rust". The store itself is not among the examples.
//
// Each has a file flaws_test.go with a test for every flaw of the original that
// was found, named in the words it was found with.
package examples
