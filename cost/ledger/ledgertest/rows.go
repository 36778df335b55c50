package ledgertest

import (
	"fmt"
	"reflect"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// full makes a row in which every field is set, to a value that no other field has, so that a field which nobody stores is
// found on the day it is added. IDs are left to the clerk.
func full[T any](n int64) *T {
	row := new(T)
	fill(reflect.ValueOf(row).Elem(), "", &n)
	return row
}

func fill(v reflect.Value, name string, n *int64) {
	*n++
	switch v.Interface().(type) {
	case ledger.ID:
		return
	case time.Duration:
		v.SetInt(*n * int64(time.Microsecond))
		return
	case cost.Basis:
		v.SetUint(1 + uint64(*n)%uint64(cost.Assumed))
		return
	case cost.Tier:
		v.SetUint(1 + uint64(*n)%uint64(cost.OtherTier))
		return
	case cost.Estimate:
		defer func() {
			e := v.Addr().Interface().(*cost.Estimate)
			e.Input = 0
			for _, part := range e.ByPart {
				e.Input += part
			}
		}()
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name, n)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), name, n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), name, n)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("%s %d", name, *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	default:
		panic("BUG: nothing to put into a field of type " + v.Type().String())
	}
}

// call is a plain begin row: so much of one budget is reserved, and a thousand times as many nano-dollars.
func call(key, budget string, n int64) *ledger.Begin {
	return &ledger.Begin{
		Series: ledger.Series{Key: key, Endpoint: "/v1/chat/completions", Upstream: "up"}, Model: "model",
		Estimate: cost.Estimate{Basis: cost.Exact, Input: n, ByPart: [cost.Parts]int64{cost.PartMessages: n}},
		Most:     cost.Usage{Input: n}, Reserved: cost.NanoUSD(1000 * n), Price: "v1",
		Charges: []ledger.Charge{{Budget: tokens(budget), N: n}},
	}
}

func tokens(budget string) ledger.Budget { return ledger.Budget{Name: budget, Unit: "tokens"} }

// answer is a plain end row: n of the budget was used, late of it beyond what was reserved.
func answer(b *ledger.Begin, n, late int64) *ledger.End {
	return &ledger.End{
		Exchange: b.Exchange, Status: 200, Ending: "complete", Basis: ledger.Reported,
		Usage: cost.Usage{Input: n, Output: late}, Cost: cost.NanoUSD(1000 * (n + late)), Took: time.Second,
		Charges: []ledger.Charge{{Budget: b.Charges[0].Budget, N: n, Late: late}},
	}
}

// amend is a plain correction, by n of the budget.
func amend(b *ledger.Begin, e *ledger.End, n int64) *ledger.Correction {
	return &ledger.Correction{
		Exchange: b.Exchange, Series: b.Series, Model: b.Model, Served: e.Served, Label: b.Label,
		Was: e.Basis, Basis: ledger.Reported, Usage: cost.Usage{Input: n}, Cost: cost.NanoUSD(1000 * n), Reason: "bill",
		Charges: []ledger.Charge{{Budget: b.Charges[0].Budget, N: n}},
	}
}
