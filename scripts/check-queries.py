#!/usr/bin/env python3
"""Runs random queries over random tables with `brc` and DuckDB, and compares the results.

    cargo build --release
    python3 -m venv /tmp/interop && /tmp/interop/bin/pip install -r scripts/interop/requirements.txt
    /tmp/interop/bin/python scripts/check-queries.py target/release/brc [--rounds 24] [--questions 60] [--seed N | --known | --clickbench]

Each round generates a table with columns of all kinds with nulls, converts it to every encoding, and runs queries with
random functions, aggregates, filters, keys, having, order, limit and distinct. Some use a few columns without nulls,
which buren stores with a cluster key whose statistics answer the query. `brc` runs each query twice, with a different
encoding each time, 1 to 7 threads, with or without statistics, and sometimes with so little memory that everything
spills: the two results must be bit-identical, and DuckDB's equal up to the rounding of floats. Where `brc` and DuckDB
differ by design, the query is written differently for each; `interop/questions.py` lists these cases with the reason. A
failing query is printed with the seed of its round, which repeats it.

With --known, it runs benchmark queries over TPC-H's lineitem (pip install tpchgen-cli) and generated tables, whose
expected results are published or DuckDB's. With --clickbench, it runs the 43 queries of ClickBench over a generated
table with its 105 columns.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import duckdb

from interop.clickbench import check_clickbench
from interop.known import check_known
from interop.questions import Question, few_columns, random_table

ENCODINGS = ["parquet", "buren", "arrow", "capnp", "cpacked", "pb", "bincode", "msgpack", "cbor", "json", "csv"]
# Formats that do not store column types.
WITHOUT_TYPES = ["json", "csv"]
# The encodings of the table with few columns.
OF_FEW_COLUMNS = ["parquet", "buren"]


def is_close(ours, theirs):
    ours, theirs = float(ours), float(theirs)
    return ours == theirs or ours != ours and theirs != theirs or abs(ours - theirs) <= 1e-9 * max(1, abs(ours), abs(theirs))


def is_same(ours, theirs):
    """Whether a JSON value equals one of DuckDB's."""
    if ours is None and theirs != theirs:
        return True
    if ours is None or theirs is None or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(theirs, float):
        return is_close(ours, theirs)
    if isinstance(theirs, (int, Decimal)):
        return not isinstance(ours, (str, bool)) and Decimal(ours) == theirs
    return instant(ours) == instant(theirs)


def instant(value):
    """The text of a value; a time at midnight may be a date or a timestamp."""
    return str(value).removesuffix(".000000").removesuffix(" 00:00:00")


class Table:
    """A table in several encodings, and in DuckDB."""

    def __init__(self, brc, directory, source):
        self.brc, self.directory = brc, directory
        parquet = directory / "t.parquet"
        random_table(source, parquet)
        self.database = duckdb.connect(config={"threads": 1})
        self.database.execute("set timezone = 'UTC'; set error_on_division_by_zero = false")
        self.database.execute(f"create table t as select * from read_parquet('{parquet}')")
        for encoding in ENCODINGS[1:]:
            row_groups = [] if encoding in WITHOUT_TYPES else ["--row-group", "64k"]
            self.run("convert", parquet, directory / f"t.{encoding}", "--force", "--no-sync", *row_groups)
        few = directory / "few.parquet"
        few_columns(parquet, few)
        self.database.execute(f"create table few as select * from read_parquet('{few}')")
        self.run("convert", few, directory / "few.buren", "--key", "s", "--force", "--no-sync", "--row-group", "64k")
        columns = json.loads(self.run("schema", "--json", parquet))
        self.schema = ",".join(f"{column['name']}:{column['type']}" for column in columns)

    def run(self, *arguments):
        run = subprocess.run([self.brc, *map(str, arguments)], capture_output=True, text=True)
        if run.returncode != 0:
            raise RuntimeError(run.stderr.strip())
        return run.stdout

    def ours(self, question, encoding, threads, options):
        """The result of `brc` as JSON, in which floats have their shortest round-trip digits."""
        options = [*options, *(["--schema", self.schema] if encoding in WITHOUT_TYPES else [])]
        file = self.directory / f"{question.table}.{encoding}"
        return self.run("query", file, question.ours, "--format", "json-array", "--threads", threads, *options)

    def theirs(self, question):
        return self.database.execute(question).fetchall()


def difference(table, question, ways):
    """The first difference between the results; None if they are equal."""
    try:
        theirs, theirs_failed = table.theirs(question.theirs), None
    except duckdb.Error as error:
        theirs, theirs_failed = None, str(error).splitlines()[0]
    try:
        texts = [table.ours(question, *way) for way in ways]
    except RuntimeError as error:
        return None if theirs_failed else f"brc fails: {error}"
    if theirs_failed:
        return f"DuckDB fails, and brc does not: {theirs_failed}"
    if len(set(texts)) > 1:
        ours, others = next(lines for lines in zip(*(text.splitlines() for text in texts)) if len(set(lines)) > 1)
        return f"brc answers {ours}, and {others}"
    # A duplicate name in an object would lose a column, but brc rejects such queries.
    ours = [list(row.values()) for row in json.loads(texts[0], parse_float=Decimal)]
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, but {len(theirs)} expected"
    for number, (our_row, their_row) in enumerate(zip(ours, theirs)):
        if len(our_row) != len(their_row) or not all(map(is_same, our_row, their_row)):
            return f"row {number} is {our_row}, but {list(their_row)} expected"
    return None


def random_way(source, encodings):
    """A random encoding, number of threads, and options."""
    options = source.choice([[], [], ["--no-statistics"]]) + source.choice([[], ["--memory", "1"]])
    return source.choice(encodings), source.randint(1, 7), options


def run_round(brc, seed, questions):
    """Returns the number of failed queries."""
    source = random.Random(seed)
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        table = Table(brc, Path(directory), source)
        for number in range(questions):
            question = Question(source)
            encodings = ENCODINGS if question.table == "t" else OF_FEW_COLUMNS
            ways = [random_way(source, encodings) for _ in range(2)]
            found = difference(table, question, ways)
            if found:
                failed += 1
                shown = "; ".join(f"{encoding}, {threads} threads {' '.join(options)}" for encoding, threads, options in ways)
                print(f"FAILED seed {seed}, question {number}, {shown}\n  {question.ours}\n  {question.theirs}\n  {found}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("brc")
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--seed", type=int, help="the seed of the first round [default: by lot]")
    parser.add_argument("--known", action="store_true", help="check known answers instead, of TPC-H and generated tables")
    parser.add_argument("--clickbench", action="store_true", help="check the answers to ClickBench's questions instead")
    parser.add_argument("--rows", help="how many rows the made tables have [default: 1M of --known, 30k of --clickbench]")
    arguments = parser.parse_args()
    if arguments.clickbench:
        with tempfile.TemporaryDirectory() as directory:
            sys.exit(1 if check_clickbench(arguments.brc, Path(directory), arguments.rows or "30k") else 0)
    if arguments.known:
        with tempfile.TemporaryDirectory() as directory:
            sys.exit(1 if check_known(arguments.brc, Path(directory), arguments.rows or "1M", is_same) else 0)
    first = random.SystemRandom().randrange(10**6) if arguments.seed is None else arguments.seed
    seeds = range(first, first + arguments.rounds)
    print(f"seeds {seeds.start} to {seeds.stop - 1}, {arguments.questions} questions each", flush=True)
    failed = sum(run_round(arguments.brc, seed, arguments.questions) for seed in seeds)
    print(f"{arguments.rounds * arguments.questions - failed} answers are the same, {failed} are not")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
