package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

const checkHelp = `Find every mistake in a configuration, or print what it means.

  tokenfare check -config config.yaml
      Mistakes: each with its line and the fix, exit code 1.
      None: every key's limits in plain words, and the most money it can spend; then warnings, exit code 0.

Variables such as ${OPENAI_API_KEY} must be set, as for serve. Nothing is sent anywhere.

Flags:
`

// runCheck is the subcommand.
func runCheck(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("config", "config.yaml", "configuration `FILE`")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), checkHelp)
		flags.PrintDefaults()
	}
	if code, proceed := parseFlags(flags, args, stdout); !proceed {
		return code
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "tokenfare check: unexpected %q; name the configuration with -config\n", flags.Arg(0))
		return 2
	}
	config, err := loadConfig(*path)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	_, warnings, err := config.compile()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	catalog, err := config.priceList()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	report{config: config, catalog: catalog, now: time.Now()}.write(stdout, *path, warnings)
	return 0
}

// report prints what a configuration means.
type report struct {
	config  *Config
	catalog *cost.Catalog
	now     time.Time
}

func (r report) write(w io.Writer, path string, warnings []string) {
	c := r.config
	fmt.Fprintf(w, "%s is fine: %s, %s, %s, %s.\n", path, plural(len(c.Keys), "key"), plural(len(c.Groups), "group"), plural(len(c.models()), "model"), plural(len(c.Upstreams), "upstream"))
	offers := c.offers(r.catalog)
	pools := c.pools()
	upstreams := c.upstreamLimits()
	for _, k := range c.Keys {
		usable := k.usable(offers)
		fmt.Fprintf(w, "\n%s%s\n", k.Name, r.notes(k))
		all := c.raised(k, r.now)
		rows := [][2]string{}
		rows = list(rows, "plan "+k.Plan, c.limitsOf(KeyConfig{Plan: k.Plan}))
		rows = list(rows, "own", k.Limits)
		rows = r.listExtra(rows, k)
		for _, g := range pools.of(k.Name) {
			rows = list(rows, "group "+g.Name, g.Limits)
			all = append(all, g.Limits...)
		}
		for _, u := range c.Upstreams {
			if reaches(usable, u.Name) {
				rows = list(rows, "upstream "+u.Name, u.Limits)
			}
		}
		if len(all) == 0 {
			rows = append([][2]string{{"own", "no limits"}}, rows...)
		}
		rows = append(rows, [2]string{"exposure", r.exposure(k, exposed(all, upstreams, usable, r.now))})
		write(w, rows)
	}
	if len(c.Keys) > 0 {
		fmt.Fprint(w, "\nExposure: if the key calls only its dearest model, every token at that model's dearest price, in a month of 31 days.\nLimits of a group or upstream are shared with everyone else who draws on them.\n")
	}
	if c.Notify.URL != "" {
		fmt.Fprintf(w, "\nThe webhook is told when %s of a calendar or total limit is used; `tokenfare notify -test` tries it.\n", c.notices().Thresholds())
	}
	if len(warnings) > 0 {
		fmt.Fprintln(w)
	}
	for _, warning := range warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
}

// notes is what else there is to know about a key.
func (r report) notes(k KeyConfig) string {
	var notes []string
	if k.Disabled {
		notes = append(notes, "disabled")
	}
	switch {
	case k.expired(r.now):
		notes = append(notes, "expired "+k.Expires.Format("2006-01-02 15:04 MST"))
	case !k.Expires.IsZero():
		notes = append(notes, "expires "+k.Expires.Format("2006-01-02 15:04 MST"))
	}
	if len(k.Hashes) > 1 {
		notes = append(notes, plural(len(k.Hashes), "secret"))
	}
	if len(k.Models) > 0 {
		notes = append(notes, "only "+strings.Join(k.Models, ", "))
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, "; ") + ")"
}

func list(rows [][2]string, owner string, limits []limit.Limit) [][2]string {
	for _, l := range limits {
		rows = append(rows, [2]string{owner, l.Plain()})
		owner = ""
	}
	return rows
}

func write(w io.Writer, rows [][2]string) {
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	for _, r := range rows {
		fmt.Fprintf(w, "  %-*s  %s\n", width, r[0], r[1])
	}
}

// exposure says in words what a key can spend.
func (r report) exposure(k KeyConfig, e exposure) string {
	switch {
	case k.Disabled:
		return "$0: the key is disabled"
	case k.expired(r.now):
		return "$0: the key has expired"
	case e.refused != "":
		return "$0: " + e.refused + " has no price, so the limits in dollars refuse it"
	case e.model == "":
		return "none: there is no model it may call"
	case e.unlimited:
		return "unlimited: nothing bounds what it spends on " + e.model
	case e.unpriced:
		return "unknown: there is no price for " + e.model
	}
	return fmt.Sprintf("at most %s a day, %s a month (%s)", cents(e.day), cents(e.month), e.model)
}

// cents prints money rounded up to a cent.
func cents(n cost.NanoUSD) string {
	const cent = 10_000_000
	if r := n % cent; r > 0 && n < 1<<62 {
		n += cent - r
	}
	return limit.FormatAmount(limit.Dollars, int64(n))
}

func reaches(usable []offer, upstream string) bool {
	for _, o := range usable {
		if o.upstream == upstream {
			return true
		}
	}
	return false
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
