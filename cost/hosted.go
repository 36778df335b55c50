package cost

// Hosted is a tool that a request lets the provider run by itself, while it makes the answer.
type Hosted struct {
	Type string // the provider's word for it: web_search, code_interpreter
	Once bool   // it runs once, whatever the request says
}

// Fee is what the provider takes for a tool that it runs.
type Fee struct {
	Call    NanoUSD // each time it runs
	Session NanoUSD // for a request in which it may run at all
	Tokens  int64   // of input that each run adds, at most; 0: DefaultHostedTokens
}

const (
	// DefaultHosted is how often the provider may run tools for one request that sets no limit of its own.
	DefaultHosted = 3

	// DefaultHostedTokens is what a tool that the provider runs adds to the input each time: OpenAI's price list has it as
	// the block of search results that its small models are billed for. Others are billed for what was found, which is
	// commonly less.
	DefaultHostedTokens = 8_000
)

// hosted adds what tools that the provider runs may cost. What they find is input, and each time they have run the model
// reads everything again: the usage that is reported is the sum.
func (e *Estimate) hosted(r Request, m Model) {
	once := int64(0)
	for _, tool := range m.tools(r) {
		fee := m.Fees[tool.Type]
		tokens := fee.Tokens
		if tokens <= 0 {
			tokens = DefaultHostedTokens
		}
		e.Fees = saturatingAdd(e.Fees, max(0, fee.Session))
		if tool.Once {
			e.Fees = saturatingAdd(e.Fees, max(0, fee.Call))
			once = saturatingAdd(once, tokens)
			continue
		}
		e.HostedFee, e.HostedTokens = max(e.HostedFee, fee.Call), max(e.HostedTokens, tokens)
		e.HostedCalls = DefaultHosted
		if r.MostHosted > 0 {
			e.HostedCalls = r.MostHosted
		}
	}
	e.Fees = saturatingAdd(e.Fees, NanoUSD(saturatingMul(int64(e.HostedFee), e.HostedCalls)))
	more := saturatingAdd(once, e.passes(e.HostedCalls))
	e.add(PartHosted, more, Assumed)
}

// tools are those that the provider may run for a request: its own, and the one that the model runs in every call. That is
// the one that is meant where the request asks for one to run once.
func (m Model) tools(r Request) []Hosted {
	if m.Runs == "" {
		return r.Hosted
	}
	tools := []Hosted{{Type: m.Runs, Once: true}}
	for _, tool := range r.Hosted {
		if !tool.Once {
			tools = append(tools, tool)
		}
	}
	return tools
}

// passes is what so many runs add to the input there is without them: that input for each, and what the runs before found.
func (e *Estimate) passes(calls int64) int64 {
	again := saturatingMul(e.Input-e.ByPart[PartHosted], calls)
	return saturatingAdd(again, saturatingMul(e.HostedTokens, saturatingMul(calls, saturatingAdd(calls, 1))/2))
}

// Hosting is the estimate if the provider may run tools only so often, no more than HostedCalls.
func (e Estimate) Hosting(calls int64) Estimate {
	calls = min(max(0, calls), e.HostedCalls)
	tokens := min(e.passes(e.HostedCalls)-e.passes(calls), e.ByPart[PartHosted])
	e.ByPart[PartHosted] -= tokens
	e.Input -= tokens
	e.Fees = max(0, e.Fees-NanoUSD(saturatingMul(int64(e.HostedFee), e.HostedCalls-calls)))
	e.HostedCalls = calls
	return e
}

// Unpriced is the first of the tools that the provider may run for a request whose fee m does not know; empty if there is
// none.
func (m Model) Unpriced(r Request) string {
	for _, tool := range m.tools(r) {
		if _, ok := m.Fees[tool.Type]; !ok {
			return tool.Type
		}
	}
	return ""
}
