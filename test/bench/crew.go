package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// crew are the servers of a run, in the order in which they were started.
type crew struct{ running []*process }

// hire adds a server that was started, or passes on why it was not; nil: there is none of its kind here.
func (c *crew) hire(p *process, err error) (*process, error) {
	if p != nil && err == nil {
		c.running = append(c.running, p)
	}
	return p, err
}

// stop ends them all, the first one last.
func (c *crew) stop() error {
	var errs []error
	for _, p := range slices.Backward(c.running) {
		errs = append(errs, p.stop())
	}
	return errors.Join(errs...)
}

// program is the binary to measure: the one that is named, or one built into dir.
func (s settings) program(ctx context.Context, dir string, progress io.Writer) (string, error) {
	if s.binary != "" {
		return s.binary, nil
	}
	fmt.Fprintln(progress, "building ./cmd/tokenfare")
	return buildProduct(ctx, dir)
}
