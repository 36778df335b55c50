package notify

import (
	"context"
	"strconv"
	"strings"
)

// Try tells the receiver that people would be told there. An error says why it was not told, without its address.
func Try(ctx context.Context, s Settings) error {
	text := "This is a test: people will be told here when " + s.Thresholds() + " of a budget is used."
	if s.Help != "" {
		text += " " + s.Help
	}
	return newHook(nil).post(ctx, s.URL, plain(text))
}

// Thresholds lists them: "80 % or 100 %".
func (s Settings) Thresholds() string {
	names := make([]string, len(s.At))
	for i, at := range s.At {
		names[i] = strconv.FormatInt(at, 10) + " %"
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return strings.Join(names, "")
}
