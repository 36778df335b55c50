package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// starter is the configuration that a first key is written into.
const starter = `# Who may call, and how much. Explained by: tokenfare check -config FILE
# Started by: OPENAI_API_KEY=sk-… tokenfare serve -config FILE

upstreams:
  openai:
    url: https://api.openai.com/v1     # or any other base URL that speaks the OpenAI API
    key: "${OPENAI_API_KEY}"
`

// appendKeys adds keys to the keys: mapping of a file, which it creates where there is none. It edits the text, so that
// comments and layout stay, and writes only once the result was read back and found to be the old content and the new keys,
// no more and no less, and no more mistakes than before.
func appendKeys(path string, made []entry) (created bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return true, createWith(path, made)
	}
	if err != nil {
		return false, reason(err)
	}
	defer f.Close()
	old, err := io.ReadAll(io.LimitReader(f, maxSource+1))
	if err != nil {
		return false, reason(err)
	}
	if len(old) > maxSource {
		return false, fmt.Errorf("it is larger than %d bytes", maxSource)
	}
	fresh, err := checkedWith(path, old, made)
	if err != nil {
		return false, err
	}
	return false, overwrite(f, old, fresh)
}

// createWith writes a configuration that holds the keys and what they need. It holds no secret, and the proxy may run under
// an account of its own: everybody may read it.
func createWith(path string, made []entry) error {
	text := strings.ReplaceAll(starter, "FILE", filepath.Base(path))
	fresh, err := checkedWith(path, []byte(text), made)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return reason(err)
	}
	if _, err = f.Write(fresh); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(reason(err), os.Remove(path))
	}
	return nil
}

// disk is what overwrite needs of an open file.
type disk interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
}

// overwrite turns a file's content from old to fresh, in place: where a single file is mounted into a container, the file that
// a rename puts in its stead would never be seen there. What lies beyond the old end goes first, because only that can run out
// of space; what is overwritten then has its space already. Keys at the end of a file need the first step alone. After an
// error the old content is put back. Whoever reads in between finds mistakes at worst, keeps what is running and reads again.
func overwrite(f disk, old, fresh []byte) error {
	same := 0
	for same < min(len(old), len(fresh)) && old[same] == fresh[same] {
		same++
	}
	steps := []func() error{
		func() error { return writeAt(f, fresh, len(old)) },
		f.Sync,
		func() error { return writeAt(f, fresh, same) },
		func() error { return f.Truncate(int64(len(fresh))) },
		f.Sync,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return errors.Join(err, f.Truncate(int64(len(old))), writeAt(f, old, same))
		}
	}
	return nil
}

// writeAt writes what text holds from an offset on.
func writeAt(f disk, text []byte, from int) error {
	if from >= len(text) {
		return nil
	}
	_, err := f.WriteAt(text[from:], int64(from))
	return err
}

// checkedWith is the text with the keys added, if that brings no mistakes with it. Those that were there before, such as a
// variable that is not set here, are no reason to refuse.
func checkedWith(path string, old []byte, made []entry) ([]byte, error) {
	fresh, err := withKeys(path, old, made)
	if err != nil {
		return nil, err
	}
	known := map[string]int{}
	for _, p := range mistakes(path, old).list {
		known[unplaced(p)]++
	}
	after := mistakes(path, fresh)
	added := &problems{secrets: after.secrets}
	for _, p := range after.list {
		if known[unplaced(p)]--; known[unplaced(p)] < 0 {
			added.list = append(added.list, p)
		}
	}
	if err := added.err(); err != nil {
		return nil, err
	}
	return fresh, nil
}

// mistakes is what loadConfig would find if the file at path held that text. A file that names neither upstreams nor anything
// else only a main file may hold is taken for an included one: the plans it refers to may stand elsewhere.
func mistakes(path string, text []byte) *problems {
	var out problems
	s := &source{name: path, dir: filepath.Dir(path)}
	s.parse(text, &out)
	for _, name := range mainMembers {
		if child(s.root, name) != nil {
			loadSource(s, &out)
			return &out
		}
	}
	c := defaultConfig()
	c.root = s
	c.decodeIncluded(s, &out)
	return &out
}

var lineNumbers = regexp.MustCompile(`:\d+(?::\d+)?|\bline \d+`)

// unplaced is what a problem says without where and without the fix: added keys move what stands below them, and become names
// to choose from.
func unplaced(p problem) string {
	name := ""
	if p.at.file != nil {
		name = p.at.file.name
	}
	return name + "\x00" + lineNumbers.ReplaceAllString(p.msg, "")
}
