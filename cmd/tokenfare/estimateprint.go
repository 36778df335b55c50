package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
)

// printEstimate prints what a request would be charged, and why.
func printEstimate(out io.Writer, e *proxy.Explanation) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	printModel(w, e)
	printInput(w, e)
	printOutput(w, e)
	printCost(w, e)
	printDraws(w, e)
	return w.Flush()
}

func printModel(w io.Writer, e *proxy.Explanation) {
	fmt.Fprintf(w, "model\t%s\n", e.Model)
	if e.ServedAs != e.Model {
		fmt.Fprintf(w, "served as\t%s\n", e.ServedAs)
	}
	counted := e.Facts.Encoding
	if !e.Facts.KnownEncoding {
		counted += ", a guess: the model's own vocabulary is not known"
	}
	if e.Facts.Ratio > 0 {
		counted += ", times " + e.Facts.Ratio.String()
	}
	fmt.Fprintf(w, "counted with\t%s\n", counted)
	fmt.Fprintf(w, "basis\t%s\n\n", e.Estimate.Basis)
}

// printInput prints the input by part. Text is called by the member that holds it.
func printInput(w io.Writer, e *proxy.Explanation) {
	fmt.Fprintln(w, "INPUT\tTOKENS\tBASIS")
	for part, n := range e.Estimate.ByPart {
		name := cost.Part(part).String()
		if cost.Part(part) == cost.PartMessages {
			name = e.Prompt
		}
		if n > 0 {
			fmt.Fprintf(w, "%s\t%d\t%s\n", name, n, e.Estimate.BasisOf[part])
		}
	}
	fmt.Fprintf(w, "total\t%d\n\n", e.Estimate.Input)
}

func printOutput(w io.Writer, e *proxy.Explanation) {
	fmt.Fprintln(w, "OUTPUT\tTOKENS")
	how := "as the request says"
	switch {
	case e.Step > 0:
		how = "no limit in the request: a stream begins with so much, and draws as much again while half of it is left"
	case e.Inserted > 0 && e.Limited:
		how = "the request's limit would be lowered to what is left"
	case e.Inserted > 0:
		how = "no limit in the request: this one would be inserted"
	case !e.Limited && e.Estimate.MaxOutput > 0:
		how = "no limit in the request, and no budget that needs one: assumed"
	case e.Estimate.MaxOutput == 0:
		how = "there is none"
	}
	fmt.Fprintf(w, "at most\t%d\t%s\n", e.Estimate.MaxOutput, how)
	if e.Choices > 1 && e.Estimate.MaxOutput > 0 {
		fmt.Fprintf(w, "choices\t%d\t%d tokens each\n", e.Choices, e.Estimate.MaxOutput/e.Choices)
	}
	if e.Estimate.Beyond > 0 {
		fmt.Fprintf(w, "besides\t%d\tthat no limit bounds: a prediction that does not come true, an echo of the prompt\n", e.Estimate.Beyond)
	}
	fmt.Fprintln(w)
}

func printCost(w io.Writer, e *proxy.Explanation) {
	if !e.Facts.Priced {
		fmt.Fprintf(w, "cost\tunknown: the model has no price; in the configuration, models: { %q: { price: { input: $1, output: $4 } } } gives it one\n", e.Model)
		return
	}
	fmt.Fprintf(w, "cost\t%s … %s\n", e.Floor, e.Ceiling)
	switch units := unitsOf(e.Estimate); {
	case e.Estimate.Input == 0 && e.FloorOutput == 0:
		fmt.Fprintf(w, "\tfor %s\n", strings.Join(units, ", "))
	default:
		fmt.Fprintf(w, "\tleast: every token of input from the cache, and %s of output\n", plural(int(e.FloorOutput), "token"))
		fmt.Fprintln(w, "\tmost: what a budget in dollars reserves")
		if len(units) > 0 {
			fmt.Fprintf(w, "\twith %s\n", strings.Join(units, ", "))
		}
	}
	if e.Estimate.Fees > 0 {
		fmt.Fprintf(w, "\tof it at most %s for tools that the provider runs\n", e.Estimate.Fees)
	}
	if e.Facts.Source == cost.FromRule {
		fmt.Fprintln(w, "\tthe model has no price of its own: `unpriced` in the configuration says what it costs")
	}
}

// unitsOf says what there is that some models are billed for instead of tokens.
func unitsOf(e cost.Estimate) (units []string) {
	if e.Pictures > 0 {
		units = append(units, plural(int(e.Pictures), "picture"))
	}
	if e.Milliseconds > 0 {
		units = append(units, fmt.Sprintf("%d.%03d s of audio", e.Milliseconds/1000, e.Milliseconds%1000))
	}
	if e.Characters > 0 {
		units = append(units, plural(int(e.Characters), "character"))
	}
	return units
}

func printDraws(w io.Writer, e *proxy.Explanation) {
	if len(e.Draws) > 0 {
		fmt.Fprintln(w, "\nBUDGET\tLIMIT\tWOULD TAKE\tOF")
	}
	for _, d := range e.Draws {
		note := ""
		if d.Observed {
			note = "\t(only observed)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s%s\n", d.Owner, d.Limit, d.Amount, d.Capacity, note)
	}
	if e.NeverPasses != "" {
		fmt.Fprintf(w, "\nIt can never pass:\t%s\n", e.NeverPasses)
	}
}
