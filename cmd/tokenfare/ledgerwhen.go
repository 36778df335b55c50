package main

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

var agoForm = regexp.MustCompile(`^([0-9]{1,6})(m|h|d)$`)

// momentForms are the ways in which an instant can be written, in the configured time zone where it names none.
var momentForms = []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}

// momentOf reads an instant: "2026-11-21 14:03", or how long ago it was, as in 90m, 2h and 3d.
func momentOf(text string, now time.Time, zone *time.Location) (time.Time, error) {
	if m := agoForm.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[m[2]]
		if err == nil && n <= int(100*365*24*time.Hour/unit) {
			return now.Add(-time.Duration(n) * unit), nil
		}
	}
	for _, form := range momentForms {
		if t, err := time.ParseInLocation(form, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf(`%q is no time: write one such as "%s", or how long ago it was, as in 90m, 2h or 3d`, text, now.In(zone).Format("2006-01-02 15:04"))
}
