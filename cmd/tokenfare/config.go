package main

import (
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// Config is the configuration as it was written: read once, compiled, then dropped. Names are in the order of
// the file. Secrets are already read from where they are kept; paths are relative to the working directory.
type Config struct {
	Listen    string      // host:port callers connect to
	Admin     AdminConfig // metrics and administration
	TLS       *TLSConfig  // nil: plain HTTP
	Help      string      // last sentence of every refusal
	Upstreams []UpstreamConfig
	Models    []ModelConfig
	CORS      []string // origins whose pages may call; "*" is all
	Plans     []PlanConfig
	Keys      []KeyConfig
	Groups    []GroupConfig
	Store     StoreConfig
	Ledger    LedgerConfig
	State     string // "owned" or "refused": what may be stored at providers; empty: owned, where there is a ledger
	Notify    NotifyConfig
	Prices    string         // path of a price file; empty: the built-in list alone
	Unpriced  proxy.Unpriced // what models cost whose price is not known
	Learned   bool           // calls without an output limit are given what the model's answers have been content with
	Timeouts  TimeoutsConfig

	MaxBody     int64 // bytes of one request body
	MaxBuffered int64 // bytes of all request bodies held at once

	zone     *time.Location // where days and months begin
	catalog  *cost.Catalog  // the built-in list with the price file in front of it; nil: not read yet
	root     *source
	watched  []string  // every file and include glob the configuration was read from
	includes []written // globs, relative to the main file

	ledgerSaid bool // the configuration says where the ledger is, or that there is none

	listenAt, adminAt, maxBufferedAt, pricesAt, stateAt place
}

// written is a text and where it stands.
type written struct {
	text string
	at   place
}

// AdminConfig is the second listener.
type AdminConfig struct {
	Listen string // host:port; loopback unless said otherwise
	Token  string // asked of whoever reads metrics, calls and budgets; empty: nobody is asked, and nothing can be changed
}

// TLSConfig names the certificate callers are shown.
type TLSConfig struct {
	Cert, Key string // paths of PEM files
}

// StoreConfig says where budgets are counted.
type StoreConfig struct {
	URL string // "memory"
}

// TimeoutsConfig holds the times after which the proxy gives up waiting. Only draw cuts a stream that is
// alive: one that a budget has nothing left for.
type TimeoutsConfig struct {
	Headers       time.Duration // for the upstream's response headers: reasoning models think long
	Idle          time.Duration // for the next byte of a response
	Draw          time.Duration // for a budget to refill that a streamed answer draws on
	Drain         time.Duration // for running calls to end at shutdown
	RequestHeader time.Duration // for a caller's request header
	RequestBody   time.Duration // for a caller's request body, over and above an allowance for its size
	ShutdownDelay time.Duration // between saying "not ready" and closing the listener
}

// UpstreamConfig is one provider and one account there.
type UpstreamConfig struct {
	Name    string
	URL     string            // base, such as https://api.openai.com/v1
	Key     string            // empty: the upstream wants none
	Auth    string            // "", "bearer" or "api-key": how the key is sent
	Query   map[string]string // sent with every request
	CAFile  string            // path; empty: the system's roots
	Usage   string            // "inject" or "never"
	Limits  []limit.Limit
	Forward []string          // names of callers' headers that are sent to it
	Set     map[string]string // headers that are sent with every request
	Region  string            // "", "eu" or "us"
	Tier    cost.Tier         // of calls that ask for none

	at place
}

// ModelConfig says where a model is served and what it costs. Zero numbers mean "as the price list says".
type ModelConfig struct {
	Pattern      string // exact name or glob
	Upstream     string
	Pool         []PoolConfig // several upstreams, in place of Upstream
	Model        string       // the name the upstream knows it by; empty: the caller's
	CountsAs     string       // the model whose tokens and prices it counts with
	OutputMember string       // "", "max_completion_tokens" or "max_tokens"

	DefaultOutputTokens, MaxOutputTokens, ContextTokens, ImageTokens int64

	Ratio     cost.Ratio // tokens of its text for each that is counted; 0: one
	Reasoning *bool
	Price     *cost.Price
	Fees      map[string]cost.Fee // of tools that the upstream runs, by their type

	at, upstreamAt, modelAt, countsAsAt place
}

// PlanConfig is a named set of limits that keys share the wording of, not the budget.
type PlanConfig struct {
	Name   string
	Limits []limit.Limit

	at       place
	limitsAt []place
	unread   bool // a mistake in it was reported
}

// KeyConfig is one caller.
type KeyConfig struct {
	Name      string
	Hashes    [][32]byte // SHA-256 of each secret that opens this key
	Plan      string     // empty: none
	Limits    []limit.Limit
	Unlimited bool          // "limits: none" was said aloud
	Extra     []limit.Extra // raise some of its plan's limits or its own, each until its date
	Models    []string      // globs of the models it may use; empty: all
	Expires   time.Time     // zero: never
	Disabled  bool
	TooLongAs string // "" or "context_length_exceeded"
	Output    proxy.Output

	at, planAt place
	hashesAt   []place
	unread     bool // a mistake in it was reported: what seems absent may only be misread
	limited    bool // it says `plan` or `limits`
	limitsAt   []place
	extraAt    []place
}

// GroupConfig is a pool that several keys, and other groups, draw on together.
type GroupConfig struct {
	Name   string
	Keys   []string // names; "*" is every key
	Groups []string
	Limits []limit.Limit

	at               place
	keysAt, groupsAt []place
	limitsAt         []place
}

// defaultConfig is what holds where the file is silent.
func defaultConfig() *Config {
	return &Config{
		Listen: "127.0.0.1:8080",
		Admin:  AdminConfig{Listen: "127.0.0.1:9090"},
		Store:  StoreConfig{URL: "memory"},
		Timeouts: TimeoutsConfig{
			Headers:       20 * time.Minute,
			Idle:          10 * time.Minute,
			Draw:          30 * time.Second,
			Drain:         10 * time.Minute,
			RequestHeader: 10 * time.Second,
			RequestBody:   60 * time.Second,
		},
		MaxBody:     32 << 20,
		MaxBuffered: 80 << 20,
		zone:        time.UTC,
	}
}
