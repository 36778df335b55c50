package main

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/proxy/notify"
)

// NotifyConfig says whom to tell how much of calendar and total budgets is used.
type NotifyConfig struct {
	URL string  // of a webhook, a secret; empty: nobody is told
	At  []int64 // percentages, rising
}

// defaultAt are the thresholds if the configuration names none.
var defaultAt = []int64{80, 100}

func (c *Config) decodeNotify(d *decoder, n *yaml.Node) {
	n = deref(n)
	if isNull(n) {
		return
	}
	d.hideAddresses(n)
	before := len(d.out.list)
	d.members(n, "notify", []member{
		{"url", func(v *yaml.Node) { c.setWebhook(d, v, d.secret(v, "notify.url")) }},
		{"url_file", func(v *yaml.Node) { c.setWebhook(d, v, strings.TrimSpace(d.secretFile(v, "notify.url_file"))) }},
		{"at", func(v *yaml.Node) { c.Notify.At = d.percentages(v) }},
	})
	if len(d.out.list) > before {
		return
	}
	if c.Notify.URL == "" {
		d.problem(n, `write notify: { url: "${SLACK_WEBHOOK}" }`, "notify does not say whom to tell")
	}
	if c.Notify.At == nil {
		c.Notify.At = defaultAt
	}
}

// hideAddresses keeps addresses out of messages wherever they stand: that of a webhook in the wrong place is a secret all the same.
func (d *decoder) hideAddresses(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "://") {
		d.out.secrets.add(n.Value)
	}
	for _, c := range n.Content {
		d.hideAddresses(c)
	}
}

func (c *Config) setWebhook(d *decoder, v *yaml.Node, address string) {
	if address == "" {
		return // a mistake that was reported
	}
	u, err := url.Parse(address)
	switch {
	case c.Notify.URL != "":
		d.problem(v, "keep one of the two", "notify has both url and url_file")
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		d.problem(v, "write the whole address that the webhook's page shows, from https:// to its end", "notify.url is not an http or https address")
	default:
		c.Notify.URL = address
	}
}

var percentage = regexp.MustCompile(`^([0-9]{1,9}) ?%$`)

// percentages reads thresholds, in any order.
func (d *decoder) percentages(n *yaml.Node) []int64 {
	const fix = `write percentages from 1% to 100%, as in at: ["80%", "100%"]`
	texts, at := d.texts(n, "notify.at")
	list := []int64{}
	for i, s := range texts {
		m := percentage.FindStringSubmatch(strings.TrimSpace(s))
		if m == nil {
			d.out.add(at[i], fix, "%.20q is not a whole percentage", s)
			continue
		}
		p, err := strconv.ParseInt(m[1], 10, 64)
		switch {
		case err != nil || p < 1 || p > 100:
			d.out.add(at[i], fix, "%s is not a part of a budget", m[0])
		case slices.Contains(list, p):
			d.out.add(at[i], "keep one of them", "%s is named twice", m[0])
		default:
			list = append(list, p)
		}
	}
	if n = deref(n); n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		d.problem(n, fix, "notify.at is empty, so nobody would ever be told")
	}
	slices.Sort(list)
	return list
}

// notices is whom to tell, in the terms of the package that does.
func (c *Config) notices() notify.Settings {
	return notify.Settings{URL: c.Notify.URL, At: c.Notify.At, Zone: c.zone, Help: c.Help}
}
