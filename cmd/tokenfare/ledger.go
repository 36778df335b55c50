package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/postgres"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// LedgerConfig says where it is kept what was spent.
type LedgerConfig struct {
	URL   string        // sqlite:PATH; empty: nothing is kept
	Serve bool          // on_failure: serve
	Keep  time.Duration // for how long there are rows; sums are kept for ever
	Sync  time.Duration // for how long rows may be on their way to the disk while their answers leave; syncAlways: answers wait for it
}

// defaultLedger is the file in which a ledger is kept if the configuration says nothing else: beside the configuration.
const defaultLedger = "usage.db"

// defaultKeep is for how long rows are kept.
const defaultKeep = 90 * 24 * time.Hour

func (c *Config) decodeLedger(d *decoder, n *yaml.Node) {
	if v := deref(n); v.Kind == yaml.ScalarNode && v.Value == "none" {
		c.Ledger = LedgerConfig{}
		c.ledgerSaid = true
		return
	}
	d.members(n, "ledger", []member{
		{"url", func(v *yaml.Node) {
			if s, ok := d.text(v, "ledger.url"); ok {
				c.setLedger(d, v, s)
			}
		}},
		{"url_file", func(v *yaml.Node) { c.setLedger(d, v, d.secretFile(v, "ledger.url_file")) }},
		{"on_failure", func(v *yaml.Node) { c.Ledger.Serve = d.choice(v, "ledger.on_failure", "refuse", "serve") == "serve" }},
		{"keep", func(v *yaml.Node) { set(&c.Ledger.Keep, d.keep(v)) }},
		{"sync", func(v *yaml.Node) { set(&c.Ledger.Sync, d.sync(v)) }},
	})
}

// setLedger takes where the ledger is. Databases' URLs hold passwords.
func (c *Config) setLedger(d *decoder, v *yaml.Node, url string) {
	if c.ledgerSaid {
		d.problem(v, "keep one of the two", "url and url_file are both given")
	}
	if c.ledgerSaid = true; url != "" {
		c.Ledger.URL = d.ledgerURL(v, url)
	}
}

// ledgerURL reads where a ledger is. A path is relative to the configuration.
func (d *decoder) ledgerURL(n *yaml.Node, s string) string {
	const fix = "write sqlite: and the path of a file, as in url: \"sqlite:usage.db\", or postgres://USER:PASSWORD@HOST/DATABASE"
	if isPostgres(s) {
		d.out.secrets.add(s)
		return s
	}
	path, is := strings.CutPrefix(s, "sqlite:")
	switch {
	case !is && strings.Contains(s, "@"):
		d.out.secrets.add(s)
		d.problem(n, fix, "ledger.url is not a ledger")
	case !is:
		d.problem(n, fix, "ledger.url is not a ledger")
	case path == "":
		d.problem(n, fix, "ledger.url names no file")
	default:
		return "sqlite:" + d.path(strings.TrimPrefix(path, "//"))
	}
	return ""
}

var inDays = regexp.MustCompile(`^([0-9]{1,5}) ?(?:d|days?)$`)

// keep reads a number of days.
func (d *decoder) keep(n *yaml.Node) time.Duration {
	s, ok := d.text(n, "ledger.keep")
	if !ok {
		return 0
	}
	m := inDays.FindStringSubmatch(s)
	if m == nil {
		d.problem(n, "write a number of days, as in keep: 90d", "ledger.keep is not a number of days")
		return 0
	}
	days, err := strconv.Atoi(m[1])
	if err != nil || days < 1 {
		d.problem(n, "write at least 1d", "ledger.keep is no time at all: what runs could not be recorded")
		return 0
	}
	return time.Duration(days) * 24 * time.Hour
}

// dataVariable names the environment variable that says in which directory the ledger is kept by default: where the
// configuration's own is read-only, as in a container.
const dataVariable = "TOKENFARE_DATA"

// ledgerDefaults fills in what the configuration leaves open.
func (c *Config) ledgerDefaults(d *decoder) {
	if !c.ledgerSaid {
		c.Ledger.URL = "sqlite:" + d.path(filepath.Join(os.Getenv(dataVariable), defaultLedger))
	}
	if c.Ledger.Keep == 0 {
		c.Ledger.Keep = defaultKeep
	}
	if c.Ledger.Sync == 0 {
		c.Ledger.Sync = defaultSync
	}
}

var errNoLedger = errors.New("there is no ledger: the configuration says `ledger: none`")

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// rollIdle is how often this program says that all it wrote is in the sums, where others may write to the ledger, too.
func (c LedgerConfig) rollIdle() time.Duration {
	if isPostgres(c.URL) {
		return 15 * time.Second
	}
	return 0
}

// openLedger opens a ledger to write, and says in the log what a process that died has left beside it.
func openLedger(ctx context.Context, url string, log *slog.Logger) (ledger.Store, error) {
	if path, is := strings.CutPrefix(url, "sqlite:"); is {
		return sqlite.OpenLogging(ctx, path, log)
	}
	if isPostgres(url) {
		return postgres.Open(ctx, url)
	}
	return nil, unknownLedger(url)
}

// mayPass reports that a ledger which could not be opened may be so later, though nobody changes the configuration.
func mayPass(url string, err error) bool {
	if isPostgres(url) {
		return postgres.MayPass(err)
	}
	return sqlite.MayPass(err)
}

// readLedger opens a ledger to read, whoever writes to it.
func readLedger(ctx context.Context, url string) (ledger.Store, error) {
	if url == "" {
		return nil, errNoLedger
	}
	if path, is := strings.CutPrefix(url, "sqlite:"); is {
		return sqlite.OpenReader(ctx, path)
	}
	if isPostgres(url) {
		return postgres.OpenReader(ctx, url)
	}
	return nil, unknownLedger(url)
}

// unknownLedger does not repeat the URL, which may hold a password.
func unknownLedger(url string) error {
	scheme, _, _ := strings.Cut(url, ":")
	return fmt.Errorf("open ledger: there is no kind of ledger called %.20q; write sqlite:PATH or postgres://…", scheme)
}
