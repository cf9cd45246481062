#!/usr/bin/env python3
"""Checks that other programs read what `brc` writes and vice versa: every type, with and without nulls.

    cargo build --release
    python3 -m venv /tmp/interop && /tmp/interop/bin/pip install -r scripts/interop/requirements.txt
    /tmp/interop/bin/python scripts/check-interop.py target/release/brc

Programs that are not installed are skipped, with a message. Known limitations of a program are listed here with the
reason; no other difference is accepted.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

from interop.readers import READERS, is_installed
from interop.tables import assert_same, brc_schema, ends_of_the_ranges, every_type, only_others_have
from interop.writers import WRITERS

COMPRESSIONS = {
    ".parquet": ["none", "snappy", "lz4", "gzip", "zstd"],
    ".arrow": ["none", "lz4", "zstd"],
    ".avro": ["none", "snappy"],
    ".csv": ["none"],
    ".json": ["none"],
}
DECIMALS_AS_FLOATS = "it reads a number with a decimal point or of more than 64 bits as a float"

# Columns that a program reads wrongly, with the reason: (program, extension, prefix of the column's name).
LEFT_OUT = {
    (program, ".json", column): "it reads a number with a decimal point, or of more than 64 bits, as a float"
    for program in ("duckdb", "polars")
    for column in ("decimal(18,1)", "decimal(19,0)", "decimal(38,")
}
# Columns that a program truncates to microseconds, the only unit of its timestamps.
IN_MICROSECONDS = [("duckdb", ".csv", "instant ns"), ("duckdb", ".json", "instant ns")]


class Checks:
    """The checks that ran, and those that failed."""

    def __init__(self, brc, directory):
        self.brc, self.directory = brc, directory
        self.done = self.failed = 0

    def convert(self, source, target, *options):
        run = subprocess.run([self.brc, "convert", "--no-sync", *options, source, target], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr.strip()

    def check(self, what, run):
        try:
            run()
            self.done += 1
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # A failing library must not end the run; Polars panics.
            self.failed += 1
            print(f"FAILED  {what}: {type(error).__name__}: {error}")


def source_of(checks, name, table):
    path = checks.directory / f"{name}.source.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return path


def others_read(checks, name, table, programs=None, extensions=COMPRESSIONS):
    """Every program reads what brc writes from buren."""
    for extension in extensions:
        # Many programs end a field at a NUL byte, so brc writes none.
        left = [column for column in table.column_names if extension == ".csv" and column == "binary"]
        expected = table.drop_columns(left)
        buren = checks.directory / f"{name}{extension}.buren"
        checks.check(f"buren holds {buren.name}", lambda: checks.convert(
            source_of(checks, f"{name}{extension}", expected), buren))
        for compression in COMPRESSIONS[extension]:
            path = checks.directory / f"{name}-{compression}{extension}"
            options = () if compression == "none" else ("--compression", compression)
            checks.check(f"brc writes {path.name}", lambda: checks.convert(buren, path, *options))
            for program, read in READERS[extension].items():
                if (is_installed(program)) and program in (programs or [program]):
                    checks.check(f"{program} reads {path.name}", lambda: reads(program, read, path, expected))


def reads(program, read, path, expected):
    """A program reads the expected table from a file, except for its known limitations."""
    applies = lambda key, column: key[:2] == (program, path.suffix) and column.startswith(key[2])
    left = [column for column in expected.column_names if any(applies(key, column) for key in LEFT_OUT)]
    rounded = [column for column in expected.column_names if any(applies(key, column) for key in IN_MICROSECONDS)]
    found = read(path, expected.schema, left)
    assert_same(found.drop_columns(left), expected.drop_columns(left), rounded)


def streams_are_read(checks, name, table):
    """pyarrow and Polars read a query result as a stream."""
    source = source_of(checks, f"{name}-stream", table)
    answer = subprocess.run([checks.brc, "query", source, "select *", "--format", "arrow"], capture_output=True).stdout

    def by_polars():
        import polars

        assert polars.read_ipc_stream(answer).shape == (table.num_rows, table.num_columns)

    checks.check(f"pyarrow reads a stream of {name}", lambda: assert_same(pa.ipc.open_stream(answer).read_all(), table))
    if is_installed("polars"):
        checks.check(f"polars reads a stream of {name}", by_polars)


def brc_reads(checks):
    """brc reads back what other programs wrote."""
    for writer in WRITERS:
        for path, expected in writer(checks.directory):
            back = checks.directory / "back.arrow"

            def run(path=path, expected=expected):
                # JSON has fewer types than the table.
                schema = ("--schema", brc_schema(expected)) if path.suffix == ".json" else ()
                checks.convert(path, back, "--force", *schema)
                assert_same(pa.ipc.open_file(back).read_all(), expected)

            checks.check(f"brc reads {path.name}", run)


def main():
    brc = Path(sys.argv[1] if len(sys.argv) > 1 else "target/release/brc").absolute()
    for program in {program for readers in READERS.values() for program in readers}:
        if not is_installed(program):
            print(f"LEFT OUT: {program} is not installed")
    with tempfile.TemporaryDirectory() as directory:
        checks = Checks(brc, Path(directory))
        others_read(checks, "nullable", every_type())
        others_read(checks, "required", every_type(gap=0))
        others_read(checks, "all-null", every_type(rows=50, gap=1))
        others_read(checks, "one-row", every_type(rows=1, gap=0))
        others_read(checks, "empty", every_type(rows=0), extensions=[".parquet", ".arrow", ".csv"])
        others_read(checks, "wider", only_others_have(), extensions=[".parquet", ".arrow"])
        for name, table in [("nullable", every_type()), ("required", every_type(gap=0)), ("empty", every_type(rows=0))]:
            streams_are_read(checks, name, table)
        ends = ends_of_the_ranges()
        others_read(checks, "ends", ends, ["pyarrow", "datafusion"], [".arrow"])
        # Parquet has no unit of seconds.
        seconds = [column for column in ends.column_names if column.endswith(" s")]
        others_read(checks, "ends", ends.drop_columns(seconds), ["pyarrow", "datafusion", "polars"], [".parquet"])
        brc_reads(checks)
        print(f"{checks.done} checks passed, {checks.failed} failed")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
