#!/usr/bin/env bash
# Builds the Python module without optimisation and runs its tests:
#
#   scripts/test-python.sh [PYTHON] [PYTEST ARGUMENTS...]
#
# PYTHON needs the packages in crates/brc-python/tests/requirements.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${1:-python3}
shift || true
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
# The module uses the stable ABI, so any Python can build it.
PYO3_PYTHON=$(command -v "$python")
export PYO3_PYTHON

cargo build --locked --manifest-path crates/brc-python/Cargo.toml
package=$CARGO_TARGET_DIR/python
rm -rf "$package"
mkdir -p "$package"
cp -r crates/brc-python/python/brc "$package"
library=$CARGO_TARGET_DIR/debug/lib_brc.so
[ -e "$library" ] || library=$CARGO_TARGET_DIR/debug/lib_brc.dylib
cp "$library" "$package/brc/_brc.abi3.so"

PYTHONPATH=$package RUST_BACKTRACE=0 "$python" -m pytest -q -p no:cacheprovider crates/brc-python/tests "$@"
