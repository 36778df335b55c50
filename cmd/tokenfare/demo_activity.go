package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
)

// activity is a slog.Handler that tells a person at a terminal what the proxy does: one line for each request, in words.
// Warnings and errors are shown, too; other records are not for people.
//
//	15:04:05  alice  gpt-5-mini  200  reserved 50,021  used 148 tokens  $0.000294  3.2s
type activity struct {
	out   io.Writer
	attrs []slog.Attr
	group string // prefix of the names of attributes still to come
}

// newActivity writes to w, one call for each line. Like the handler, w must be safe for concurrent use.
func newActivity(w io.Writer) *activity { return &activity{out: w} }

// Enabled reports that all but debug records are wanted.
func (a *activity) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// WithAttrs returns a handler whose records all have these attributes.
func (a *activity) WithAttrs(attrs []slog.Attr) slog.Handler {
	b := *a
	b.attrs = slices.Clone(a.attrs)
	for _, attr := range attrs {
		attr.Key = a.group + attr.Key
		b.attrs = append(b.attrs, attr)
	}
	return &b
}

// WithGroup returns a handler that puts the group's name before those of its attributes.
func (a *activity) WithGroup(name string) slog.Handler {
	if name == "" {
		return a
	}
	b := *a
	b.group += name + "."
	return &b
}

// Handle writes the line for a record, if it gets one.
func (a *activity) Handle(_ context.Context, r slog.Record) error {
	facts := make(map[string]slog.Value, len(a.attrs)+r.NumAttrs())
	names := make([]string, 0, cap(a.attrs)+r.NumAttrs())
	note := func(name string, v slog.Value) {
		names, facts[name] = append(names, name), v.Resolve()
	}
	for _, attr := range a.attrs {
		note(attr.Key, attr.Value)
	}
	r.Attrs(func(attr slog.Attr) bool {
		note(a.group+attr.Key, attr.Value)
		return true
	})

	var line bytes.Buffer
	line.WriteString(r.Time.Format(time.TimeOnly))
	switch _, isRequest := facts["status"]; {
	case isRequest:
		requestLine(&line, facts)
	case r.Level >= slog.LevelWarn:
		fmt.Fprintf(&line, "  %s: %s", strings.ToLower(r.Level.String()), r.Message)
		for _, name := range names {
			fmt.Fprintf(&line, "  %s=%s", name, facts[name])
		}
	default:
		return nil
	}
	line.WriteByte('\n')
	_, err := a.out.Write(line.Bytes())
	return err
}

// requestLine writes who called what and how it went: what was reserved before and used in the end, or why it was refused.
func requestLine(line *bytes.Buffer, facts map[string]slog.Value) {
	text := func(name string) string {
		if v, ok := facts[name]; ok {
			return v.String()
		}
		return ""
	}
	what := text("model")
	if what == "" {
		what = text("method") + " " + text("path")
	}
	fmt.Fprintf(line, "  %-5s  %-10s  %s", orDash(text("key")), what, text("status"))
	switch by := text("refused_by"); {
	case by != "":
		fmt.Fprintf(line, "  refused by %s", strings.TrimPrefix(by, "key "+text("key")+", "))
		if wait := number(facts, "wait_ms"); wait > 0 {
			fmt.Fprintf(line, "  wait %s", seconds(wait))
		}
		return
	case number(facts, "reserved_tokens") > 0:
		fmt.Fprintf(line, "  reserved %-6s  used %-6s tokens  %-9s",
			thousands(number(facts, "reserved_tokens")), thousands(number(facts, "settled_tokens")), text("cost"))
	case text("code") != "":
		line.WriteString("  " + text("code"))
	}
	line.WriteString("  " + seconds(number(facts, "took_ms")))
	if ending := text("ending"); ending != "" && ending != "complete" {
		line.WriteString(remarks[text("basis")])
	}
}

// remarks explain what a call was charged that did not simply end with the upstream's own count.
var remarks = map[string]string{
	"nothing":    "  nothing charged",
	"reported":   "  cut off: charged what was reported",
	"counted":    "  no usage reported: charged what was counted",
	"unreported": "  cut off, usage unknown: charged the whole reservation",
	"distrusted": "  usage not credible: charged what was counted or reserved, whichever is more",
}

// number returns an integer attribute, 0 if there is none of that name.
func number(facts map[string]slog.Value, name string) int64 {
	if v, ok := facts[name]; ok && v.Kind() == slog.KindInt64 {
		return v.Int64()
	}
	return 0
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// seconds writes milliseconds to the tenth of a second, which is as much as anybody watching can tell.
func seconds(ms int64) string {
	return strconv.FormatFloat(float64(ms)/1000, 'f', 1, 64) + "s"
}

// thousands writes n with commas: 1,234,567.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(digits) - 3; i > start; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
