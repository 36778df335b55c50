#!/usr/bin/env bash
# Runs every fuzz target of the module, one after the other, and stops at the first that finds something.
#
#   bash test/fuzz.sh                     # ten million executions of each
#   bash test/fuzz.sh 30s                 # so long each
#   bash test/fuzz.sh 1000000x            # so many executions each
#   bash test/fuzz.sh 30s 'Usage|Gunzip'  # those whose names match alone
#   PARALLEL=8 bash test/fuzz.sh          # by so many workers at once; without it, by as many as there are processors
#
# Ten million take from a minute (ids, amounts, headers) to an hour and more (configurations, whole answers) for each target on two
# processors. What a run has found of use stays in Go's cache for the next one (`go clean -fuzzcache` forgets it). An input that fails is
# written to testdata/fuzz below its package: mend the fault, and commit the file, which is a test case from then on. Seeds are in the
# targets, and there.
set -euo pipefail
cd "$(dirname "$0")/.."

amount=${1:-10000000x}
names=${2:-.}
case $amount in
*[0-9]x | *[0-9]s | *[0-9]m | *[0-9]h) ;;
*)
	echo "how long? such as 10000000x, 30s or 5m; not $amount" >&2
	exit 2
	;;
esac

found=0
for package in $(go list ./...); do
	# -list builds and runs the test binary, so it knows what files alone cannot tell.
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		if ! grep -Eq -- "$names" <<<"$target"; then
			continue
		fi
		found=$((found + 1))
		printf '\n== %s %s\n' "$package" "$target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$amount" -fuzzminimizetime 10s -timeout 0 ${PARALLEL:+-parallel "$PARALLEL"} "$package"
	done
done
if [ "$found" = 0 ]; then
	echo "no target's name matches $names" >&2
	exit 2
fi
printf '\n%d targets, and nothing was found\n' "$found"
