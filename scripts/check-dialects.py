#!/usr/bin/env python3
"""Checks that `brc` reads back random tables that Python, DuckDB and Polars wrote in random CSV dialects.

    scripts/check-dialects.py target/release/brc [--seed SEED] [--tables COUNT] [--keep DIRECTORY]

The dialect is inferred from the text. The seed is printed; pass it with --only N to repeat one table. pyarrow is
required; DuckDB and Polars are skipped, with a message, where they are not installed.
"""

import random
import subprocess

import pyarrow.parquet

from interop.dialects import WRITERS, random_dialect
from interop.random_tables import random_table
from interop.readers import is_installed
from interop.rounds import check_tables
from interop.texts import assert_texts


def assert_ledger(said, rows, skipped):
    """Every line must be accounted for: rows, and by kind the lines that are not rows."""
    assert f"{rows:,} row{'' if rows == 1 else 's'} written, 0 rejected" in said, said
    # Comments are recognised by position only if none of them are between rows.
    above, among = skipped.get("before the table", 0), skipped.get("comment", 0)
    if above and among and f"{above + among:,} comment lines" in said:
        skipped = {**skipped, "comment": above + among}
        del skipped["before the table"]
    for kind, count in skipped.items():
        lines = f"{count:,} line{'' if count == 1 else 's'} {kind}"
        if kind != "before the table":
            lines = f"{count:,} {kind} line{'' if count == 1 else 's'}"
        assert lines in said, f"{lines}: {said}"
    if not skipped:
        assert "skipped" not in said, said


def try_table(brc, directory, seed):
    """Writes a random table and reads it via buren and Parquet; returns what to print if that fails."""
    rng = random.Random(seed)
    program = rng.choice([program for program in WRITERS if program == "python" or is_installed(program)])
    table = random_table(rng)
    dialect = random_dialect(rng, program)
    path = directory / "table.csv"
    expected = WRITERS[program](path, table, dialect)
    what = f"{program}, {dialect}"

    def convert(source, target):
        run = subprocess.run([brc, "convert", "--no-sync", "--force", source, target], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr.strip()
        return run.stderr

    try:
        assert_ledger(convert(path, directory / "table.buren"), table.num_rows, dialect.get("skipped", {}))
        convert(directory / "table.buren", directory / "table.parquet")
        assert_texts(pyarrow.parquet.read_table(directory / "table.parquet"), expected)
    except Exception as error:
        return f"{what}: {type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    check_tables(__doc__, WRITERS, try_table)
