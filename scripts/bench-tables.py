#!/usr/bin/env python3
"""Measures speed and file size of `brc` converting ordinary CSV files, and the speed of its queries over them, compared
with other engines.

    python3 -m venv /tmp/bench && /tmp/bench/bin/pip install duckdb duckdb-cli polars pyarrow datafusion chdb tpchgen-cli
    /tmp/bench/bin/python scripts/bench-tables.py [--tables lineitem,uservisits,g1] [--rows 10M] [--runs 3]
                                                  [--parts convert,query] [--data DIR] [--out bench-results/DATE-tables]

Builds the release binary and generates the tables that are missing from --data:

- lineitem: TPC-H's, by tpchgen-cli, at the scale factor that gives about --rows rows (6 M rows per scale factor).
- uservisits: the schema of AMPLab's big data benchmark, with skewed URLs and words.
- g1: the group-by table of h2o's db-benchmark with 100 groups; v3 has six decimal places and a few exponents.

All programs use --threads threads. The median of --runs runs after one warm-up is reported, of up to nine where that
takes less than half a second. `brc` is timed as a whole process. The peers time themselves, excluding imports, except
for "one order" of lineitem, where DuckDB's shell is timed as a whole process. Each is queried right after its storage
was written, as re-reading a file later places it in different pages. The ways to convert are run in turn, and DuckDB
reads what was written: its rows must equal those that DuckDB reads from the CSV with all types given. Queries run on
each engine's best storage and on the CSV itself; `brc`'s results must equal DuckDB's. Failures and differences are
shown as such, without a time. Writes results.json and README.md to --out.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile

from tables.converting import measure_conversions
from tables.host import machine, number
from tables.made import TYPES, make_table
from tables.process import apart
from tables.querying import measure_questions
from tables.report import summary

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def measure(table, source, binary, arguments, work):
    parts = arguments.parts.split(",")
    found = {"csv_bytes": os.path.getsize(source)}
    if "convert" in parts:
        found |= measure_conversions(table, source, binary, arguments, work)
    if "query" in parts:
        found["questions"] = measure_questions(table, source, binary, arguments, work)
    return found


def failures(found):
    return [cell for cell in found.get("cells", []) if "failure" in cell] + found.get("questions", {}).get("wrong", [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default="lineitem,uservisits,g1")
    parser.add_argument("--parts", default="convert,query")
    parser.add_argument("--rows", type=number, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-text", action="store_true", help="ask no questions of the CSV itself")
    parser.add_argument("--binary", help="measure this binary, rather than build one")
    parser.add_argument("--data", help="where the tables are kept")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    unknown = set(arguments.tables.split(",")) - TYPES.keys() | set(arguments.parts.split(",")) - {"convert", "query"}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    out = arguments.out or os.path.join(ROOT, "bench-results", f"{datetime.date.today().isoformat()}-tables")
    binary = arguments.binary or os.path.join(ROOT, os.environ.get("CARGO_TARGET_DIR", "target"), "release", "brc")
    if not arguments.binary:
        subprocess.run(["cargo", "build", "--release", "--locked"], cwd=ROOT, check=True)
    os.makedirs(out, exist_ok=True)
    results = {"machine": machine(), "threads": arguments.threads, "runs": arguments.runs, "tables": {}}
    with tempfile.TemporaryDirectory(dir=arguments.data) as work:
        for table in arguments.tables.split(","):
            source = os.path.join(arguments.data or work, f"{table}-{arguments.rows}.csv")
            if not os.path.exists(source):
                apart(make_table, table, arguments.rows, source)
            results["tables"][table] = measure(table, source, binary, arguments, work)
            with open(os.path.join(out, "results.json"), "w") as file:
                json.dump(results, file, indent=1)
            with open(os.path.join(out, "README.md"), "w") as file:
                file.write(summary(results))
    sys.exit(1 if any(map(failures, results["tables"].values())) else 0)


if __name__ == "__main__":
    main()
