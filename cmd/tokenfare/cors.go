package main

import (
	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/proxy"
)

// decodeCORS reads the origins whose pages may call.
func (c *Config) decodeCORS(d *decoder, n *yaml.Node) {
	origins, at := d.texts(n, "cors")
	for i, origin := range origins {
		if !proxy.IsOrigin(origin) {
			d.out.add(at[i], "write a scheme, a host and where needed a port, as browsers do: https://app.example.com; or \"*\" for all", "cors: %q is no origin", origin)
			continue
		}
		c.CORS = append(c.CORS, origin)
	}
}
