package main

import yaml "go.yaml.in/yaml/v4"

// The values of state: whether anything may be stored at providers.
const (
	stateOwned   = "owned"   // by the key that had it made, and used by that key alone
	stateRefused = "refused" // nothing
)

func (c *Config) decodeState(d *decoder, v *yaml.Node) {
	c.State, c.stateAt = d.choice(v, "state", stateOwned, stateRefused), d.place(deref(v))
}

// stateless reports whether nothing may be stored at providers: as the configuration says, or since there is no ledger in which
// it could be recorded whose it is.
func (c *Config) stateless() bool { return c.State == stateRefused || c.Ledger.URL == "" }

func (c *Config) verifyState(out *problems) {
	if c.State == stateOwned && c.Ledger.URL == "" {
		out.add(c.stateAt, "write `state: refused`, or keep a ledger",
			"state: owned needs a ledger, in which it is recorded whose the stored objects are, and there is none (ledger: none)")
	}
}
