#!/usr/bin/env bash
# How fast `brc generate` is next to plain writing: the same number of bytes, written by `dd` from memory in blocks of the
# same size. Both write to the page cache; nothing waits for the disk.
#
#   scripts/bench-generate.sh [ROWS] [DIRECTORY]     default: 100M rows in a temporary directory
set -euo pipefail

rows=${1:-100M}
directory=$(mktemp -d "${2:-${TMPDIR:-/tmp}}/bench-generate.XXXXXX")
trap 'rm -rf "$directory"' EXIT

root=$(cd "$(dirname "$0")/.." && pwd)
cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p brc-cli
brc=${CARGO_TARGET_DIR:-$root/target}/release/brc
file=$directory/file

# seconds COMMAND...: how long it takes.
seconds() {
    local start end
    start=$(date +%s%N)
    "$@" 2>/dev/null
    end=$(date +%s%N)
    echo "$(((end - start) / 1000000))"
}

median() { sort -n | sed -n 3p; }

for preset in 1brc 1brc-10k; do
    "$brc" generate "$file" --rows "$rows" --preset "$preset" 2>/dev/null
    bytes=$(stat -c %s "$file")
    made=() plain=()
    # The first round brings the memory in; it is not counted.
    for round in 0 1 2 3 4 5; do
        rm -f "$file"
        one=$(seconds dd if=/dev/zero of="$file" bs=256k count=$((bytes / 262144 + 1)))
        rm -f "$file"
        other=$(seconds "$brc" generate "$file" --rows "$rows" --preset "$preset")
        [ "$round" = 0 ] || { plain+=("$one"); made+=("$other"); }
    done
    rm -f "$file"
    p=$(printf '%s\n' "${plain[@]}" | median)
    m=$(printf '%s\n' "${made[@]}" | median)
    echo "$preset: $rows rows, $bytes bytes: generated in $m ms (${made[*]}), plainly written in $p ms (${plain[*]}): ratio $(awk "BEGIN { printf \"%.2f\", $m / $p }")"
done
