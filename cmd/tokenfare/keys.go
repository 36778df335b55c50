package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenfare/tokenfare/proxy/limit"
)

const keysHelp = `Make keys for callers. Only a key's hash is kept: the key itself is printed once, here.

  tokenfare keys new alice
      Prints a key for alice and the YAML to paste under keys:.

  tokenfare keys new alice bob -plan team
      Two keys that share the wording of a plan; each has its own budget.

  tokenfare keys new ci -limit '50k tokens per minute, burst 500k' -limit '$5 each day'
      With limits of its own. Single quotes, or the shell takes $5 for a variable.

  tokenfare keys new alice -plan team -w config.yaml
      Adds it to the file, comments and layout kept. A name that is there already is refused.
      A file that does not exist yet is created, with OpenAI as its upstream.

Flags:
`

const (
	keyPrefix  = "tf-"
	keyLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	keyLength  = 40 // letters after the prefix: 238 bits
)

// mintKey makes a new secret for a caller.
func mintKey() (string, error) {
	var b strings.Builder
	b.WriteString(keyPrefix)
	raw := make([]byte, 64)
	for b.Len() < len(keyPrefix)+keyLength {
		if _, err := rand.Read(raw); err != nil {
			return "", fmt.Errorf("make a key: %w", err)
		}
		for _, r := range raw {
			// 248 = 4 × 62: the bytes above would favour the first letters.
			if r < 248 && b.Len() < len(keyPrefix)+keyLength {
				b.WriteByte(keyLetters[r%62])
			}
		}
	}
	return b.String(), nil
}

// hashOf is how a configuration names a secret.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// sentences collects the values of a flag that can be given several times.
type sentences []string

func (s *sentences) String() string { return strings.Join(*s, "; ") }

func (s *sentences) Set(v string) error {
	l, err := limit.Parse(v, nil)
	if err == nil {
		*s = append(*s, l.Text)
	}
	return err
}

// runKeys is the subcommand.
func runKeys(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("keys", flag.ContinueOnError)
	flags.SetOutput(stderr)
	plan := flags.String("plan", "", "`NAME` of the plan the keys are on")
	file := flags.String("w", "", "configuration `FILE` to add the keys to")
	var limits sentences
	flags.Var(&limits, "limit", "a limit, as a `SENTENCE`; may be given several times")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), keysHelp)
		flags.PrintDefaults()
	}
	names, code, proceed := interspersed(flags, args, stdout)
	if !proceed {
		return code
	}
	misused := func(format string, a ...any) int {
		fmt.Fprintf(stderr, "tokenfare keys: "+format+"\n", a...)
		return 2
	}
	if len(names) == 0 || names[0] != "new" {
		return misused("say what to do: tokenfare keys new NAME…   (tokenfare keys --help)")
	}
	if names = names[1:]; len(names) == 0 {
		return misused("name the callers: tokenfare keys new alice bob")
	}
	for i, n := range names {
		if !ownerName.MatchString(n) {
			return misused("%q cannot be a key's name: use up to 64 letters, digits, dots, dashes and underscores", n)
		}
		if slices.Contains(names[:i], n) {
			return misused("%s is named twice", n)
		}
	}
	if *plan != "" && !ownerName.MatchString(*plan) {
		return misused("%q cannot be a plan's name", *plan)
	}
	var made []entry
	for _, n := range names {
		secret, err := mintKey()
		if err != nil {
			fmt.Fprintln(stderr, "tokenfare keys:", err)
			return 1
		}
		made = append(made, entry{name: n, secret: secret, plan: *plan, limits: limits})
	}
	created := false
	if *file != "" {
		var err error
		if created, err = appendKeys(*file, made); err != nil {
			state := "unchanged"
			if created {
				state = "not created"
			}
			fmt.Fprintf(stderr, "tokenfare keys: %s is %s: %v\n", *file, state, err)
			return 1
		}
	}
	show(stdout, made, *file, created)
	return 0
}

// interspersed parses flags that may stand before, between and after the names.
func interspersed(flags *flag.FlagSet, args []string, stdout io.Writer) (names []string, code int, proceed bool) {
	for {
		code, proceed := parseFlags(flags, args, stdout)
		if !proceed {
			return nil, code, false
		}
		if args = flags.Args(); len(args) == 0 {
			return names, 0, true
		}
		names, args = append(names, args[0]), args[1:]
	}
}

// entry is a key to be written down.
type entry struct {
	name, secret, plan string
	limits             []string
}

// yaml is the entry as one line of a keys: mapping, without indentation.
func (e entry) yaml() string {
	s := plainName(e.name) + `: { hash: "` + hashOf(e.secret) + `"`
	if e.plan != "" {
		s += ", plan: " + plainName(e.plan)
	}
	if len(e.limits) > 0 {
		quoted := make([]string, len(e.limits))
		for i, l := range e.limits {
			quoted[i] = strconv.Quote(l)
		}
		s += ", limits: [" + strings.Join(quoted, ", ") + "]"
	}
	if e.plan == "" && len(e.limits) == 0 {
		s += ", limits: none"
	}
	return s + " }"
}

// plainName quotes the names that YAML would take for something else than text.
func plainName(n string) string {
	switch strings.ToLower(n) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(n)
	}
	if '0' <= n[0] && n[0] <= '9' {
		return strconv.Quote(n)
	}
	return n
}

// show prints the secrets, once, and what to do with them.
func show(w io.Writer, made []entry, file string, created bool) {
	width := 0
	for _, e := range made {
		width = max(width, len(e.name))
	}
	keys := "This key is"
	if len(made) > 1 {
		keys = "These keys are"
	}
	fmt.Fprintf(w, "%s shown once; only the hash is kept:\n\n", keys)
	for _, e := range made {
		fmt.Fprintf(w, "  %-*s  %s\n", width, e.name, e.secret)
	}
	switch {
	case created:
		fmt.Fprintf(w, "\nCreated %s, with OpenAI as the upstream. To run it:\n\n  OPENAI_API_KEY=sk-… tokenfare serve -config %s\n", file, file)
	case file != "":
		fmt.Fprintf(w, "\nAdded to %s. A running proxy takes it up by itself within seconds.\n", file)
	default:
		fmt.Fprint(w, "\nPaste into the configuration:\n\nkeys:\n")
		for _, e := range made {
			fmt.Fprintf(w, "  %s\n", e.yaml())
		}
	}
	if e := made[0]; e.plan == "" && len(e.limits) == 0 {
		fmt.Fprint(w, "\nlimits: none means what it says. To limit, use -plan NAME or -limit \"200k tokens per minute\".\n")
	}
}
