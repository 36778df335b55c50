package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// version is set by release builds: go build -ldflags "-X main.version=v1.2.3".
var version string

func runVersion(_ []string, stdout, _ io.Writer) int {
	fmt.Fprintf(stdout, "tokenfare %s %s %s/%s\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return 0
}

// versionText prefers the release's name, then the module's version, then the commit it was built from.
func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return "devel"
}
