package cost

// Hosted is a tool that a request lets the provider run by itself, while it makes the answer.
type Hosted struct {
	Type string // the provider's word for it: web_search, code_interpreter
	Once bool   // it runs once, whatever the request says
}

// Fee is what the provider takes for a tool that it runs, besides tokens.
type Fee struct {
	Call    NanoUSD // each time it runs
	Session NanoUSD // for a request in which it may run at all
}

const (
	// DefaultHosted is how often the provider may run tools for one request that sets no limit of its own.
	DefaultHosted = 10

	// hostedTokens is what a tool that the provider runs adds to the input each time: OpenAI's price list has it as the
	// block of search results that its small models are billed for. Others are billed for what was found, which is
	// commonly less.
	hostedTokens = 8_000
)

// hosted adds what tools that the provider runs may cost. What they find is read by the model, so it is input.
func (e *Estimate) hosted(r Request, m Model) {
	if len(r.Hosted) == 0 {
		return
	}
	var dearest NanoUSD
	for _, tool := range r.Hosted {
		fee := m.Fees[tool.Type]
		e.Fees = saturatingAdd(e.Fees, max(0, fee.Session))
		if tool.Once {
			e.Fees = saturatingAdd(e.Fees, max(0, fee.Call))
			e.add(PartTools, hostedTokens, Assumed)
			continue
		}
		dearest = max(dearest, fee.Call)
		e.HostedCalls = DefaultHosted
		if r.MostHosted > 0 {
			e.HostedCalls = r.MostHosted
		}
	}
	e.HostedFee = max(0, dearest)
	e.Fees = saturatingAdd(e.Fees, NanoUSD(saturatingMul(int64(e.HostedFee), e.HostedCalls)))
	e.add(PartTools, saturatingMul(e.HostedCalls, hostedTokens), Assumed)
}

// Hosting is the estimate if the provider may run tools only so often, no more than HostedCalls.
func (e Estimate) Hosting(calls int64) Estimate {
	fewer := e.HostedCalls - min(max(0, calls), e.HostedCalls)
	e.HostedCalls -= fewer
	e.Fees = max(0, e.Fees-NanoUSD(saturatingMul(int64(e.HostedFee), fewer)))
	tokens := min(saturatingMul(fewer, hostedTokens), e.ByPart[PartTools])
	e.ByPart[PartTools] -= tokens
	e.Input -= tokens
	return e
}

// Unpriced is the first of the tools that the provider is to run whose fee m does not know; empty if there is none.
func (m Model) Unpriced(tools []Hosted) string {
	for _, tool := range tools {
		if _, ok := m.Fees[tool.Type]; !ok {
			return tool.Type
		}
	}
	return ""
}
