#!/usr/bin/env python3
"""Measures how fast and how small `brc` converts ordinary CSV files, beside the engines that people use for it.

    python3 -m venv /tmp/bench && /tmp/bench/bin/pip install duckdb polars pyarrow datafusion tpchgen-cli
    /tmp/bench/bin/python scripts/bench-tables.py [--tables lineitem,uservisits,g1] [--rows 10M] [--runs 3]
                                                  [--data DIR] [--out bench-results/DATE-tables]

Builds the release binary and makes the tables, if they are not in --data yet:

- lineitem: TPC-H's, by tpchgen-cli; its scale is the one that has about --rows rows (6 M rows a scale factor of 1).
- uservisits: the schema of AMPLab's big data benchmark, with skewed URLs and words.
- g1: the group-by table of h2o's db-benchmark with 100 groups; its v3 has six decimals, and a few exponents.

Each cell is a whole process with --threads threads, run once to warm up and then --runs times, all cells in turn; the
median counts. Peak memory is what the system says of the process. A cell of `brc` or of a peer that writes a file is
checked: DuckDB reads what was written, and its rows must be those that DuckDB reads from the CSV, told all types. A cell
that fails or whose content differs is shown as such and has no time. Written to --out: results.json and README.md.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# The columns of each table as DuckDB has them: what the content of all files is compared in.
TYPES = {
    "lineitem": {
        "l_orderkey": "BIGINT", "l_partkey": "BIGINT", "l_suppkey": "BIGINT", "l_linenumber": "BIGINT",
        "l_quantity": "DECIMAL(18,2)", "l_extendedprice": "DECIMAL(18,2)", "l_discount": "DECIMAL(18,2)",
        "l_tax": "DECIMAL(18,2)", "l_returnflag": "VARCHAR", "l_linestatus": "VARCHAR", "l_shipdate": "DATE",
        "l_commitdate": "DATE", "l_receiptdate": "DATE", "l_shipinstruct": "VARCHAR", "l_shipmode": "VARCHAR",
        "l_comment": "VARCHAR",
    },
    "uservisits": {
        "source_ip": "VARCHAR", "dest_url": "VARCHAR", "visit_date": "DATE", "ad_revenue": "DECIMAL(18,2)",
        "user_agent": "VARCHAR", "country_code": "VARCHAR", "language_code": "VARCHAR", "search_word": "VARCHAR",
        "duration": "BIGINT",
    },
    "g1": {
        "id1": "VARCHAR", "id2": "VARCHAR", "id3": "VARCHAR", "id4": "BIGINT", "id5": "BIGINT", "id6": "BIGINT",
        "v1": "BIGINT", "v2": "BIGINT", "v3": "DOUBLE",
    },
}

G1 = """
select format('id{{:03d}}', 1 + (random() * 100)::int % 100) id1, format('id{{:03d}}', 1 + (random() * 100)::int % 100) id2,
  format('id{{:010d}}', 1 + (random() * {groups})::int % {groups}) id3, 1 + (random() * 100)::int % 100 id4,
  1 + (random() * 100)::int % 100 id5, 1 + (random() * {groups})::int % {groups} id6, 1 + (random() * 5)::int % 5 v1,
  1 + (random() * 15)::int % 15 v2, round(random() * 100, 6) v3
from range({rows})
"""

USERVISITS = """
with random_row as (
  select (random() * 4294967295)::ubigint ip, (power(random(), 4) * {rows} / 10)::int url, (random() * 16000)::int visit_day,
    (random() * 1000)::decimal(9, 2) revenue, (random() * 4)::int % 4 browser, (random() * 97)::int browser_version,
    random() country, (power(random(), 3) * 20000)::int word, 1 + (random() * 1000)::int duration
  from range({rows})
)
select format('{{}}.{{}}.{{}}.{{}}', ip >> 24, (ip >> 16) & 255, (ip >> 8) & 255, ip & 255) source_ip,
  'http://www.' || substr(md5(url::varchar), 1, 12) || '.com/' || substr(md5((url + 7)::varchar), 1, 8 + url % 24) || '.html' dest_url,
  date '1970-01-01' + visit_day visit_date, revenue ad_revenue,
  list_extract([
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 14.2) Gecko/20100101 Firefox/',
    'Opera/9.80 (X11; Linux x86_64) Presto/2.12.', 'curl/7.'], 1 + browser) || browser_version user_agent,
  list_extract(['USA', 'DEU', 'CHN', 'BRA', 'FRA', 'JPN', 'IND', 'GBR', 'ITA', 'ESP'], 1 + (country * country * 10)::int % 10) country_code,
  list_extract(['en-US', 'de-DE', 'zh-CN', 'pt-BR', 'fr-FR', 'ja-JP', 'hi-IN', 'en-GB', 'it-IT', 'es-ES'],
    1 + (country * country * 10)::int % 10) language_code,
  substr(md5(word::varchar), 1, 4 + word % 16) search_word, duration
from random_row
"""

# What a peer does in a process of its own: {source}, {target} and {threads} are filled in.
PEERS = {
    "polars to parquet zstd": ("polars", "parquet", "import polars as pl; pl.scan_csv({source!r}, try_parse_dates=True).sink_parquet({target!r}, compression='zstd')"),
    "polars to arrow": ("polars", "arrow", "import polars as pl; pl.scan_csv({source!r}, try_parse_dates=True).sink_ipc({target!r})"),
    "duckdb to parquet zstd": ("duckdb", "parquet", "import duckdb; db = duckdb.connect(); db.execute('set threads={threads}'); db.execute(\"copy (select * from read_csv('{source}')) to '{target}' (format parquet, compression zstd)\")"),
    "duckdb to its own file": ("duckdb", "duckdb", "import duckdb; db = duckdb.connect({target!r}); db.execute('set threads={threads}'); db.execute(\"create table t as select * from read_csv('{source}')\"); db.execute('checkpoint')"),
    "datafusion to parquet zstd": ("datafusion", "parquet", "import datafusion as df; c = df.SessionContext(df.SessionConfig().with_target_partitions({threads})); c.register_csv('t', {source!r}); c.sql('select * from t').write_parquet({target!r}, compression='zstd')"),
}

# What brc does: the target's extension, and the options.
OURS = {
    "brc to buren": ("buren", []),
    "brc to buren, from a pipe": ("buren", []),
    "brc to parquet snappy": ("parquet", ["--compression", "snappy"]),
    "brc to parquet zstd": ("parquet", ["--compression", "zstd"]),
}


def number(text):
    units = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}
    return int(float(text[:-1]) * units[text[-1]]) if text[-1] in units else int(text)


def make_table(name, rows, path):
    print(f"making {path}", flush=True)
    if name == "lineitem":
        scale = max(rows / 6_000_000, 0.001)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as directory:
            subprocess.run(["tpchgen-cli", "csv", "-s", f"{scale:g}", "--tables", "lineitem", "--output-dir", directory], check=True)
            shutil.move(os.path.join(directory, "lineitem.csv"), path)
        return
    import duckdb

    database = duckdb.connect()
    database.execute("set preserve_insertion_order = false; select setseed(0.42)")
    sql = (G1 if name == "g1" else USERVISITS).format(rows=rows, groups=max(rows // 100, 1))
    database.execute(f"copy ({sql}) to '{path}.part' (header, delimiter ',')")
    os.replace(f"{path}.part", path)


def fingerprint(source, types):
    """Rows, and a sum over all rows that does not depend on their order."""
    import duckdb

    columns = ", ".join(f'"{name}"::{kind}' for name, kind in types.items())
    return duckdb.sql(f"select count(*), sum(hash({columns})::hugeint) from {source}").fetchone()


def check(name, kind, binary, target, expected):
    """Whether the rows of a file are those of the CSV."""
    types = TYPES[name]
    if kind == "parquet":
        return fingerprint(f"read_parquet('{target}{'/*.parquet' if os.path.isdir(target) else ''}')", types) == expected
    if kind == "buren":
        back = f"{target}.parquet"
        subprocess.run([binary, "convert", target, back, "--force", "--no-sync"], check=True, capture_output=True)
        try:
            return fingerprint(f"read_parquet('{back}')", types) == expected
        finally:
            os.remove(back)
    return True


def size(path):
    if os.path.isdir(path):
        return sum(os.path.getsize(os.path.join(directory, file)) for directory, _, files in os.walk(path) for file in files)
    return os.path.getsize(path)


def remove(path):
    shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)


def run(command, threads, stdin=None):
    """Runs a process; seconds and peak memory in bytes."""
    environment = {**os.environ, "POLARS_MAX_THREADS": str(threads), "RAYON_NUM_THREADS": str(threads)}
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    message = process.stderr.read().decode(errors="replace")
    if status != 0:
        raise RuntimeError(message.strip().splitlines()[-1] if message.strip() else f"status {status}")
    return seconds, usage.ru_maxrss * 1024


class Cell:
    """One way to convert one table."""

    def __init__(self, name, kind, command, source, target, from_pipe=False):
        self.name, self.kind, self.command, self.source, self.target = name, kind, command, source, target
        self.from_pipe = from_pipe
        self.seconds, self.memory, self.bytes, self.failure = [], 0, None, None

    def measure(self, threads, keep_time):
        remove(self.target)
        try:
            if self.from_pipe:
                with subprocess.Popen(["cat", self.source], stdout=subprocess.PIPE) as pipe:
                    seconds, memory = run(self.command, threads, pipe.stdout)
            else:
                seconds, memory = run(self.command, threads)
        except (RuntimeError, OSError) as error:
            self.failure = str(error)[:200]
            return
        self.bytes = size(self.target)
        self.memory = max(self.memory, memory)
        if keep_time:
            self.seconds.append(seconds)

    def result(self):
        shown = {"cell": self.name, "bytes": self.bytes, "memory": self.memory, "seconds": self.seconds}
        if self.failure:
            shown["failure"] = self.failure
        elif self.seconds:
            shown["median"] = statistics.median(self.seconds)
        return shown


def cells_of(table, source, binary, threads, work):
    cells = []
    for name, (kind, options) in OURS.items():
        target = os.path.join(work, f"ours-{len(cells)}.{kind}")
        piped = name.endswith("pipe")
        command = [binary, "convert", "-" if piped else source, target, "--threads", str(threads), "--no-sync", *options]
        cells.append(Cell(name, kind, command, source, target, piped))
    for name, (package, kind, code) in PEERS.items():
        target = os.path.join(work, f"peer-{len(cells)}.{kind}")
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            print(f"{table}: {package} is not installed, '{name}' is left out", flush=True)
            continue
        command = [sys.executable, "-c", code.format(source=source, target=target, threads=threads)]
        cells.append(Cell(f"{name} ({package} {version})", kind, command, source, target))
    return cells


def measure_table(table, source, binary, arguments, work):
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in TYPES[table].items())
    expected = fingerprint(f"read_csv('{source}', header = true, columns = {{{types}}})", TYPES[table])
    cells = cells_of(table, source, binary, arguments.threads, work)
    for round_number in range(arguments.runs + 1):
        for cell in cells:
            if cell.failure:
                continue
            cell.measure(arguments.threads, round_number > 0)
            if round_number == 0 and not cell.failure and not check(table, cell.kind, binary, cell.target, expected):
                cell.failure = "its rows are not those of the CSV"
            remove(cell.target)
        print(f"{table}: round {round_number} of {arguments.runs} done", flush=True)
    return {"rows": expected[0], "csv_bytes": os.path.getsize(source), "cells": [cell.result() for cell in cells]}


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "date": datetime.date.today().isoformat()}


def summary(results):
    machine_ = results["machine"]
    lines = ["# Converting CSV", "", f"{machine_['cores']} cores of an {machine_['cpu']}, Linux {machine_['kernel']}, {machine_['date']}; "
             f"threads: {results['threads']}; warm page cache; medians of {results['runs']} runs of whole processes, made by "
             "`scripts/bench-tables.py`. Peak memory in MiB, sizes in MB (10^6).", ""]
    for table, found in results["tables"].items():
        lines += [f"## {table}: {found['rows']:,} rows, {found['csv_bytes'] / 1e6:,.0f} MB", "", "| | s | MB | MiB |", "|---|---:|---:|---:|"]
        for cell in found["cells"]:
            if "failure" in cell:
                lines.append(f"| {cell['cell']} | failed: {cell['failure']} | | |")
            else:
                lines.append(f"| {cell['cell']} | {cell['median']:.2f} | {cell['bytes'] / 1e6:.1f} | {cell['memory'] / 2**20:.0f} |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default="lineitem,uservisits,g1")
    parser.add_argument("--rows", type=number, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    unknown = set(arguments.tables.split(",")) - TYPES.keys()
    if unknown:
        parser.error(f"unknown tables: {', '.join(sorted(unknown))}")
    out = arguments.out or os.path.join(ROOT, "bench-results", f"{datetime.date.today().isoformat()}-tables")
    subprocess.run(["cargo", "build", "--release", "--locked"], cwd=ROOT, check=True)
    binary = os.path.join(ROOT, os.environ.get("CARGO_TARGET_DIR", "target"), "release", "brc")
    with tempfile.TemporaryDirectory(dir=arguments.data) as work:
        data = arguments.data or work
        os.makedirs(out, exist_ok=True)
        results = {"machine": machine(), "threads": arguments.threads, "runs": arguments.runs, "tables": {}}
        for table in arguments.tables.split(","):
            source = os.path.join(data, f"{table}-{arguments.rows}.csv")
            if not os.path.exists(source):
                make_table(table, arguments.rows, source)
            results["tables"][table] = measure_table(table, source, binary, arguments, work)
            with open(os.path.join(out, "results.json"), "w") as file:
                json.dump(results, file, indent=1)
            with open(os.path.join(out, "README.md"), "w") as file:
                file.write(summary(results))
    failed = [cell for found in results["tables"].values() for cell in found["cells"] if "failure" in cell]
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
