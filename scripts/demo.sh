#!/usr/bin/env bash
# Generates a table of 10 million rows, converts it, runs the same query on both files, and checks that the results and
# the rows are the same.
#
#   scripts/demo.sh [ROWS]
#
# Works in a temporary directory and removes it.
set -euo pipefail

rows=${1:-10M}
root=$(cd "$(dirname "$0")/.." && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

cd "$root"
echo "building brc, which takes about seven minutes on two cores unless it is built already" >&2
start=$SECONDS
cargo build --release --locked
echo "built in $((SECONDS - start)) s" >&2
target=$(cargo metadata --format-version 1 --no-deps --offline | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
PATH=$target/release:$PATH
cd "$directory"

# run COMMAND...: shows a command, then runs it.
run() {
    local word
    printf '\n$' >&2
    for word; do
        case $word in
            *[!A-Za-z0-9._/-]*) printf ' "%s"' "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done >&2
    echo >&2
    "$@"
}

# ask ANSWER ARGUMENTS...: runs a query, saves the result to a file, shows its first lines and the time taken.
ask() {
    local answer=$1
    shift
    run brc query "$@" --timings > "$answer" 2> timings || { cat timings >&2; return 1; }
    grep -v '^\(read\|decode\|aggregate\) ' timings >&2
    cut -d, -f1-4 "$answer" | sed 's/$/, …/'
}

run brc generate measurements.txt --rows "$rows"
run brc convert measurements.txt measurements.buren
ls -l measurements.* | awk '{ print $5, "bytes", $NF }'
ask text.answer measurements.txt
ask buren.answer measurements.buren
ask data.answer measurements.buren --no-statistics
run brc query measurements.buren --where "station = 'Hamburg'" --format table
run brc verify measurements.buren
run brc convert measurements.buren back.txt

cmp text.answer buren.answer
cmp text.answer data.answer
cmp measurements.txt back.txt
printf '\nAll answers are the same, and the text that came back is the one that went in.\n'
