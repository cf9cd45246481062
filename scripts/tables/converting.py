"""How fast and how small each engine converts a CSV file, and whether it wrote the same rows."""

import importlib.metadata
import os
import statistics
import subprocess
import sys

from .files import remove, size
from .made import TYPES, fingerprint
from .process import apart, run

# What a peer runs in a separate process; imports are not timed.
PEERS = {
    "polars to parquet zstd": ("polars", "parquet", "polars.scan_csv({source!r}, try_parse_dates=True).sink_parquet({target!r}, compression='zstd')"),
    "polars to parquet snappy": ("polars", "parquet", "polars.scan_csv({source!r}, try_parse_dates=True).sink_parquet({target!r}, compression='snappy')"),
    "polars to arrow": ("polars", "arrow", "polars.scan_csv({source!r}, try_parse_dates=True).sink_ipc({target!r})"),
    "duckdb to parquet zstd": ("duckdb", "parquet", "duckdb.execute(\"set threads = {threads}; set enable_progress_bar = false; copy (select * from read_csv('{source}')) to '{target}' (format parquet, compression zstd)\")"),
    "duckdb to its own file": ("duckdb", "duckdb", "d = duckdb.connect({target!r}); d.execute(\"set threads = {threads}; set enable_progress_bar = false; create table t as select * from read_csv('{source}'); checkpoint\")"),
    "datafusion to parquet zstd": ("datafusion", "parquet", "c = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions({threads})); c.register_csv('t', {source!r}); c.sql('select * from t').write_parquet({target!r}, compression='zstd')"),
}

# brc's conversions: the target's extension and the options.
OURS = {
    "brc to buren": ("buren", []),
    "brc to buren, from a pipe": ("buren", []),
    "brc to parquet snappy": ("parquet", ["--compression", "snappy"]),
    "brc to parquet zstd": ("parquet", ["--compression", "zstd"]),
}


def check(name, kind, binary, target, expected):
    """Whether a file has the same rows as the CSV."""
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


class Cell:
    """Measures one way to convert one table."""

    def __init__(self, name, kind, command, source, target, from_pipe=False, is_peer=False):
        self.name, self.kind, self.command, self.source, self.target = name, kind, command, source, target
        self.from_pipe, self.is_peer = from_pipe, is_peer
        self.seconds, self.memory, self.bytes, self.failure = [], 0, None, None

    def measure(self, threads, keep_time):
        remove(self.target)
        try:
            if self.from_pipe:
                with subprocess.Popen(["cat", self.source], stdout=subprocess.PIPE) as pipe:
                    seconds, memory = run(self.command, threads, pipe.stdout)
            else:
                seconds, memory = run(self.command, threads, timed_by_itself=self.is_peer)
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
        code = code.format(source=source, target=target, threads=threads)
        timed = f"import time, {package}; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
        cells.append(Cell(f"{name} ({package} {version})", kind, [sys.executable, "-c", timed], source, target, is_peer=True))
    return cells


def measure_conversions(table, source, binary, arguments, work):
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in TYPES[table].items())
    expected = apart(fingerprint, f"read_csv('{source}', header = true, columns = {{{types}}})", TYPES[table])
    cells = cells_of(table, source, binary, arguments.threads, work)
    for round_number in range(arguments.runs + 1):
        for cell in cells:
            if cell.failure:
                continue
            cell.measure(arguments.threads, round_number > 0)
            if round_number == 0 and not cell.failure and not apart(check, table, cell.kind, binary, cell.target, expected):
                cell.failure = "its rows are not those of the CSV"
            remove(cell.target)
        print(f"{table}: round {round_number} of {arguments.runs} done", flush=True)
    return {"rows": expected[0], "csv_bytes": os.path.getsize(source), "cells": [cell.result() for cell in cells]}
