// Package harness runs the built program for black-box tests: it compiles ./cmd/tokenfare once for each test process
// (with the race detector when the tests have it), starts it on free ports with a configuration written for the test,
// and lets the test see what an operator sees: log lines, metrics, exit status.
//
//	func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
//
//	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000 tokens in total"}})
//	resp := p.Chat(t, harness.Alice, `{"model":"gpt-4o","messages":[]}`)
//
// Tests that need a database get a real one: Postgres runs one private server for all tests of a package, StartPostgres
// one that a test may stop, kill and start again.
//
//	pg, ok := harness.Postgres(t)
//	if !ok {
//		return // no server is installed, and this is not the README's test command
//	}
//	url := pg.NewDatabase(t)
package harness
