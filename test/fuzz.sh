#!/usr/bin/env bash
# Runs every fuzz target of the module, one after the other, and stops at the first that finds something.
#
#   bash test/fuzz.sh                     # a minute that looks for new paths, then ten million executions of each
#   bash test/fuzz.sh 1000000x            # so many executions of each
#   bash test/fuzz.sh 30s                 # or for so long
#   bash test/fuzz.sh 30s 'Usage|Gunzip'  # those whose names match alone
#   bash test/fuzz.sh keep                # writes what these runs have found of use to testdata/fuzz, which every go test runs
#   GUIDED=10m PARALLEL=8 bash test/fuzz.sh     # looks for new paths for so long; by so many workers, not as many as there are processors
#
# First a build that tells which paths an input takes looks for inputs that take new ones; then one that does not, which is ten times as
# fast, changes all of these at random. Ten million take from a minute (ids, amounts, headers) to half an hour (configurations, whole
# answers) for each target on two processors. What a run has found of use stays in Go's cache for the next one (`go clean -fuzzcache`
# forgets it). An input that fails is written to testdata/fuzz below its package: mend the fault, and commit the file, which is a test case
# from then on. Seeds are in the targets, and there.
set -euo pipefail
cd "$(dirname "$0")/.."

amount=${1:-10000000x}
names=${2:-.}
cache=$(go env GOCACHE)/fuzz

# keep copies what is in the cache.
keep() {
	for package in $(go list ./...); do
		for found in "$cache/$package"/Fuzz*/; do
			[ -d "$found" ] || continue
			kept=$(go list -f '{{.Dir}}' "$package")/testdata/fuzz/$(basename "$found")
			mkdir -p "$kept"
			cp -n "$found"* "$kept"/
			echo "$(find "$found" -type f | wc -l) inputs of $package $(basename "$found")"
		done
	done
}

case $amount in
keep)
	keep
	exit
	;;
*[0-9]x | *[0-9]s | *[0-9]m | *[0-9]h) ;;
*)
	echo "how long? such as 10000000x, 30s or 5m; not $amount" >&2
	exit 2
	;;
esac

built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
found=0
for package in $(go list ./...); do
	go test -c -o "$built/test" "$package" >/dev/null
	[ -e "$built/test" ] || continue # it has no tests
	dir=$(go list -f '{{.Dir}}' "$package")
	for target in $(cd "$dir" && "$built/test" -test.list '^Fuzz' | grep '^Fuzz' || true); do
		if ! grep -Eq -- "$names" <<<"$target"; then
			continue
		fi
		found=$((found + 1))
		printf '\n== %s %s\n' "$package" "$target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${GUIDED:-1m}" -fuzzminimizetime 10s -timeout 0 ${PARALLEL:+-parallel "$PARALLEL"} "$package"
		(cd "$dir" && "$built/test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$amount" -test.fuzzminimizetime 10s \
			-test.fuzzcachedir "$cache/$package" ${PARALLEL:+-test.parallel "$PARALLEL"})
	done
	rm "$built/test"
done
if [ "$found" = 0 ]; then
	echo "no target's name matches $names" >&2
	exit 2
fi
printf '\n%d targets, and nothing was found\n' "$found"
