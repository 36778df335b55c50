package main

import (
	"fmt"
	"net"
	"strings"
)

func (c *Config) verifyListeners(out *problems) {
	if len(c.Keys) == 0 && !isLoopback(c.Listen) {
		out.add(c.listenAt, "add keys (run `tokenfare keys new alice`), or listen on 127.0.0.1", "without keys the proxy listens on this machine only, not on %q", c.Listen)
	}
	if sameSocket(c.Listen, c.Admin.Listen) {
		at := c.adminAt
		if at.file == nil {
			at = c.listenAt
		}
		out.add(at, "give one of them another port", "listen (%s) and admin.listen (%s) take the same port of the same address", c.Listen, c.Admin.Listen)
	}
}

// openAdmin warns of an admin listener that others can read.
func (c *Config) openAdmin() []string {
	if c.Admin.Token != "" || isLoopback(c.Admin.Listen) {
		return nil
	}
	return []string{fmt.Sprintf("admin.listen %s can be reached by others, and whoever reaches it may read the metrics and who is calling: set admin.token, or listen on 127.0.0.1", c.Admin.Listen)}
}

// isLoopback reports whether only this machine reaches an address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// sameSocket reports whether two addresses cannot both be listened on. Port 0 is another one each time.
func sameSocket(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	portA, portB = strings.TrimLeft(portA, "0"), strings.TrimLeft(portB, "0")
	if errA != nil || errB != nil || portA != portB || portA == "" {
		return false
	}
	local := func(host string) bool { return strings.EqualFold(host, "localhost") }
	ipA, ipB := net.ParseIP(hostA), net.ParseIP(hostB)
	switch {
	case strings.EqualFold(hostA, hostB) || covers(hostA, ipB) || covers(hostB, ipA):
		return true
	case local(hostA):
		return covers(hostB, net.IPv4(127, 0, 0, 1)) || ipB != nil && ipB.IsLoopback()
	case local(hostB):
		return covers(hostA, net.IPv4(127, 0, 0, 1)) || ipA != nil && ipA.IsLoopback()
	default:
		return ipA != nil && ipA.Equal(ipB)
	}
}

// covers reports whether a host means every address of ip's kind: no host and :: mean both kinds, 0.0.0.0 means IPv4. A
// name (nil) may be any address.
func covers(host string, ip net.IP) bool {
	all := net.ParseIP(host)
	return host == "" || all != nil && all.IsUnspecified() && (all.To4() == nil || ip == nil || ip.To4() != nil)
}
