package main

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// budgetState is what a budget has counted, as operators see it. Amounts are in the budget's unit, nano-dollars for dollars.
type budgetState struct {
	Name      string `json:"name"`  // of its counter, as the ledger has it
	Owner     string `json:"owner"` // "key alice"
	Limit     string `json:"limit"` // its sentence
	Unit      string `json:"unit"`
	Kind      string `json:"kind"` // "per", "in any", "each", "in total", "at once"
	Capacity  int64  `json:"capacity"`
	Used      int64  `json:"used"`
	Held      int64  `json:"held"` // by calls that run
	Remaining int64  `json:"remaining"`
	ResetMS   int64  `json:"reset_ms"` // until it is whole again if nobody spends; 0: it is, or no time makes it so
	Revised   bool   `json:"revised"`  // a reload has changed its limit
}

// budgetStates is the answer to GET /budgets.
type budgetStates struct {
	Budgets []budgetState `json:"budgets"`
	Ledger  *ledgerWriter `json:"ledger,omitempty"` // nil: nothing is recorded
}

// ledgerWriter is who counts these budgets, as the ledger knows it.
type ledgerWriter struct {
	Slot  int       `json:"slot"`
	Since time.Time `json:"since"` // what was in the ledger then has been counted, whoever wrote it
}

// listBudgets answers with the budgets of the configuration in force, in its order.
func (a *app) listBudgets() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		states, err := a.server.Budgets(r.Context())
		if err != nil {
			writeAdminError(w, http.StatusInternalServerError, "internal_error", err.Error())
			return
		}
		out := budgetStatesOf(states)
		if a.books != nil {
			out.Ledger = &ledgerWriter{a.books.writer.Slot(), a.books.opened}
		}
		writeAdmin(w, http.StatusOK, out)
	}
}

func budgetStatesOf(states []proxy.BudgetState) budgetStates {
	out := budgetStates{Budgets: []budgetState{}}
	for _, b := range states {
		out.Budgets = append(out.Budgets, budgetState{
			Name: b.Name, Owner: b.Owner, Limit: b.Limit, Unit: b.Unit, Kind: b.Kind,
			Capacity: b.State.Limit, Used: b.State.Used, Held: b.State.Held, Remaining: b.State.Remaining,
			ResetMS: b.State.ResetAfter.Milliseconds(), Revised: b.Revised,
		})
	}
	return out
}

// adminError is how the admin listener says what is wrong.
type adminError struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func writeAdminError(w http.ResponseWriter, status int, code, message string) {
	var e adminError
	e.Error.Code, e.Error.Message = code, message
	writeAdmin(w, status, e)
}

// writeAdmin answers with JSON.
func writeAdmin(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	_ = out.Encode(v) // who left before the end does not need the rest
}
