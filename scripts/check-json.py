#!/usr/bin/env python3
"""Checks that `brc` reads back random tables that Python, DuckDB and Polars wrote as JSON in all its layouts.

    scripts/check-json.py target/release/brc [--seed SEED] [--tables COUNT] [--keep DIRECTORY]

Layouts are lines, arrays, and objects that span several lines or share one; sources are a file, a compressed file and a
pipe. JSON written by `brc` itself is read back, too. The seed is printed; pass it with --only N to repeat one table.
pyarrow is required; DuckDB and Polars are skipped, with a message, where they are not installed.
"""

import gzip
import random
import subprocess

import pyarrow
import pyarrow.parquet

from interop.jsons import WRITERS, assert_kinds, random_form, texts_of
from interop.random_tables import random_table
from interop.readers import is_installed
from interop.rounds import check_tables
from interop.texts import assert_texts

# Far longer than any conversion of such a table takes.
TIMEOUT = 60


def with_odd_floats(rng, table, program):
    """The table with some non-finite floats, if the program writes them."""
    if program == "polars":
        return table
    for index, field in enumerate(table.schema):
        if pyarrow.types.is_floating(field.type) and rng.random() < 0.5:
            odd = [float("nan"), float("inf"), float("-inf")]
            values = [rng.choice(odd) if rng.random() < 0.1 else value for value in table[index].to_pylist()]
            table = table.set_column(index, field, pyarrow.array(values, field.type))
    return table


def convert(brc, source, target, **options):
    command = [brc, "convert", "--no-sync", "--force", source, target]
    run = subprocess.run(command, capture_output=True, timeout=TIMEOUT, **options)
    assert run.returncode == 0, run.stderr.decode().strip()


def try_table(brc, directory, seed):
    """Writes a random table and reads it via buren and Parquet; returns what to print if that fails."""
    rng = random.Random(seed)
    program = rng.choice([program for program in WRITERS if program == "python" or is_installed(program)])
    table = with_odd_floats(rng, random_table(rng), program)
    form = random_form(rng, program)
    path = directory / "table.json"
    WRITERS[program](path, table, form)
    source = rng.choice(["file", "file", "gzip", "pipe"])
    what = f"{program}, {form}, from a {source}"
    try:
        expected = texts_of(path)
        buren, parquet, again = (directory / f"table.{name}" for name in ("buren", "parquet", "again.json"))
        if source == "gzip":
            compressed = directory / "table.json.gz"
            compressed.write_bytes(gzip.compress(path.read_bytes()))
            convert(brc, compressed, buren)
        elif source == "pipe":
            with open(path, "rb") as file:
                cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
                convert(brc, "-", buren, stdin=cat.stdout)
        else:
            convert(brc, path, buren)
        convert(brc, buren, parquet)
        found = pyarrow.parquet.read_table(parquet)
        assert_texts(found, expected)
        assert_kinds(found, table, expected, program)
        convert(brc, buren, again)
        convert(brc, again, parquet)
        back = pyarrow.parquet.read_table(parquet)
        assert_texts(back, expected)
        assert_kinds(back, table, expected, program)
    except Exception as error:
        return f"{what}: {type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    check_tables(__doc__, WRITERS, try_table)
