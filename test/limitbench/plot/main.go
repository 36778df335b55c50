// Plot draws the pictures of docs/limiter.md as SVG that is readable in light
// and in dark, with nothing but the standard library:
//
//	go test -run - -bench . | tee bench.txt
//	go run ./plot bars bench.txt > ../../docs/limiter.svg
//	go run ./plot table bench.txt              the same figures in Markdown
//	go run ./plot bucket > ../../docs/limiter-bucket.svg
//	go run ./plot window > ../../docs/limiter-window.svg
//
// Without a file, bars and table read standard input.
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

var errUsage = errors.New("usage: plot bars|table [FILE], plot bucket, plot window")

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "bucket":
		return write(stdout, drawBucket())
	case len(args) == 1 && args[0] == "window":
		return write(stdout, drawWindow())
	case len(args) < 1 || len(args) > 2 || args[0] != "bars" && args[0] != "table":
		return errUsage
	}
	if len(args) == 2 {
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
	if args[0] == "table" {
		return write(stdout, table(r))
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
