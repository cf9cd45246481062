#!/usr/bin/env python3
"""Measures the Python module beside pyarrow and Polars on TPC-H's lineitem, in one run:

    python3 -m venv /tmp/bench && /tmp/bench/bin/pip install pyarrow polars tpchgen-cli ./crates/brc-python
    /tmp/bench/bin/python scripts/bench-python.py [--scale 2] [--runs 5] [--dir DIR]

Each line is the median of the runs, of both by turns, and what part of the other's time brc takes. Then comes the memory that
processes of their own need at most for a pyarrow table, as a part of that table's size, and how much longer a query takes from
Python than within the program."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import brc
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", default="2", help="the scale factor: 6 M rows each")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--dir", help="where the files are made, and stay")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        measure(arguments.dir or temporary, arguments.scale, arguments.runs)


def measure(directory, scale, runs):
    made, parquet, buren = (os.path.join(directory, name) for name in ("lineitem.parquet", "zstd.parquet", "lineitem.buren"))
    if not os.path.exists(made):
        generator = os.path.join(os.path.dirname(sys.executable), "tpchgen-cli")
        subprocess.run([generator, "parquet", "-s", scale, "--tables", "lineitem", "--output-dir", directory], check=True)
    table = pq.read_table(made)
    out = os.path.join(directory, "out")

    def write_parquet():
        pq.write_table(table, out + ".parquet", compression="zstd")

    def write_buren(name=out + ".buren"):
        brc.write(table, name, force=True, no_sync=True)

    pq.write_table(table, parquet, compression="zstd")
    write_buren(buren)
    print(f"{table.num_rows:,} rows, load {os.getloadavg()[0]:.1f}")
    three = ["l_orderkey", "l_extendedprice", "l_shipmode"]
    condition = pl.col("l_quantity") < 24
    group = (pl.col("l_extendedprice").sum(), pl.len())
    opened = brc.open(buren)
    aggregates = (pl.col("l_quantity").sum(), pl.len())
    grouped = pl.scan_parquet(parquet).group_by("l_returnflag", "l_linestatus").agg(*aggregates)
    sql = "select l_returnflag, l_linestatus, sum(l_quantity), count(*) group by l_returnflag, l_linestatus"
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
            lambda: brc.scan_polars(buren).filter(condition).group_by("l_shipmode").agg(*group).collect(engine="streaming"),
            lambda: pl.scan_parquet(parquet).filter(condition).group_by("l_shipmode").agg(*group).collect(engine="streaming"),
            0.7,
        ),
        ("all columns to Polars", lambda: brc.open(buren).to_polars(), lambda: pl.read_parquet(parquet), None),
        ("write a pyarrow table", write_buren, write_parquet, 0.6),
        ("group by two columns", lambda: opened.query(sql), lambda: grouped.collect(), None),
    ]:
        both = ([], [])
        for _ in range(runs):
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


def peak(buren, columns):
    """The memory that a fresh process needs for a table, as a part of the table's own size."""
    program = """
import sys, resource, brc, pyarrow
def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
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
