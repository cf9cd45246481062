#!/usr/bin/env bash
# Runs a cluster of one scheduler and up to three executors on this machine: queries of the One Billion Row Challenge,
# of
# AMPLab's benchmark and of TPC-H, also while an executor is killed; checks that the results equal those of one machine.
#
#   python3 -m venv /tmp/cluster && /tmp/cluster/bin/pip install -r scripts/interop/cluster.txt
#   PYTHON=/tmp/cluster/bin/python scripts/cluster-demo.sh [--programs DIR] [--rows 4M] [--visits 500k] [--scale 0.1] [--loopback]
#
# --programs is a directory with brc-sql, brc-scheduler, brc-executor and brc; missing programs are built. Without moto
# the
# tables are in a directory; without tpchgen-cli TPC-H is skipped. As root, each program gets its own network namespace.
# Works in a temporary directory and removes it. scripts/cluster/demo.py describes the output and further options.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
programs=
words=()
while [ $# -gt 0 ]; do
    case $1 in
        --programs) programs=$(cd "${2:?--programs needs a directory}" && pwd); shift 2 ;;
        --programs=*) programs=$(cd "${1#*=}" && pwd); shift ;;
        *) words+=("$1"); shift ;;
    esac
done

# built MANIFEST ARGUMENTS...: builds a workspace and prints the directory of its programs.
built() {
    local manifest=$root/$1
    shift
    cargo build --release --locked --manifest-path "$manifest" "$@" >&2
    cargo metadata --format-version 1 --no-deps --offline --manifest-path "$manifest" |
        sed 's/.*"target_directory":"\([^"]*\)".*/\1\/release/'
}

brc=$programs/brc
for name in brc-sql brc-scheduler brc-executor; do
    if [ -z "$programs" ] || [ ! -x "$programs/$name" ]; then
        echo "building brc-sql with Ballista, which takes about half an hour on two cores unless it is built already" >&2
        programs=$(built crates/brc-datafusion/Cargo.toml --features ballista)
        break
    fi
done
if [ ! -x "$brc" ]; then
    echo "building brc, which takes about seven minutes on two cores unless it is built already" >&2
    brc=$(built Cargo.toml -p brc-cli)/brc
fi

export PYTHONPATH=$root/scripts${PYTHONPATH:+:$PYTHONPATH}
exec "$python" -m cluster.demo "$programs" "$brc" ${words[@]+"${words[@]}"}
