package main

import (
	"errors"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// count reads a positive number of tokens: 8k, 128_000.
func (d *decoder) count(n *yaml.Node, what string) int64 {
	s, ok := d.text(n, what)
	if !ok {
		return 0
	}
	v, err := limit.ParseCount(s)
	if err != nil {
		d.problem(n, "write a whole number such as 8k, 1.5m or 128_000", "%s must be a positive number", what)
	}
	return v
}

// ratio reads a decimal: 1.2.
func (d *decoder) ratio(n *yaml.Node, what string) cost.Ratio {
	text, ok := d.text(n, what)
	if !ok {
		return 0
	}
	r, err := cost.ParseRatio(text)
	if err != nil {
		d.problem(n, "write a decimal such as 1.2: that many tokens for each that is counted", "%s: %v", what, err)
	}
	return r
}

// money reads what an item costs in dollars, zero allowed.
func (d *decoder) money(n *yaml.Node, what string, item cost.Item) cost.NanoUSD {
	s, ok := d.text(n, what)
	if !ok {
		return 0
	}
	v, err := cost.ParseRate(item, s)
	if err != nil || v < 0 {
		fix := "write dollars per million tokens, for example $2.50"
		if item.PerUnit() {
			fix = "write dollars for one, for example $0.04"
		}
		d.problem(n, fix, "%s is not a price", what)
		return 0
	}
	return v
}

// duration reads a time such as 90s, 20m or 1h30m; from zero to a day.
func (d *decoder) duration(n *yaml.Node, what string) time.Duration {
	s, ok := d.text(n, what)
	if !ok {
		return 0
	}
	v, err := time.ParseDuration(strings.ReplaceAll(s, " ", ""))
	switch {
	case err != nil:
		fix := "write a number and its unit, for example 90s, 20m or 1h30m"
		if _, err := strconv.Atoi(s); err == nil {
			fix = "write the unit, too: " + s + "s"
		}
		d.problem(n, fix, "%s is not a time", what)
		return 0
	case v < 0 || v > 24*time.Hour:
		d.problem(n, "write a time from 0s to 24h", "%s is out of range", what)
		return 0
	}
	return v
}

// positive is a duration that may not be zero.
func (d *decoder) positive(n *yaml.Node, what string) time.Duration {
	v := d.duration(n, what)
	if s := deref(n); v == 0 && (s.Value == "0" || s.Value == "0s") {
		d.problem(n, "write the time to wait, for example 10m", "%s cannot be zero", what)
	}
	return v
}

var sizes = []struct {
	suffix string
	bytes  float64
}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"b", 1}, {"", 1}}

// bytes reads a size such as 32MiB; from 1 KiB to 1 TiB.
func (d *decoder) bytes(n *yaml.Node, what string) int64 {
	s, ok := d.text(n, what)
	if !ok {
		return 0
	}
	for _, u := range sizes {
		number, found := strings.CutSuffix(strings.ToLower(s), u.suffix)
		if !found {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(v) {
			break
		}
		if v *= u.bytes; v < 1<<10 || v > 1<<40 {
			d.problem(n, "write a size from 1KiB to 1TiB", "%s is out of range", what)
			return 0
		}
		return int64(v)
	}
	d.problem(n, "write a size such as 32MiB", "%s is not a size", what)
	return 0
}

// date reads a day, which begins in the configured zone, or an instant.
func (d *decoder) date(n *yaml.Node, what string) time.Time {
	s, ok := d.text(n, what)
	if !ok {
		return time.Time{}
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t
	}
	// A limit's end is the same kind of date, midnights that clocks skip included.
	l, err := limit.Parse("1 token in total, until "+s, d.zone)
	if err != nil {
		d.problem(n, "write a date such as 2027-01-31", "%s is not a date", what)
		return time.Time{}
	}
	return l.Until
}

// address reads host:port.
func (d *decoder) address(n *yaml.Node, what string) string {
	s, ok := d.text(n, what)
	if !ok {
		return ""
	}
	host, port, err := net.SplitHostPort(s)
	if err == nil {
		if p, bad := strconv.ParseUint(port, 10, 16); bad != nil || p == 0 && port != "0" {
			err = errors.New("port")
		}
	}
	if err != nil || strings.ContainsAny(host, " /") {
		fix := "write host:port, for example \"127.0.0.1:8080\", or \":8080\" for every interface"
		if _, number := strconv.ParseUint(s, 10, 16); number == nil {
			fix = "write \"127.0.0.1:" + s + "\", or \":" + s + "\" for every interface"
		}
		d.problem(n, fix, "%s is not an address", what)
		return ""
	}
	return s
}

// file reads the path of a file that must be there.
func (d *decoder) file(n *yaml.Node, what string) string {
	s, ok := d.text(n, what)
	if !ok {
		return ""
	}
	p := d.path(s)
	d.read(p)
	info, err := os.Stat(p)
	switch {
	case err != nil:
		d.problem(n, "check the path (relative to this file) and its permissions", "cannot read %s: %v", what, reason(err))
	case info.IsDir():
		d.problem(n, "name a file", "%s is a directory", what)
	}
	return p
}
