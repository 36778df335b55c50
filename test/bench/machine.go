package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine is what figures depend on.
type machine struct {
	Cores  int    `json:"cores"`
	CPU    string `json:"cpu"`
	Go     string `json:"go"`
	OS     string `json:"os"`
	Kernel string `json:"kernel"`
	Load   string `json:"load_average_before"` // of the last minute: above a few tenths, somebody else is at work
}

func machineFacts() machine {
	load, _, _ := strings.Cut(fileText("/proc/loadavg"), " ")
	return machine{
		Cores: runtime.NumCPU(), CPU: processor(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel: fileText("/proc/sys/kernel/osrelease"), Load: load,
	}
}

// String is the first line of the table.
func (m machine) String() string {
	return fmt.Sprintf("%d cores (%s), %s, %s, kernel %s, load before the run %s", m.Cores, m.CPU, m.Go, m.OS, m.Kernel, m.Load)
}

// fileText is a file's text, or "?".
func fileText(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "?"
	}
	return string(bytes.TrimSpace(text))
}

func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "?"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "?"
}
