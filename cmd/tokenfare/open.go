package main

import (
	"encoding/json"
	"net/http"

	"github.com/tokenfare/tokenfare/proxy"
)

// openCall is a running call as operators see it.
type openCall struct {
	ID    string     `json:"id"` // as in the log
	Key   string     `json:"key"`
	AgeMS int64      `json:"age_ms"`
	Holds []openHold `json:"holds"`
}

// openHold is what it holds of a budget until it has ended.
type openHold struct {
	Budget string `json:"budget"`
	Amount int64  `json:"amount"` // in the budget's unit; nano-dollars for dollars
}

// listOpen answers with the running calls that hold something of a budget, oldest first: who keeps it busy, and for how long.
func listOpen(s *proxy.Server) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		list := struct {
			Open []openCall `json:"open"`
		}{[]openCall{}}
		for _, c := range s.OpenCalls() {
			call := openCall{ID: c.ID, Key: c.Key, AgeMS: c.Age.Milliseconds()}
			for _, h := range c.Holds {
				call.Holds = append(call.Holds, openHold(h))
			}
			list.Open = append(list.Open, call)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		_ = out.Encode(list) // who left before the end does not need the rest
	}
}
