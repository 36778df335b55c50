package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// The keys of every configuration that Config writes. UpstreamKey is what the proxy knows the upstream by.
const (
	Alice       = "tf-alice secret 7f3a" // keys may hold spaces
	Bob         = "tf-bob-secret-91cc"
	Stranger    = "tf-nobody-0000"
	UpstreamKey = "sk-upstream-secret-55e1"
)

// Config is a configuration with the keys alice and bob and one upstream. Zero fields mean the plainest choice.
type Config struct {
	Upstream      string   // base URL
	Limits        []string // alice's; none: unlimited
	BobLimits     []string // bob's; none: unlimited
	AliceExtra    string   // more members of alice's entry, as flow YAML: "models: [gpt-4o]"
	UpstreamExtra string   // more members of the upstream's entry: "usage: never"
	Models        string   // block YAML in place of the models; "" serves gpt-* under their own names
	More          string   // top-level YAML appended to the file
}

// YAML is the file the program is started with.
func (c Config) YAML() string {
	models := c.Models
	if models == "" {
		models = "  \"gpt-*\": { upstream: fake }\n"
	}
	if !strings.Contains(c.More, "ledger:") {
		c.More += "ledger: { sync: always }\n" // tests read what answers have left in it
	}
	return fmt.Sprintf(`listen: "127.0.0.1:0"
admin: { listen: "127.0.0.1:0" }
upstreams:
  fake: { url: %s, key: %s%s }
models:
%skeys:
  alice: { hash: %s, limits: %s%s }
  bob: { hash: %s, limits: %s }
%s`,
		quote(c.Upstream), quote(UpstreamKey), member(c.UpstreamExtra),
		models,
		quote(Hash(Alice)), limits(c.Limits), member(c.AliceExtra),
		quote(Hash(Bob)), limits(c.BobLimits),
		c.More)
}

// Hash is a key as a configuration file holds it.
func Hash(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func limits(sentences []string) string {
	if len(sentences) == 0 {
		return "none"
	}
	quoted := make([]string, len(sentences))
	for i, s := range sentences {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func member(extra string) string {
	if extra == "" {
		return ""
	}
	return ", " + extra
}

// quote writes a string as JSON, which YAML reads as a double-quoted scalar.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always marshals
	}
	return string(b)
}
