package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// mostAside is how many damaged files are kept; beyond it the oldest go.
const mostAside = 8

// aside is what a file's name gains that is kept, before the time.
const aside = ".bad-"

// SetAside gives a file of the journal at path another name, under which nothing reads it, and returns that. Of earlier ones the newest
// few stay.
func SetAside(path, name string, now time.Time) (kept string, err error) {
	for n := 0; ; n++ {
		kept = name + aside + now.UTC().Format("20060102T150405.000")
		if n > 0 {
			kept += fmt.Sprintf("-%d", n)
		}
		if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", fmt.Errorf("set the journal of the ledger aside: %w", err)
		}
	}
	if err := os.Rename(name, kept); err != nil {
		return "", fmt.Errorf("set the journal of the ledger aside: %w", err)
	}
	if all, err := Aside(path); err == nil && len(all) > mostAside {
		for _, old := range all[:len(all)-mostAside] {
			_ = os.Remove(old) // it is but one more
		}
	}
	return kept, nil
}

// Aside are the files of the journal at path that were set aside, the oldest first.
func Aside(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("look for damaged journals of the ledger: %w", err)
	}
	var list []string
	base := filepath.Base(path)
	for _, e := range entries {
		for _, name := range names {
			if strings.HasPrefix(e.Name(), base+name+aside) {
				list = append(list, e.Name())
			}
		}
	}
	since := len(base) + len(names[0]) + len(aside) // in both names
	slices.SortStableFunc(list, func(a, b string) int { return strings.Compare(a[since:], b[since:]) })
	for i := range list {
		list[i] = filepath.Join(filepath.Dir(path), list[i])
	}
	return list, nil
}
