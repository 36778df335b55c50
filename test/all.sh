#!/usr/bin/env bash
# The whole test: formatting, vet, lint and every suite, the ones that need more than Go included. Needs Go and a
# network (package registries only); installs the rest where it is missing and can be.
set -euo pipefail
cd "$(dirname "$0")/.."

golangci=github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
node_minimum=22     # what the official client for Node asks for
node_version=24.21.0 # what is used where the system's is older

say() { printf '\n== %s\n' "$*"; }

# install PACKAGE…: Debian packages, when there is a way to install them.
install() {
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		say "apt-get install $*"
		apt-get update -q >/dev/null
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >/dev/null
	else
		echo "missing: $*. Install it and run this again." >&2
		exit 1
	fi
}

# install_postgres: the server without the cluster that the package makes and starts for itself: tests make their own.
install_postgres() (
	without=/etc/postgresql-common/createcluster.d/tokenfare-test.conf
	if [ "$(id -u)" = 0 ]; then
		mkdir -p "${without%/*}"
		echo "create_main_cluster = false" >"$without"
		trap 'rm -f "$without"' EXIT # it is about this installation alone
	fi
	install postgresql
)

node_major() { node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/'; }

command -v gcc >/dev/null || install gcc libc6-dev # the race detector needs a C compiler
command -v npm >/dev/null || install nodejs npm
command -v postgres >/dev/null || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || install_postgres

command -v chromium >/dev/null || install chromium

say "npm ci"
npm ci --prefix test/node --no-audit --no-fund --loglevel=error
major=$(node_major)
if [ "${major:-0}" -lt "$node_minimum" ]; then
	say "node $node_version in place of ${major:-none}"
	npm install --prefix test/node --no-save --no-audit --no-fund --loglevel=error "node@$node_version"
	export PATH="$PWD/test/node/node_modules/node/bin:$PATH"
fi
node --version

export TOKENFARE_TEST=all CGO_ENABLED=1
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-buildvcs=false" # a clone of another owner's has no readable history

say "gofmt"
unformatted=$(gofmt -l $(git ls-files '*.go' 2>/dev/null || find . -name '*.go' -not -path '*/node_modules/*'))
if [ -n "$unformatted" ]; then
	echo "run gofmt -w on:" $unformatted >&2
	exit 1
fi

say "go vet"
go vet ./...

say "golangci-lint"
go run "$golangci" run

say "govulncheck"
bash test/vulns.sh

# By itself the race detector sleeps for a second before any program ends: tests, and the many that they start.
export GORACE=atexit_sleep_ms=20

# The race detector does not look at SQLite: C made into Go, which takes four times as long with it and has nothing of ours in it.
unwatched="-gcflags=modernc.org/libc/...=-race=false -gcflags=modernc.org/sqlite/lib=-race=false"

say "go test" # what drives the built program takes longest, and mostly waits: it comes first, so that the others run beside it
go test -race $unwatched -shuffle=on -timeout 20m ./test ./...

say "go test of the limiter at full speed: ten times the histories, and the races the detector's own locks hide"
go test -shuffle=on -timeout 10m ./limiter/...

say "go test of memory, which the race detector multiplies"
go test -count=1 -timeout 10m ./test/load
go test -count=1 -timeout 10m -run 'TestAbortStorm$' ./test/soak

say "go test of the benchmarks' own modules"
for module in limitbench countbench; do
	(cd "test/$module" && go vet ./... && go run "$golangci" run --config ../../.golangci.yml && go test -race -timeout 5m ./...)
done
