package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// pollEvery is how often the files are looked at. Their content decides, not their time: Kubernetes swaps links.
const pollEvery = 3 * time.Second

// reloader puts a changed configuration into effect. A file with mistakes keeps the running policy and says so.
type reloader struct {
	path    string
	app     *app
	started *Config  // whose listeners, store and sizes are in use
	watched []string // files and globs
	content [sha256.Size]byte
	every   time.Duration
	hangup  chan os.Signal
}

func newReloader(path string, config *Config, a *app) *reloader {
	return &reloader{
		path: path, app: a, started: config, watched: config.watched, content: contentOf(config.watched),
		every: pollEvery, hangup: make(chan os.Signal, 1),
	}
}

// run reloads on SIGHUP and when content changes, until ctx ends.
func (r *reloader) run(ctx context.Context) {
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.hangup:
			r.reload(ctx, "signal")
		case <-tick.C:
			if contentOf(r.watched) != r.content {
				r.reload(ctx, "content")
			}
		}
	}
}

func (r *reloader) reload(ctx context.Context, why string) {
	if isPipe(r.path) {
		r.refuse(why, errors.New("it is a pipe, and what was read from it cannot be read again; write the configuration to a file"))
		return
	}
	// Looked at before it is read: a change that comes in between is seen by the next look. What a refused file names is
	// watched, too, for it may be mended there.
	r.watched = append(r.watched, watchedBy(r.path)...)
	slices.Sort(r.watched)
	r.watched = slices.Compact(r.watched)
	r.content = contentOf(r.watched)
	config, err := loadConfig(r.path)
	if err != nil {
		r.refuse(why, err)
		return
	}
	spec, warnings, err := config.compile()
	if err != nil {
		r.refuse(why, err)
		return
	}
	if err := mayListen(r.started.Listen, spec); err != nil {
		r.refuse(why, err)
		return
	}
	catalog, err := config.priceList()
	if err != nil {
		r.refuse(why, err)
		return
	}
	spec.Files = r.app.spec.Files
	policy, err := proxy.NewPolicy(spec, r.app.limiter, catalog)
	if err != nil {
		r.refuse(why, err)
		return
	}
	defer r.app.corrects.pause()()
	if err := r.app.restore(ctx, policy); err != nil {
		r.refuse(why, err)
		return
	}
	r.app.server.SetPolicy(policy)
	r.app.notifier.Set(config.notices())
	r.app.reloads.WithLabelValues("ok").Inc()
	for _, w := range warnings {
		r.app.log.Warn("config", "warning", w)
	}
	if needs := restartNeeded(r.started, config); len(needs) > 0 {
		r.app.log.Warn("config", "warning", strings.Join(needs, ", ")+": changes of these take effect at the next start")
	}
	r.app.log.Info("configuration reloaded", "file", r.path, "because_of", why)
}

func (r *reloader) refuse(why string, err error) {
	r.app.reloads.WithLabelValues("refused").Inc()
	r.app.log.Error("configuration not reloaded; the running one stays in effect", "file", r.path, "because_of", why, "error", err.Error())
}

// restartNeeded names the settings that changed and are only read at the start.
func restartNeeded(old, fresh *Config) []string {
	var names []string
	changed := func(name string, differs bool) {
		if differs {
			names = append(names, name)
		}
	}
	changed("listen", old.Listen != fresh.Listen)
	changed("admin", old.Admin != fresh.Admin)
	changed("tls", (old.TLS == nil) != (fresh.TLS == nil) || old.TLS != nil && *old.TLS != *fresh.TLS)
	changed("store", old.Store != fresh.Store)
	changed("ledger", old.Ledger != fresh.Ledger)
	changed("max_body", old.MaxBody != fresh.MaxBody)
	changed("max_buffered", old.MaxBuffered != fresh.MaxBuffered)
	a, b := old.Timeouts, fresh.Timeouts
	a.Headers = b.Headers // compiled into the policy
	changed("timeouts", a != b)
	return names
}

// isPipe reports whether there is a pipe: opening it waits for somebody to write to it, for ever perhaps.
func isPipe(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// contentOf digests every file that the paths and globs name.
func contentOf(patterns []string) [sha256.Size]byte {
	h := sha256.New()
	for _, pattern := range patterns {
		files, _ := filepath.Glob(pattern) // a bad pattern was a mistake when the configuration was read
		if len(files) == 0 {
			files = []string{pattern}
		}
		slices.Sort(files)
		for _, file := range files {
			h.Write([]byte(file + "\x00"))
			var content []byte
			err := errors.ErrUnsupported
			if !isPipe(file) {
				content, err = os.ReadFile(file)
			}
			if err != nil {
				io.WriteString(h, "unreadable") //nolint:errcheck // a hash takes everything
			}
			digest := sha256.Sum256(bytes.TrimSpace(content))
			h.Write(digest[:])
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}
