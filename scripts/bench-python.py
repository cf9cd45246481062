#!/usr/bin/env python3
"""Compares the Python module with pyarrow and Polars on TPC-H's lineitem and, if given, on uservisits:

    python3 -m venv /tmp/bench && /tmp/bench/bin/pip install pyarrow polars tpchgen-cli ./crates/brc-python
    /tmp/bench/bin/python scripts/bench-python.py [--scale 2] [--uservisits FILE] [--runs 5] [--dir DIR]

Each line shows the median of the runs, which alternate and take at least two seconds, and brc's time as a fraction of
the other's. Then come the peak memory that a fresh process needs to load a pyarrow table, relative to that table's
size, and the time of the shortest query."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import brc
import polars as pl
import pyarrow.parquet as pq


# The minimum measuring time in seconds, whatever --runs says.
LEAST_SECONDS = 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", default="2", help="the scale factor: 6 M rows each")
    parser.add_argument("--uservisits", metavar="FILE", help="also a table of AMPLab's benchmark, in any encoding")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--dir", help="where the files are made, and stay")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = arguments.dir or temporary
        lineitem = os.path.join(directory, "lineitem.parquet")
        if not os.path.exists(lineitem):
            generator = os.path.join(os.path.dirname(sys.executable), "tpchgen-cli")
            options = ["-s", arguments.scale, "--tables", "lineitem", "--output-dir", directory]
            subprocess.run([generator, "parquet", *options], check=True)
        measure(
            pq.read_table(lineitem),
            os.path.join(directory, "lineitem"),
            arguments.runs,
            ["l_orderkey", "l_extendedprice", "l_shipmode"],
            (pl.col("l_quantity") < 24, "l_shipmode", "l_extendedprice"),
        )
        if arguments.uservisits:
            measure(
                brc.open(arguments.uservisits).to_arrow(),
                os.path.join(directory, "uservisits"),
                arguments.runs,
                ["visit_date", "ad_revenue", "country_code"],
                (pl.col("duration") < 240, "country_code", "ad_revenue"),
            )


def measure(table, name, runs, three, question):
    parquet, buren, out = name + ".zstd.parquet", name + ".buren", name + ".out"

    def write_parquet(path=out + ".parquet"):
        pq.write_table(table, path, compression="zstd")

    def write_buren(path=out + ".buren"):
        brc.write(table, path, force=True, no_sync=True)

    write_parquet(parquet)
    write_buren(buren)
    print(f"{os.path.basename(name)}: {table.num_rows:,} rows, load {os.getloadavg()[0]:.1f}")
    condition, key, value = question
    aggregates = (pl.col(value).sum(), pl.len())

    def ask(lazy):
        return lazy.filter(condition).group_by(key).agg(*aggregates).collect(engine="streaming")

    for what, ours, theirs, wanted in [
        ("all columns to pyarrow", lambda: brc.open(buren).to_arrow(), lambda: pq.read_table(parquet), 0.5),
        (
            "three columns to pyarrow",
            lambda: brc.open(buren).scan(columns=three).to_arrow(),
            lambda: pq.read_table(parquet, columns=three),
            0.5,
        ),
        (
            "scan_polars, filter and group by",
            lambda: ask(brc.scan_polars(buren)),
            lambda: ask(pl.scan_parquet(parquet)),
            0.7,
        ),
        ("all columns to Polars", lambda: brc.open(buren).to_polars(), lambda: pl.read_parquet(parquet), None),
        ("write a pyarrow table", write_buren, write_parquet, 0.6),
    ]:
        both = ([], [])
        # Short operations are repeated more often.
        while len(both[0]) < runs or sum(map(sum, both)) < LEAST_SECONDS:
            for times, work in zip(both, (ours, theirs)):
                begun = time.perf_counter()
                made = work()
                times.append(time.perf_counter() - begun)
                del made
        ours, theirs = map(statistics.median, both)
        goal = f"  (at most {wanted})" if wanted else ""
        print(f"{what:34}{ours * 1e3:9.1f} ms{theirs * 1e3:9.1f} ms{ours / theirs:7.2f} ×{goal}")
    for what, columns in [("all columns", None), ("three columns", three)]:
        print(f"peak memory, {what} to pyarrow: {peak(buren, columns):.2f} × the table  (at most 1.2)")
    print(f"a query of two rows: {overhead() * 1e3:.2f} ms  (at most 1 more than within the program)")


def overhead():
    """The latency of a query with almost no work to do."""
    table = brc.open(b"a,b\n1,2\n3,4\n", schema="a:int64,b:int64")
    times = []
    for _ in range(200):
        begun = time.perf_counter()
        table.query("select b, sum(a) group by b")
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def peak(buren, columns):
    """The memory a fresh process needs to load a table, relative to the table's size."""
    program = """
import sys, brc, pyarrow
def most():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))
path, *columns = sys.argv[1:]
table = brc.open(path)
before = most()
made = table.scan(columns=columns or None).to_arrow()
print((most() - before) / made.get_total_buffer_size())
"""
    ran = subprocess.run([sys.executable, "-c", program, buren, *(columns or [])], check=True, stdout=subprocess.PIPE)
    return float(ran.stdout)


if __name__ == "__main__":
    main()
