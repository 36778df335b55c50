package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/tokenfare/tokenfare/proxy/notify"
)

const notifyHelp = `Post a test message to the webhook that the configuration names under notify.

  tokenfare notify -test -config config.yaml

Exit code 0: the webhook took it. 1: it did not, or there is none; it says why. While the proxy serves, it tells the webhook of
every calendar and total limit that reaches one of notify.at.

Flags:
`

func runNotify(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("notify", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("config", "config.yaml", "configuration `FILE`")
	test := flags.Bool("test", false, "post a test message")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), notifyHelp)
		flags.PrintDefaults()
	}
	if code, proceed := parseFlags(flags, args, stdout); !proceed {
		return code
	}
	if flags.NArg() > 0 || !*test {
		fmt.Fprintln(stderr, "tokenfare notify: write tokenfare notify -test -config FILE")
		return 2
	}
	config, err := loadConfig(*path)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if config.Notify.URL == "" {
		fmt.Fprintf(stderr, "tokenfare notify: %s names no webhook: add notify: { url: \"${SLACK_WEBHOOK}\" }\n", *path)
		return 1
	}
	if err := notify.Try(ctx, config.notices()); err != nil {
		fmt.Fprintf(stderr, "tokenfare notify: %v\n", err)
		return 1
	}
	fmt.Fprintln(stdout, "the webhook took the message")
	return 0
}
