package httplimit

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"

	"github.com/go-chi/chi/v5/middleware"
)

// Client says how a client was told from others.
type Client uint8

// How clients are told apart.
const (
	Unknown   Client = iota // by nothing: all such clients share one budget
	ByAddress               // by the address it calls from
	ByKey                   // by its X-API-Key
)

// String returns "unknown", "address" or "key", fit for a metric's label.
func (c Client) String() string {
	switch c {
	case ByAddress:
		return "address"
	case ByKey:
		return "key"
	default:
		return "unknown"
	}
}

// ipv6Client is how much of an IPv6 address tells one client from another. A host has the whole of its network's 64 bits to
// choose from (RFC 4291 section 2.5.4, RFC 8981), so anything longer is no limit at all. Some providers give one customer a /56
// or /48: such a customer counts as many clients.
const ipv6Client = 64

// hashLength is how many bytes of a key's hash name it: too many for two keys ever to share a name.
const hashLength = 16

// leastHashKey is how many bytes of a secret nobody can guess.
const leastHashKey = 16

// clients finds out who is asking.
type clients struct {
	hashKey     []byte
	known       func(key string) bool
	findAddress func(http.Handler) http.Handler
}

func newClients(o Options) clients {
	c := clients{hashKey: o.HashKey, known: o.KnownKey, findAddress: findAddress}
	switch n := len(c.hashKey); {
	case n > 0 && n < leastHashKey:
		panic(fmt.Sprintf("BUG: httplimit: HashKey has %d bytes, must have at least %d", n, leastHashKey))
	case n == 0:
		c.hashKey = make([]byte, sha256.Size)
		rand.Read(c.hashKey)
	}
	if len(o.TrustedProxies) > 0 {
		trusted := make([]string, len(o.TrustedProxies))
		for i, p := range o.TrustedProxies {
			if !p.IsValid() {
				panic(fmt.Sprintf("BUG: httplimit: TrustedProxies[%d] is no prefix", i))
			}
			trusted[i] = p.String()
		}
		c.findAddress = middleware.ClientIPFromXFF(trusted...)
	}
	return c
}

// findAddress notes the address of the connection, unless middleware of chi's that was set up before this one has already found
// out the client's.
func findAddress(next http.Handler) http.Handler {
	ofConnection := middleware.ClientIPFromRemoteAddr(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if middleware.GetClientIPAddr(r.Context()).IsValid() {
			next.ServeHTTP(w, r)
			return
		}
		ofConnection.ServeHTTP(w, r)
	})
}

// of returns the name of the client's budget. It holds no secret: of a key only a hash, which nobody can compute who does not
// know this process's own random number, so that nobody can search for keys, or for two with the same name.
func (c *clients) of(r *http.Request) (name string, kind Client) {
	if key := r.Header.Get("X-Api-Key"); key != "" && (c.known == nil || c.known(key)) {
		hash := hmac.New(sha256.New, c.hashKey)
		io.WriteString(hash, key) //nolint:errcheck // a hash takes everything
		var sum [sha256.Size]byte
		return "key " + hex.EncodeToString(hash.Sum(sum[:0])[:hashLength]), ByKey
	}
	addr := middleware.GetClientIPAddr(r.Context())
	switch {
	case addr.Is4():
		return "address " + addr.String(), ByAddress
	case addr.IsValid():
		network, _ := addr.Prefix(ipv6Client) // it is an IPv6 address: it has as many bits
		return "address " + network.String(), ByAddress
	default:
		return "unknown", Unknown
	}
}
