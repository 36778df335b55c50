package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
)

// findPostgres is the directory of initdb and postgres: that of the PATH, or else the newest of VERSION/bin below versions.
func findPostgres(versions string) (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil && complete(filepath.Dir(path)) {
		return filepath.Abs(filepath.Dir(path))
	}
	newest, found := 0.0, ""
	dirs, err := filepath.Glob(filepath.Join(versions, "*", "bin"))
	if err != nil {
		return "", err
	}
	for _, dir := range dirs {
		version, err := strconv.ParseFloat(filepath.Base(filepath.Dir(dir)), 64) // 9.6, 17
		if err == nil && version > newest && complete(dir) {
			newest, found = version, dir
		}
	}
	if found == "" {
		return "", fmt.Errorf("no Postgres server (initdb and postgres) in the PATH or in %s/*/bin: bash test/all.sh installs one", versions)
	}
	return found, nil
}

// complete reports whether a directory holds what makes and runs a server.
func complete(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// account is a user of the system other than the one who runs the tests.
type account struct {
	name     string
	uid, gid uint32
}

// serverAccount is who runs the server: nil, the user of the tests, unless that is root, as whom Postgres does not run.
func serverAccount() (*account, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		return &account{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
	}
	return nil, errors.New("Postgres does not run as root, and there is no user postgres or nobody: run the tests as another user")
}

// directory makes an empty directory that is the account's own.
func (a *account) directory() (string, error) {
	parent := os.TempDir()
	if a != nil && !reachable(parent) {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "tokenfare-postgres-")
	if err != nil || a == nil {
		return dir, err
	}
	if !reachable(parent) {
		err = fmt.Errorf("user %s cannot reach %s: set TMPDIR to a directory that everybody can enter", a.name, parent)
	} else {
		err = os.Chown(dir, int(a.uid), int(a.gid))
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}

// reachable reports whether everybody may enter a directory and all above it.
func reachable(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&0o001 == 0 {
			return false
		}
		if filepath.Dir(dir) == dir {
			return true
		}
		dir = filepath.Dir(dir)
	}
}
