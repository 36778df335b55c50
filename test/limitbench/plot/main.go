// Plot draws the pictures of docs/limiter.md as SVG that is readable in light
// and in dark, with nothing but the standard library:
//
//	go test -run - -bench . | tee bench.txt
//	go run ./plot bars bench.txt > ../../docs/limiter.svg
//	go run ./plot tables bench.txt             the figures in Markdown
//	go run ./plot fill bench.txt ../../docs/limiter.md   puts them there
//	go run ./plot bucket > ../../docs/limiter-bucket.svg
//	go run ./plot window > ../../docs/limiter-window.svg
//
// Without a file, bars and tables read standard input.
package main

import (
	"fmt"
	"os"

	"github.com/tokenfare/tokenfare/test/figures"
)

var program = figures.Program{
	Tables:   tables,
	Bars:     drawBars,
	Pictures: map[string]func() string{"bucket": drawBucket, "window": drawWindow},
}

func main() {
	if err := program.Run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}
