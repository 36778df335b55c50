package reconcile

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
)

// jsonReport is a Report as programs read it. Costs are dollars, exactly.
type jsonReport struct {
	Drift     bool       `json:"drift"`
	First     *Date      `json:"first,omitempty"`
	Last      *Date      `json:"last,omitempty"`
	Days      int        `json:"days"`
	Tolerance string     `json:"tolerance"`
	Lines     []jsonLine `json:"lines"`
	Notes     []string   `json:"notes"`
}

type jsonLine struct {
	Day            Date                   `json:"day"`
	Model          string                 `json:"model"`
	LedgerModels   []string               `json:"ledger_models"`
	ProviderModels []string               `json:"provider_models"`
	Ledger         map[string]json.Number `json:"ledger"`
	Provider       map[string]json.Number `json:"provider"`
	Difference     map[string]json.Number `json:"difference"`
	Beyond         []string               `json:"beyond"` // figures that differ by more than the tolerance
	Cause          Cause                  `json:"cause,omitempty"`
	Suspected      string                 `json:"suspected,omitempty"`
}

// JSON prints the report as one JSON object, with all its lines.
func (r *Report) JSON(w io.Writer) error {
	out := jsonReport{Drift: r.Drift(), Days: r.Days, Tolerance: r.Tolerance.String(), Lines: []jsonLine{}, Notes: r.Notes}
	if r.Days > 0 {
		out.First, out.Last = &r.First, &r.Last
	}
	if out.Notes == nil {
		out.Notes = []string{}
	}
	for i := range r.Lines {
		out.Lines = append(out.Lines, r.Lines[i].json())
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

func (l *Line) json() jsonLine {
	out := jsonLine{
		Day: l.Date, Model: l.Model, LedgerModels: l.LedgerModels, ProviderModels: l.ProviderModels,
		Ledger: map[string]json.Number{}, Provider: map[string]json.Number{}, Difference: map[string]json.Number{},
		Beyond: []string{}, Cause: l.Cause, Suspected: l.Why,
	}
	for _, names := range []*[]string{&out.LedgerModels, &out.ProviderModels} {
		if *names == nil {
			*names = []string{}
		}
	}
	for _, f := range figureNames {
		if l.Compared&f.figure == 0 {
			continue
		}
		here, there := l.Ledger.figure(f.figure), l.Provider.figure(f.figure)
		out.Ledger[f.key], out.Provider[f.key] = jsonNumber(f.figure, here), jsonNumber(f.figure, there)
		out.Difference[f.key] = jsonNumber(f.figure, minus(there, here))
		if l.Beyond&f.figure != 0 {
			out.Beyond = append(out.Beyond, f.key)
		}
	}
	return out
}

// jsonNumber writes an amount: whole numbers as they are, nano-dollars as dollars.
func jsonNumber(f Figures, n int64) json.Number {
	if f == Cost {
		return json.Number(strings.Replace(cost.NanoUSD(n).String(), "$", "", 1))
	}
	return json.Number(strconv.FormatInt(n, 10))
}
