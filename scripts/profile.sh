#!/usr/bin/env bash
# Profiles a text query, a conversion and a buren query: the functions that take most of the time.
#
#   scripts/profile.sh [ROWS] [PRESET]      default: 20M rows of the preset 1brc
#
# Needs `perf` (Debian: apt-get install linux-perf) and permission to use it (kernel.perf_event_paranoid at most 2, or
# root).
# Works in a temporary directory and removes it. Builds the profile `profiling`, which is the release with symbols: the
# first time this takes as long as a release build. To look closer at one command:
#
#   perf record -g target/profiling/brc query measurements.txt > /dev/null && perf report
set -euo pipefail

rows=${1:-20M}
preset=${2:-1brc}
if ! command -v perf >/dev/null; then
    echo "profile: install perf first (Debian: apt-get install linux-perf)" >&2
    exit 1
fi
root=$(cd "$(dirname "$0")/.." && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

cd "$root"
cargo build --profile profiling --locked -p brc-cli
target=$(cargo metadata --format-version 1 --no-deps --offline | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
PATH=$target/profiling:$PATH
cd "$directory"
brc generate table.txt --rows "$rows" --preset "$preset"
brc convert table.txt table.buren --no-sync

# Virtual machines often have no cycle counter; fall back to the clock.
event=cycles
perf stat -e cycles true 2>&1 | grep -q 'not supported' && event=cpu-clock

# profile TIMES COMMAND...: runs a command the given number of times and prints its hottest functions.
profile() {
    local times=$1
    shift
    printf '\n== %s (run %d times, by %s) ==\n' "$*" "$times" "$event"
    perf record --quiet -F 4999 -e "$event" -o perf.data -- \
        sh -c 'for i in $(seq "$0"); do "$@" > /dev/null 2>&1 || exit; done' "$times" "$@"
    perf report --stdio --quiet -i perf.data --comm brc --no-children --sort symbol --percent-limit 1 2>/dev/null |
        sed 's/[ -]*$//; /^$/d' | head -15
}

profile 5 brc query table.txt
profile 5 brc convert table.txt again.buren --force --no-sync
profile 50 brc query table.buren --no-statistics
