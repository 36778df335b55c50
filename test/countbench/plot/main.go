// Plot puts the figures into docs/counting.md, and draws its picture as SVG that
// is readable in light and in dark, with nothing but the standard library:
//
//	go test -run - -bench . | tee bench.txt
//	go run ./plot fill bench.txt ../../docs/counting.md
//	go run ./plot bars bench.txt > ../../docs/counting-speed.svg
//	go run ./plot tables bench.txt                        the figures in Markdown
//
// Without a file, bars and tables read standard input.
package main

import (
	"fmt"
	"os"

	"github.com/tokenfare/tokenfare/test/figures"
)

var program = figures.Program{
	Tables: tables,
	Bars:   drawBars,
}

func main() {
	if err := program.Run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}
