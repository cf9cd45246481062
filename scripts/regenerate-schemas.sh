#!/usr/bin/env bash
# Generates the Rust code of the Cap'n Proto schemas, which is committed so that building needs no extra tool.
#
#   scripts/regenerate-schemas.sh           generate
#   scripts/regenerate-schemas.sh --check   check that the committed code is current (what CI runs)
#
# Needs `capnp` 0.9 or newer (Debian: apt-get install capnproto); downloads the plugin version given below.
set -euo pipefail

plugin_version=0.27.0

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
check=false
case "${1-}" in
    "") ;;
    --check) check=true ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

if ! command -v capnp >/dev/null; then
    if $check; then
        echo "schemas: not checked, the capnp tool is not installed"
        exit 0
    fi
    echo "schemas: install the capnp tool first (Debian: apt-get install capnproto)" >&2
    exit 1
fi

plugin_root=${CAPNPC_ROOT:-${CARGO_TARGET_DIR:-target}/capnpc-$plugin_version}
plugin=$plugin_root/bin/capnpc-rust
[ -x "$plugin" ] || cargo install --quiet --locked capnpc --version "$plugin_version" --root "$plugin_root"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# strip FILE: removes what the plugin generates for reflection and remote calls, which is nearly half of the code, since
# nothing here uses either. The `capnp` crate requires `Introspect` of every type; without a schema it panics. The file
# must be formatted: then an item ends at the brace that is indented as its first line is.
strip() {
    awk '
        removing { removing = $0 != end; next }
        /^ *fn introspect\(\)/ { print; print "unimplemented!(\"generated without its schema\") }"; remove() }
        /^ *mod _private \{$/ { remove() }
        /^ *(pub struct|impl|impl .* for) Pipeline \{$/ { remove() }
        /^ *impl Pipeline \{\}$/ { next }
        /^ *impl.* ::capnp::traits::(Pipelined|HasTypeId|Imbue|ImbueMut)[<> ].*\{$/ { remove() }
        /^ *impl.* for ::capnp::dynamic_value::.*\{$/ { remove() }
        /^ *impl ::core::fmt::Debug for Reader<.*\{$/ { remove() }
        !removing

        function remove() {
            end = $0
            sub(/[^ ].*/, "}", end)
            removing = 1
        }
    ' "$1" >"$1.stripped"
    mv "$1.stripped" "$1"
    if grep -nE '_private|Pipeline|dynamic_value|Imbue|HasTypeId' "$1" >&2; then
        echo "schemas: the plugin generates items that are not removed in full" >&2
        exit 1
    fi
    sed -i '2i // Without reflection and remote calls: scripts/regenerate-schemas.sh removes them.' "$1"
}

# generate SCHEMA TARGET: the code of one schema, formatted as `cargo fmt` leaves it.
generate() {
    local code
    capnp compile --src-prefix=schemas -o"$plugin:$work" "$1"
    code=$work/$(basename "$1" .capnp)_capnp.rs
    # The version of the schema parser is in the output, but does not affect the code.
    sed -i "/^\/\/ capnp binary version/d" "$code"
    rustfmt --edition 2024 --config-path "$root" "$code"
    strip "$code"
    rustfmt --edition 2024 --config-path "$root" "$code"
    if ! $check; then
        cp "$code" "$2"
    elif ! cmp -s "$code" "$2"; then
        echo "schemas: $2 is not what $1 generates; run scripts/regenerate-schemas.sh" >&2
        exit 1
    fi
}

generate schemas/buren.capnp crates/buren/src/buren_capnp.rs
generate schemas/table.capnp crates/brc-encodings/src/capnp/table_capnp.rs
echo "schemas: $($check && echo current || echo written)"
