package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// liveEvery is how often a page is printed again.
const liveEvery = 2 * time.Second

// What a terminal is told. Lines are not wrapped: one that is longer than the screen would take two.
const (
	liveBegin = "\x1b[?25l\x1b[?7l\x1b[2J" // no cursor, no wrapping, an empty screen
	liveHome  = "\x1b[H"
	liveLine  = "\x1b[K\n" // what is left of the line is emptied
	liveRest  = "\x1b[J"
	liveEnd   = "\x1b[?7h\x1b[?25h"
)

// live prints pages until ctx or a signal ends it, which is no error.
func (u *usageReading) live(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	screen := isTerminal(u.stdout) && !u.json
	return repeat(ctx, u.stdout, screen, func() (string, error) {
		height := terminalHeight(u.stdout)
		if !screen || height == 0 {
			return u.page(ctx, 0)
		}
		text, err := u.page(ctx, max(1, height-liveAround))
		return cut(text, height-1), err
	})
}

// liveAround is how many lines of a page may be beside those of the report: two on top, the titles, the total, the legend.
const liveAround = 12

// cut leaves out the lines that a screen has no room for.
func cut(text string, most int) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[:min(len(lines), max(1, most))], "")
}

// repeat prints pages until ctx ends: over each other on a screen, else one below the other.
func repeat(ctx context.Context, out io.Writer, screen bool, page func() (string, error)) error {
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	if screen {
		fmt.Fprint(out, liveBegin)
		defer fmt.Fprint(out, liveEnd)
	}
	for {
		text, err := page()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case screen:
			text = liveHome + strings.ReplaceAll(text, "\n", liveLine) + liveRest
		case strings.Count(text, "\n") > 1:
			text += "\n" // a blank line between pages
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
