package proxy

import (
	"cmp"
	"context"
	"net"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// Spec is everything an operator decides, in neutral form: what a configuration file is compiled into and what [NewPolicy]
// turns into a running [Policy]. It holds no state but Files.
type Spec struct {
	Keys      []KeySpec
	Groups    []GroupSpec
	Models    []ModelSpec
	Upstreams []UpstreamSpec
	Zone      *time.Location // for calendar limits and dates in messages; nil means UTC
	Help      string         // last sentence of every refusal; may be empty
	CORS      []string       // origins whose pages may call, "https://app.example.com" or "*" for all; empty: none
	Stateless bool           // nothing may be stored at providers; so it is, too, where there is no ledger to record whose it is

	Files *upstream.Files // shared with the policies before and after it; nil: connections to upstreams are not bounded
}

// KeySpec is one caller. Only hashes of its secrets are known here.
type KeySpec struct {
	Name      string
	Hashes    [][32]byte    // SHA-256 of each secret that names this caller
	Limits    []limit.Limit // its own and its plan's
	Extra     []limit.Extra // raise some of these, each until its date
	Models    []string      // globs over the names callers use; empty means every configured model
	Expires   time.Time     // zero means never
	Disabled  bool
	TooLongAs string // error code for prompts that can never fit; empty means request_exceeds_budget
	Output    Output // what is done about output limits
}

// GroupSpec is a pool whose budgets are charged together with each member's own.
type GroupSpec struct {
	Name   string
	Keys   []string // names of keys; "*" means all of them
	Groups []string // member groups: their keys are members here, too
	Limits []limit.Limit
}

// ModelSpec says where calls for a model, or for all models a glob matches, go and what they cost. Zero fields leave the
// facts of the built-in catalog as they are.
type ModelSpec struct {
	Pattern       string // exact name or glob; the longest match wins
	Upstream      string
	As            string     // the name the upstream knows the model by; empty means the caller's
	Pool          []PoolSpec // several upstreams that serve it, in place of Upstream and As
	CountsAs      string     // the model whose vocabulary, price and limits apply; empty means the upstream's name
	OutputMember  string     // "max_completion_tokens" or "max_tokens"; empty means the former
	DefaultOutput int64      // tokens
	MaxOutput     int64      // tokens
	Context       int64      // tokens, prompt and output together
	ImageTokens   int64      // cost of one image whose size is not known, or whose cost does not follow from it
	Ratio         cost.Ratio // tokens of the model's text for each that is counted; 0: one
	Reasoning     *bool
	Price         *cost.Price
	Fees          map[string]cost.Fee // of tools that the upstream runs, by their type; they go before those that are known
	Unpriced      Unpriced            // what a model costs whose price is not known
	LearnOutput   bool                // once enough calls were seen, what they produced goes before DefaultOutput
}

// PoolSpec is one of several upstreams that serve a model. Zero fields leave what is true of the model elsewhere.
type PoolSpec struct {
	Upstream     string
	As           string // the name it knows the model by; empty means the caller's
	OutputMember string
	MaxOutput    int64       // tokens
	Context      int64       // tokens; a call that needs more goes to another
	Price        *cost.Price // what the model costs there
	Weight       int         // its share of the callers among those of its priority; zero means 1
	Priority     int         // the lowest is asked first, the others where none of those can take the call; zero means 1
}

// there is what is true of a model at one of the upstreams that serve it.
func (s ModelSpec) there(p PoolSpec) ModelSpec {
	s.Upstream, s.As = p.Upstream, p.As
	s.OutputMember = cmp.Or(p.OutputMember, s.OutputMember)
	s.MaxOutput = cmp.Or(p.MaxOutput, s.MaxOutput)
	s.Context = cmp.Or(p.Context, s.Context)
	s.Price = cmp.Or(p.Price, s.Price)
	return s
}

// Unpriced says what to do with calls for a model whose price is not known.
type Unpriced uint8

const (
	// RefuseUnpriced refuses them where a limit in dollars applies. Elsewhere they pass and cost nothing that is known.
	RefuseUnpriced Unpriced = iota
	// DearestUnpriced charges them what the dearest of the models whose price is known would cost.
	DearestUnpriced
	// FreeUnpriced charges them nothing.
	FreeUnpriced
)

// UpstreamSpec is one OpenAI-compatible server.
type UpstreamSpec struct {
	Name   string
	URL    string            // base URL as an SDK would be given it, for example https://api.openai.com/v1
	Key    string            // empty for servers that want none
	Auth   string            // where the key is sent: "bearer" (default) in Authorization, "api-key" in a header of that name
	Query  map[string]string // sent with every request
	CAFile string            // extra roots in PEM; empty means the system's
	Usage  string            // "inject" (default) asks streams for their usage, "never" leaves stream_options alone
	Limits []limit.Limit
	Region string    // "eu" or "us" where data stays there and calls cost more for it; empty: neither
	Tier   cost.Tier // the service tier that calls get which ask for none, if the account has set one; Unstated: the standard one

	Forward []string          // names of callers' headers that are sent to it, besides those that always are
	Set     map[string]string // headers that are sent with every request

	HeaderTimeout time.Duration // longest wait for an answer's headers; zero means 20 minutes

	// Dial opens connections to it; nil means those of the system's network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}
