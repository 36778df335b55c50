package main

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"sync"
	"time"
)

// certificateAge is how long a certificate is served before its files are looked at again.
const certificateAge = 10 * time.Second

// certificate serves the pair in two files and follows their content, so that a renewal needs no restart. A pair that does not
// fit together, as in the middle of a renewal, leaves the last good one in use. It is safe for concurrent use.
type certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	pair    *tls.Certificate  // guarded by mu
	content [sha256.Size]byte // guarded by mu
	looked  time.Time         // guarded by mu
}

func newCertificate(certFile, keyFile string) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile}
	if err := c.load(); err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	return c, nil
}

// get is for tls.Config.GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) > certificateAge {
		c.looked = time.Now()
		if contentOf([]string{c.certFile, c.keyFile}) != c.content {
			c.loadLocked() //nolint:errcheck // the last good pair stays in use
		}
	}
	return c.pair, nil
}

func (c *certificate) load() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loadLocked()
}

func (c *certificate) loadLocked() error {
	content := contentOf([]string{c.certFile, c.keyFile})
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.pair, c.content, c.looked = &pair, content, time.Now()
	return nil
}
