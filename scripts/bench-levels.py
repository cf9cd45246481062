#!/usr/bin/env python3
"""Measures the same binary at each CPU instruction set level, by lowering BRC_CPU_LEVEL.

    python3 -m venv /tmp/bench && /tmp/bench/bin/pip install duckdb duckdb-cli polars pyarrow datafusion tpchgen-cli
    /tmp/bench/bin/python scripts/bench-levels.py [--rows 50M] [--table-rows 10M] [--runs 5] [--c-program FILE]
                                                  [--engines] [--binary FILE] [--data DIR] [--out bench-results/DATE-levels]

Builds the release binary, generates the tables of scripts/bench.py and scripts/bench-tables.py if --data does not have
them, and times whole processes with --threads threads and a warm page cache, at each level this processor supports:

- the query of the One Billion Row Challenge over text with 413 and with 10,000 names, and converting that text to
  buren;
- converting three CSV files to buren;
- the queries of scripts/bench-tables.py, over the CSV and over buren.

Each cell is run at all levels in turn, so that background load affects them equally: one warm-up run, then --runs runs,
or more where that takes less than half a second. During warm-up, the results must have the same lines at all levels,
and the files the same bytes. --c-program is a solution to the challenge that is called with a file and a number of
threads; it is run in turn as well. --engines also runs the CSV queries on the other engines. Writes results.json and
README.md to --out.
"""

import argparse
import datetime
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

from tables.host import machine, number
from tables.made import make_table
from tables.process import A_WHILE, MOST_RUNS, apart
from tables.querying import TEXT, ask_engine
from tables.questions import QUESTIONS

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# With the flags in `/proc/cpuinfo` that each level requires.
LEVELS = {"x86_64": {"avx512": "avx512_vbmi2", "avx2": "avx2", "portable": "sse2"}, "aarch64": {"neon": "asimd", "portable": "asimd"}}
PRESETS = {"413": "1brc", "10k": "1brc-10k"}
PEER = "C program"


class Cell:
    """A command whose output must be the same at all levels; `form` is the output format of the timed runs."""

    def __init__(self, group, name, command, form=(), target=None, peer=None):
        self.group, self.name, self.command, self.form, self.target, self.peer = group, name, command, form, target, peer
        self.seconds = {}

    def measure(self, levels, runs):
        if len({self.digest(level) for level in levels}) > 1:
            sys.exit(f"{self.group}, {self.name}: the answers differ")
        turns = [*levels, *([PEER] if self.peer else [])]
        self.seconds, start = {turn: [] for turn in turns}, time.perf_counter()
        while (done := len(self.seconds[turns[-1]])) < runs or (done < MOST_RUNS and time.perf_counter() - start < A_WHILE * len(turns)):
            for turn in turns:
                self.seconds[turn].append(self.run(turn))
        print(f"{self.group}, {self.name}: " + ", ".join(f"{turn} {self.median(turn) * 1e3:,.1f} ms" for turn in turns), flush=True)

    def started(self, turn, command, stdout):
        if self.target and os.path.exists(self.target):
            os.unlink(self.target)
        environment = {**os.environ, "BRC_CPU_LEVEL": turn}
        return subprocess.Popen(command, env=environment, stdout=stdout, stderr=subprocess.DEVNULL)

    def run(self, turn):
        command = self.peer if turn == PEER else [*self.command, *self.form]
        start = time.perf_counter()
        status = self.started(turn, command, subprocess.DEVNULL).wait()
        seconds = time.perf_counter() - start
        if status != 0:
            sys.exit(f"{self.group}, {self.name}: {turn} ends with {status}")
        return seconds

    def digest(self, level):
        """A hash of the target's bytes, or of the result's sorted lines."""
        form = ["--format", "csv"] if self.form else []
        with self.started(level, [*self.command, *form], subprocess.PIPE) as process:
            lines = sum(map(hash, process.stdout)) if not self.target else process.stdout.read()
        if process.returncode != 0:
            sys.exit(f"{self.group}, {self.name}: ends with {process.returncode}")
        if not self.target:
            return lines
        with open(self.target, "rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()

    def median(self, turn):
        return statistics.median(self.seconds[turn])


def cells_of_text(options, binary, work):
    for names, preset in PRESETS.items():
        text = os.path.join(options.data or work, f"{preset}-{options.rows}.txt")
        if not os.path.exists(text):
            subprocess.run([binary, "generate", text, "--preset", preset, "--rows", str(options.rows)], check=True)
        threads, target = ["--threads", str(options.threads)], os.path.join(work, "target.buren")
        peer = [options.c_program, text, str(options.threads)] if options.c_program else None
        yield Cell("1BRC text", f"{names} names", [binary, "query", text, *threads], peer=peer)
        yield Cell("1BRC to buren", f"{names} names", [binary, "convert", text, target, "--no-sync", *threads], target=target)


def cells_of_tables(options, binary, work):
    for table in QUESTIONS:
        source = os.path.join(options.data or work, f"{table}-{options.table_rows}.csv")
        if not os.path.exists(source):
            apart(make_table, table, options.table_rows, source)
        threads, target = ["--threads", str(options.threads)], os.path.join(work, "target.buren")
        yield Cell("CSV to buren", table, [binary, "convert", source, target, "--no-sync", *threads], target=target)
        stored = os.path.join(work, f"{table}.buren")
        subprocess.run([binary, "convert", source, stored, "--no-sync"], check=True, capture_output=True)
        for group, file in (("question of CSV", source), ("question of buren", stored)):
            for name, (text, _) in QUESTIONS[table].items():
                yield Cell(group, f"{table}: {name}", [binary, "query", file, text, *threads], ["--format", "arrow"])


def engines_of_tables(options, work):
    """Milliseconds per engine and CSV query."""
    found = {}
    for table in QUESTIONS:
        source = os.path.join(options.data or work, f"{table}-{options.table_rows}.csv")
        for engine in TEXT:
            for question, seconds in ask_engine(engine, table, source, options, work).items():
                found.setdefault(f"{table}: {question}", {})[engine.removesuffix("-file")] = seconds
    return found


def summary(results, cells, levels):
    its = results["machine"]
    lines = [
        "# One binary at each set of instructions", "",
        f"{its['cores']} cores of an {its['cpu']}, Linux {its['kernel']}, {its['date']}, load {its['load'][0]:.1f}; threads: {results['threads']}; warm "
        f"page cache; medians of {results['runs']} whole processes or more, all levels by turns, made by `scripts/bench-levels.py`. "
        f"{results['rows']:,} rows of the challenge, {results['table_rows']:,} of each CSV. Answers have the same lines, and files the same bytes, at all levels.", "",
        "## Ratios", "",
        "The worst and the geometric mean of each kind of work.", "",
        "| | " + " | ".join(f"{lower} / {higher}" for higher, lower in zip(levels, levels[1:])) + " |",
        "|---|" + "---:|" * (len(levels) - 1),
    ]
    for group in dict.fromkeys(cell.group for cell in cells):
        shown = []
        for higher, lower in zip(levels, levels[1:]):
            ratios = {cell.name: cell.median(lower) / cell.median(higher) for cell in cells if cell.group == group}
            worst = max(ratios, key=ratios.get)
            few = " / ".join(f"{ratio:.2f}" for ratio in ratios.values())
            shown.append(few if len(ratios) <= 3 else f"{ratios[worst]:.2f} ({worst}); mean {statistics.geometric_mean(ratios.values()):.2f}")
        named = [cell.name for cell in cells if cell.group == group]
        lines.append(f"| {group}{': ' + ' / '.join(named) if len(named) <= 3 else ''} | {' | '.join(shown)} |")
    lines += ["", "## Times", "", "Milliseconds.", ""]
    engines = results.get("engines", {})
    names = sorted({engine for seconds in engines.values() for engine in seconds})
    for group in dict.fromkeys(cell.group for cell in cells):
        chosen = [cell for cell in cells if cell.group == group]
        peers = [PEER] if any(cell.peer for cell in chosen) else []
        beside = names if group == "question of CSV" else []
        lines += [f"| {group} | {' | '.join([*levels, *peers, *beside])} |", "|---|" + "---:|" * (len(levels) + len(peers) + len(beside))]
        for cell in chosen:
            times = [cell.median(turn) for turn in [*levels, *peers]] + [engines.get(cell.name, {}).get(engine) for engine in beside]
            lines.append(f"| {cell.name} | {' | '.join('' if seconds is None else f'{seconds * 1e3:,.1f}' for seconds in times)} |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=50_000_000)
    parser.add_argument("--table-rows", type=number, default=10_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--c-program")
    parser.add_argument("--engines", action="store_true")
    parser.add_argument("--binary", help="measure this binary, rather than build one")
    parser.add_argument("--data", help="where the tables are kept")
    parser.add_argument("--only", default="", help="measure cells whose names have this in them")
    parser.add_argument("--out")
    options = parser.parse_args()
    out = options.out or os.path.join(ROOT, "bench-results", f"{datetime.date.today().isoformat()}-levels")
    binary = options.binary or os.path.join(ROOT, os.environ.get("CARGO_TARGET_DIR", "target"), "release", "brc")
    if not options.binary:
        subprocess.run(["cargo", "build", "--release", "--locked"], cwd=ROOT, check=True)
    with open("/proc/cpuinfo") as file:
        features = set(file.read().split())
    levels = [level for level, feature in LEVELS[platform.machine()].items() if feature in features]
    results = {"machine": machine(), "threads": options.threads, "runs": options.runs, "rows": options.rows, "table_rows": options.table_rows}
    with tempfile.TemporaryDirectory(dir=options.data) as work:
        cells = [*cells_of_text(options, binary, work), *cells_of_tables(options, binary, work)]
        cells = [cell for cell in cells if options.only in f"{cell.group} {cell.name}"]
        for cell in cells:
            cell.measure(levels, options.runs)
        if options.engines:
            results["engines"] = engines_of_tables(options, work)
    results["cells"] = [{"group": cell.group, "cell": cell.name, "seconds": cell.seconds} for cell in cells]
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "results.json"), "w") as file:
        json.dump(results, file, indent=1)
    with open(os.path.join(out, "README.md"), "w") as file:
        file.write(summary(results, cells, levels))


if __name__ == "__main__":
    main()
