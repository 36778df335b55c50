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
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: plot bars|tables [FILE], plot fill FILE DOCUMENT")

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	switch {
	case len(args) == 3 && args[0] == "fill":
	case len(args) == 0 || len(args) > 2 || args[0] != "bars" && args[0] != "tables":
		return errUsage
	}
	if len(args) > 1 {
		f, err := os.Open(args[1])
		if err != nil {
			return err
		}
		defer f.Close()
		stdin = f
	}
	r, err := parse(stdin)
	if err != nil {
		return err
	}
	var out string
	switch args[0] {
	case "tables":
		out = tables(r)
	case "fill":
		return fillFile(args[2], r)
	case "bars":
		if out, err = drawBars(r); err != nil {
			return err
		}
	}
	_, err = io.WriteString(stdout, out)
	return err
}

func fillFile(path string, r *results) error {
	document, err := os.ReadFile(path)
	if err == nil {
		document, err = fill(document, r)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, document, 0o644)
}
