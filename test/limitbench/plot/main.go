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

var errUsage = errors.New("usage: plot bars|tables [FILE], plot fill FILE DOCUMENT, plot bucket, plot window")

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "bucket":
		return write(stdout, drawBucket())
	case len(args) == 1 && args[0] == "window":
		return write(stdout, drawWindow())
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
	switch args[0] {
	case "tables":
		return write(stdout, tables(r))
	case "fill":
		document, err := os.ReadFile(args[2])
		if err == nil {
			document, err = fill(document, r)
		}
		if err != nil {
			return err
		}
		return os.WriteFile(args[2], document, 0o644)
	}
	picture, err := drawBars(r)
	if err != nil {
		return err
	}
	return write(stdout, picture)
}

func write(w io.Writer, s string) error {
	_, err := io.WriteString(w, s)
	return err
}
