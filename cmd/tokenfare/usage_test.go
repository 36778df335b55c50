package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/test/harness"
)

func TestUsageGoldens(t *testing.T) {
	u := aWeek(t)
	for name, args := range map[string]string{
		"key.txt":           "",
		"group.txt":         "-by group",
		"day_model.txt":     "-by day,model",
		"key_label.txt":     "-by key,label -since week",
		"upstream.txt":      "-by upstream,endpoint",
		"until.txt":         "-by day -since 2026-11-17 -until 2026-11-18",
		"one_key.txt":       "-by model -key bob -key carol",
		"key.csv":           "-by key,model -csv",
		"label.csv":         "-by label -csv",
		"key.json":          "-json",
		"label.json":        "-by label -json",
		"exchange.txt":      "-id " + u.list[161].Begin.Exchange.String(),
		"exchange.json":     "-json -id " + u.list[161].Begin.Exchange.String(),
		"running.txt":       "-id " + u.list[162].Begin.Exchange.String(),
		"running.json":      "-json -id " + u.list[162].Begin.Exchange.String(),
		"exchange_used.txt": "-id " + u.list[0].Begin.Exchange.String(),
	} {
		golden(t, "testdata/usage/"+name, u.prints(strings.Fields(args)...))
	}
	_, help, _ := u.run("--help")
	golden(t, "testdata/usage/help.txt", help)
}

func TestUsageIsTheSameInPostgres(t *testing.T) {
	server, ok := harness.Postgres(t)
	if !ok {
		return
	}
	url := server.NewDatabase(t)
	u := aWeek(t).keepAt(url)
	for _, args := range []string{"", "-by group,model", "-by day,label -csv", "-by day -since 2026-11-17 -until 2026-11-19", "-json", "-id " + u.list[162].Begin.Exchange.String(), "-since 1h -key bob"} {
		here, there := u.prints(strings.Fields(args)...), u.prints(append(strings.Fields(args), "-ledger", url)...)
		if here != there {
			t.Errorf("usage %s prints\n%sand in Postgres\n%s", args, here, there)
		}
	}
	_, host, _ := strings.Cut(url, "@")
	if code, _, errs := u.run("-ledger", "postgres://nobody:hunter22@"+strings.Replace(host, "/", "/nowhere", 1)); code != 1 || strings.Contains(errs, "hunter22") {
		t.Errorf("%d %s", code, errs)
	}
}

func TestUsageOfNothing(t *testing.T) {
	empty := newUsageBook(t).keep()
	week := aWeek(t)
	for _, c := range []struct {
		book *usageBook
		args string
		want string
	}{
		{empty, "", "no exchanges since 2026-11-14 00:00, Europe/Berlin\nThe ledger is empty: `tokenfare serve` records in it what passes through. Is it the ledger of that proxy?\n"},
		{empty, "-key alce", "no exchanges of key alce since 2026-11-14 00:00, Europe/Berlin\nThe ledger has nothing at all of key alce: did you mean alice?\n"},
		{week, "-key blob", "no exchanges of key blob since 2026-11-14 00:00, Europe/Berlin\nThe ledger has nothing at all of key blob: did you mean bob?\n"},
		{week, "-since 1h -key bob", "no exchanges of key bob since 2026-11-21 00:00, Europe/Berlin\nThe newest are of 2026-11-18: try -since 2026-11-18\n"},
		{week, "-since 2026-11-01 -until 2026-11-10", "no exchanges since 2026-11-01 00:00 until 2026-11-10 00:00, Europe/Berlin\nThe newest are of 2026-11-19: try a later -until, or none\n"},
	} {
		if got := c.book.prints(strings.Fields(c.args)...); got != c.want {
			t.Errorf("usage %s prints\n%swant\n%s", c.args, got, c.want)
		}
	}
	if got := empty.prints("-csv", "-by", "day"); strings.Count(got, "\r\n") != 1 || !strings.HasPrefix(got, "day,requests,") {
		t.Errorf("a table of nothing has its titles: %q", got)
	}
	if got := empty.prints("-json"); !strings.Contains(got, `"rows":[],"total":{"requests":0,`) {
		t.Errorf("JSON of nothing: %s", got)
	}
	code, out, errs := week.run("-key", "alice,blob")
	if code != 0 || !strings.Contains(out, "alice") || errs != "tokenfare usage: there is nothing of key blob in that time: did you mean bob?\n" {
		t.Errorf("one key of two: %d %s%s", code, out, errs)
	}
}

func TestUsageMisused(t *testing.T) {
	u := aWeek(t)
	t.Chdir(u.dir) // there is a config.yaml
	u.write("bad.yaml", "timezone: Berlin\nledger: { url: usage.db }\n")
	u.write("none.yaml", "ledger: none\n")
	u.write("absent.yaml", "ledger: { url: \"sqlite:absent.db\" }\n")
	u.write("text.db", "this is no database at all, but a text that somebody has put there\n")
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"-by modell", `tokenfare usage: -by: usage is not told apart by "modell": did you mean model?`, 2},
		{"-by keys", `tokenfare usage: -by: usage is not told apart by "keys": did you mean key?`, 2},
		{"-by key,key", "tokenfare usage: -by: key is named twice", 2},
		{"-by key,,day", `tokenfare usage: -by: usage is not told apart by "": the names there are: day, endpoint, group, key, label, model, upstream`, 2},
		{"-since yesterday", `tokenfare usage: -since: "yesterday" is no time: write 7d, 24h, month, or a date such as 2026-11-21`, 2},
		{"-since mouth", `tokenfare usage: -since: "mouth" is no time: did you mean month?`, 2},
		{"-since 2026-13-01", `tokenfare usage: -since: "2026-13-01" is no time: write 7d, 24h, month, or a date such as 2026-11-21`, 2},
		{"-since 2026-12-01", "tokenfare usage: -since: 2026-12-01 00:00 has not come yet", 2},
		{"-since 3d -until 4d", "tokenfare usage: -until: 2026-11-17 00:00 is not after -since, 2026-11-18 00:00; a date is the midnight with which it begins", 2},
		{"-json -csv", "tokenfare usage: choose one of -json and -csv", 2},
		{"-live -csv", "tokenfare usage: -live prints tables, or lines of -json: leave out -csv", 2},
		{"-live -until 1d", "tokenfare usage: -live goes on: leave out -until", 2},
		{"-id req_1 -by key", "tokenfare usage: -id prints one exchange, and -by says nothing about it: leave it out", 2},
		{"-id req_1;", `tokenfare usage: -id: read id "req_1;": an id is "req_" and 13 letters and digits, as the log and x-tokenfare-id have it; an upstream's is`, 2},
		{"-id req_1", `tokenfare usage: "req_1" is no id of this proxy's`, 1},
		{"-key alice bob", `tokenfare usage: unexpected "bob": write -key alice,bob`, 2},
		{"config.yaml", `tokenfare usage: unexpected "config.yaml": the configuration is named by -config, and keys by -key`, 2},
		{"-key a/b", `invalid value "a/b" for flag -key: that cannot be the name of a key`, 2},
		{"-config gone.yaml", "gone.yaml: cannot read the file: no such file or directory", 1},
		{"-config bad.yaml", "bad.yaml:1:11: timezone is not a time zone this machine knows", 1},
		{"-config bad.yaml", "bad.yaml:2:16: ledger.url is not a ledger", 1},
		{"-config none.yaml", "tokenfare usage: there is no ledger: the configuration says `ledger: none`", 1},
		{"-config absent.yaml", "tokenfare usage: open ledger absent.db: there is none yet; `tokenfare serve` makes it", 1},
		{"-ledger usage.db", "tokenfare usage: open ledger: there is no kind of ledger called \"usage.db\"; write sqlite:PATH or postgres://…", 1},
		{"-ledger sqlite:text.db", "tokenfare usage: open ledger text.db: this is no ledger, or a damaged one", 1},
		{"-id req_00000000000zz", "tokenfare usage: req_00000000000zz is not in the ledger: it is of 1970-01-01 01:00; look whether", 1},
	} {
		args := strings.Fields(c.args)
		var out, errs bytes.Buffer
		command := usageCommand{now: func() time.Time { return usageNow }, stdout: &out, stderr: &errs}
		if code := command.run(t.Context(), args); code != c.code || !strings.Contains(errs.String(), c.want) || out.Len() > 0 {
			t.Errorf("usage %s exits %d, and prints\n%s%swant %d and\n%s", c.args, code, out.String(), errs.String(), c.code, c.want)
		}
	}
	t.Chdir(t.TempDir())
	if code, _, errs := u.run("-config=config.yaml"); code != 1 || !strings.Contains(errs, "cannot read the file") {
		t.Errorf("%d %s", code, errs)
	}
	var errs bytes.Buffer
	if code := runUsage(t.Context(), nil, &errs, &errs); code != 1 || errs.String() != "tokenfare usage: there is no config.yaml here: name the configuration with -config FILE, or the ledger with -ledger sqlite:usage.db\n" {
		t.Errorf("%d %s", code, errs.String())
	}
}

// TestUsageNeedsNoSecrets: whoever writes a report does not have the keys of the upstreams.
func TestUsageNeedsNoSecrets(t *testing.T) {
	u := aWeek(t)
	u.write("config.yaml", strings.Replace(usageConfig, "sk-none", `"${TOKENFARE_NOT_SET}"`, 1))
	code, out, errs := u.run()
	if want := "tokenfare usage: budgets are not shown, as there is something wrong with the configuration: see `tokenfare check -config " + filepath.Join(u.dir, "config.yaml") + "`\n"; code != 0 || errs != want {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if !strings.Contains(out, "alice") || strings.Contains(out, "BUDGET") {
		t.Error(out)
	}
	// Without a configuration days are those of UTC.
	if out := u.prints("-config=", "-ledger", "sqlite:"+filepath.Join(u.dir, "usage.db"), "-by", "model"); !strings.HasPrefix(out, "2026-11-14 00:00 until now, 2026-11-21 00:30, UTC\n") {
		t.Error(out)
	}
}

func TestMoneyIsNeverNothing(t *testing.T) {
	for n, want := range map[cost.NanoUSD]string{
		0: "$0.00", 1: "$0.000000001", 99: "$0.000000099", 123: "$0.00000012", 294_123: "$0.00029", 995_499: "$0.001", 9_949_999: "$0.0099",
		9_999_999: "$0.01", 10_000_000: "$0.01", 14_999_999: "$0.01", 15_000_000: "$0.02", 1_234_567_890_000_000: "$1,234,567.89",
		-5_000: "-$0.000005", -12_340_000_000: "-$12.34", -1 << 63: "-$9,223,372,036.85", 1<<63 - 1: "$9,223,372,036.85",
	} {
		if got := moneyCell(n); got != want {
			t.Errorf("%d: %s, want %s", int64(n), got, want)
		}
	}
	for _, c := range []struct {
		part, of int64
		want     string
	}{{0, 0, "-"}, {0, 9, "0%"}, {1, 1000, "<1%"}, {1, 3, "33%"}, {999, 1000, ">99%"}, {7, 7, "100%"}, {9, 7, "100%"}} {
		if got := share(c.part, c.of); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.part, c.of, got, c.want)
		}
	}
}

// shows is what a name becomes in each of the three forms.
func TestNamesOfCallersDoNoHarm(t *testing.T) {
	u := newUsageBook(t)
	for i, label := range []string{
		"\x1b]0;owned\x07\x1b[2J", "\u009b31m", "\u202eevil", "a\tb\nc", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "-", "", " =1", "＝1", `q"uo,te`, "日本", "e\u0301",
	} {
		u.call(usageNow.Add(-time.Hour+time.Duration(i)*time.Second), "alice", "", "@cf/meta/llama", label, nil)
	}
	u.keep()
	for _, form := range []string{"", "-json", "-csv"} {
		out := u.prints(append([]string{"-by", "label,model"}, strings.Fields(form)...)...)
		golden(t, fmt.Sprintf("testdata/usage/names%s.txt", form), out)
		for _, r := range strings.NewReplacer("\r\n", "", "\n", "").Replace(out) {
			if r < 0x20 || r == 0x7f || 0x80 <= r && r < 0xa0 || r == 0x202e {
				t.Errorf("%s: %U reaches the terminal:\n%q", form, r, out)
			}
		}
	}
}
