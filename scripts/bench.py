#!/usr/bin/env python3
"""Measures brc as whole processes, relative to the cost of just reading or writing the same bytes.

    scripts/bench.py [--rows 100M] [--runs 11] [--threads 2] [--data DIR] [--out bench-results/DATE-ROWS] [--cold]
                     [--manual]

Needs only Python 3.9 and cargo. Builds the release binary, generates the tables of the presets 1brc (413 names) and
1brc-10k (10,000 names) and measures the cells listed in this file: one warm-up each, then --runs rounds of all cells in
turn, so that background load affects them equally.

- Times are wall-clock seconds from before the process is started until it has been waited for. Peak memory is what the
  system reports (ru_maxrss); it cannot be measured below that of the parent process, which an empty process shows.
- Before anything is timed, the text query is checked on a small table of each preset against a result computed by this
  script in plain Python. Each run of each cell is then checked: queries against the text query's result; conversions to
  buren against the bytes of the first run, whose rows were compared; conversions to text against the table. A cell with
  a wrong result fails and is not timed any further.
- The page cache is warm if the files fit in memory. With --cold, some cells are measured again at the end with the file
  dropped from the page cache before each run.
- A cell's output is deleted before the next one starts, so that its write-back does not overlap with the next cell.

Writes to --out after each measurement: results.json (machine, command line, all samples) and README.md (the summary).
--data keeps the tables in a directory and reuses existing ones; without it, they live in a temporary directory. A
hundred million rows need 8 GB of disk, and as much free memory to stay in the page cache. The exit code is 1 if a cell
failed. A missed target is not a failure: the summary reports it.
"""

import argparse
import concurrent.futures
import datetime
import hashlib
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PRESETS = {"413": "1brc", "10k": "1brc-10k"}
ORACLE_ROWS = 1_000_000

# Targets for 100 M rows on 2 cores: description, cell, measure, must, aim. The measure is a time in milliseconds
# ("ms"), a
# memory size in MiB ("MiB"), or another cell by whose time this one's is divided.
GOALS = [
    ("query text, 413 names", "query text 413", "ms", 200, 165),
    ("… as a multiple of cat", "query text 413", "cat text 413", 1.65, None),
    ("query text, 10,000 names", "query text 10k", "ms", 400, 300),
    ("… as a multiple of cat", "query text 10k", "cat text 10k", 2.8, None),
    ("convert to buren, 413 names, as a multiple of the text query", "convert none 413", "query text 413", 2, 1.5),
    ("… synced to the disk", "convert none 413, synced", "query text 413", None, None),
    ("convert to buren, 10,000 names, likewise", "convert none 10k", "query text 10k", 2, 1.5),
    ("… synced to the disk", "convert none 10k, synced", "query text 10k", None, None),
    ("query buren, data read, 413 names", "query buren data 413", "ms", 15, 9),
    ("query buren, data read, 10,000 names", "query buren data 10k", "ms", 30, 18),
    ("query buren with statistics, 413 names", "query buren 413", "ms", 5, 2),
    ("query buren with statistics, 10,000 names", "query buren 10k", "ms", 5, 2),
    ("one station, 413 names", "query buren station 413", "ms", 5, 2),
    ("one station, 10,000 names", "query buren station 10k", "ms", 5, 2),
    ("temperature > 30, 413 names", "query buren warm 413", "ms", 30, 12),
    ("temperature > 30, 10,000 names", "query buren warm 10k", "ms", 30, 12),
    ("bytes a row, none, 413 names", "convert none 413", "bytes a row", 2.65, 2.4),
    ("bytes a row, none, 10,000 names", "convert none 10k", "bytes a row", None, None),
    ("best of snappy and lz4 as a multiple of none, 413 names", "sizes 413", "size ratio", 1.01, None),
    ("best of snappy and lz4 as a multiple of none, 10,000 names", "sizes 10k", "size ratio", 1.01, None),
    ("peak memory of the text query, 413 names", "query text 413", "MiB", 256, 64),
    ("peak memory of the text query, 10,000 names", "query text 10k", "MiB", 256, 64),
    ("peak memory of convert, 413 names", "convert none 413", "MiB", 256, 64),
    ("peak memory of convert, 10,000 names", "convert none 10k", "MiB", 256, 64),
]
# Time targets apply only to this number of rows and threads.
GOALS_ROWS, GOALS_THREADS = 100_000_000, 2

# The table in docs/performance.md: description, cell, measure.
FIGURES = [
    ("`cat` the text to nowhere", "cat text", "ms"),
    ("read the text into a buffer, and nothing else", "read text", "ms"),
    ("**query the text**", "query text", "ms"),
    ("**convert to buren**", "convert none", "ms"),
    ("convert to buren, and wait for the disk", "convert none, synced", "ms"),
    ("**query buren, data read** (`--no-statistics`)", "query buren data", "ms"),
    ("query buren, answered from statistics", "query buren", "ms"),
    ("`station = '…'`", "query buren station", "ms"),
    ("`temperature > 30`", "query buren warm", "ms"),
    ("convert back to text", "convert back", "ms"),
    ("generate the text", "generate", "ms"),
    ("write as many bytes, and nothing else", "write text", "ms"),
    ("size of the text", "cat text", "size"),
    ("size of the buren file", "convert none", "size"),
    ("peak memory of the text query", "query text", "MiB"),
    ("peak memory of the conversion", "convert none", "MiB"),
]


class Wrong(Exception):
    """A process failed or gave a wrong result."""


class Cell:
    """A measurement: a command, its input or output file, and how its result is checked."""

    def __init__(self, name, command, *, rows=0, size=0, floor=None, target=None, check=None, drop=None):
        self.name, self.command, self.rows, self.size = name, command, rows, size
        self.floor, self.target, self.check, self.drop = floor, target, check, drop
        self.samples, self.failed, self.stored = [], None, None

    def times(self):
        return [sample["seconds"] for sample in self.samples]

    def median(self):
        return statistics.median(self.times()) if self.samples and not self.failed else None

    def memory(self):
        return max(sample["peak_kib"] for sample in self.samples) / 1024 if self.samples and not self.failed else None

    def report(self):
        about = {key: getattr(self, key) for key in ("name", "command", "rows", "size", "floor", "failed", "stored")}
        return {**about, "samples": self.samples}


def count(text):
    """A number of rows as brc writes it: 100M, 1_000_000."""
    match = re.fullmatch(r"([0-9_]+)([kMGB]?)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of rows")
    return int(match[1].replace("_", "")) * {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "B": 10**9}[match[2]]


def short(rows):
    for unit, size in (("B", 10**9), ("M", 10**6), ("k", 10**3)):
        if rows >= size and rows % size == 0:
            return f"{rows // size}{unit}"
    return str(rows)


def output_of(*command):
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


# A separate small process starts the measured one: until `exec`, the parent's memory counts as the child's peak memory,
# so
# the parent should be as small as Python allows. Each input line is a command whose words are separated by NUL; the
# first
# word is the file for its standard output.
STARTER = """
import os, sys, time
flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
while line := sys.stdin.buffer.readline():
    stdout, *command = line.rstrip(b"\\n").split(b"\\0")
    actions = [(os.POSIX_SPAWN_OPEN, number, path, flags, 0o644) for number, path in ((1, stdout), (2, stdout + b".err"))]
    actions.append((os.POSIX_SPAWN_OPEN, 0, b"/dev/null", os.O_RDONLY, 0))
    before = time.perf_counter()
    try:
        process = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    except OSError as error:
        print("error", error, flush=True)
        continue
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - before
    print(os.waitstatus_to_exitcode(status), seconds, usage.ru_utime, usage.ru_stime, usage.ru_maxrss, flush=True)
"""
starter = None


def measure(command, stdout):
    """Runs a process; returns its time and memory."""
    global starter
    if starter is None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        starter = subprocess.Popen([sys.executable, "-I", "-S", "-c", STARTER], text=True, bufsize=1, **pipes)
    starter.stdin.write("\0".join([stdout, *command]) + "\n")
    status, *figures = starter.stdout.readline().split()
    if status == "error":
        raise Wrong(f"{command[0]}: {' '.join(figures)}")
    if status != "0":
        with open(stdout + ".err", errors="replace") as errors:
            raise Wrong(f"{command[0]}: exit status {status}: {errors.read().strip()[:500]}")
    seconds, user, system, peak = map(float, figures)
    # Kibibytes on Linux, bytes on macOS.
    peak_kib = int(peak) // (1024 if sys.platform == "darwin" else 1)
    return {"seconds": seconds, "user": user, "system": system, "peak_kib": peak_kib}


def content(path):
    with open(path, "rb") as file:
        return file.read()


def fingerprint(path):
    digest = hashlib.blake2b()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def same_files(left, right):
    if os.path.getsize(left) != os.path.getsize(right):
        return False
    with open(left, "rb") as one, open(right, "rb") as other:
        while piece := one.read(1 << 20):
            if piece != other.read(1 << 20):
                return False
    return True


def oracle(path):
    """The challenge's result for a table, and for its rows over 30 degrees, computed in integers."""
    groups, warm = {}, {}
    with open(path, "rb") as file:
        for line in file:
            name, text = line.rstrip(b"\n").split(b";")
            whole, tenth = text.lstrip(b"-").split(b".")
            value = int(whole) * 10 + int(tenth)
            value = -value if text.startswith(b"-") else value
            for table in (groups, warm) if value > 300 else (groups,):
                table.setdefault(name, []).append(value)
    return one_brc(groups), one_brc(warm)


def one_brc(groups):
    def tenths(value):
        return b"%s%d.%d" % (b"-" if value < 0 else b"", abs(value) // 10, abs(value) % 10)

    def entry(name, values):
        mean = (2 * sum(values) + len(values)) // (2 * len(values))
        return b"%s=%s/%s/%s" % (name, tenths(min(values)), tenths(mean), tenths(max(values)))

    return b"{" + b", ".join(entry(name, values) for name, values in sorted(groups.items())) + b"}\n"


def machine():
    """The hardware and software that the figures depend on."""
    cpu, memory, caches = "", "", {}
    try:
        with open("/proc/cpuinfo") as file:
            cpu = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
        with open("/proc/meminfo") as file:
            memory = f"{int(file.readline().split()[1]) / 2**20:.1f} GiB"
        base = "/sys/devices/system/cpu/cpu0/cache"
        for index in sorted(name for name in os.listdir(base) if name.startswith("index")):
            level, kind, size = (content(f"{base}/{index}/{part}").decode().strip() for part in ("level", "type", "size"))
            caches[f"L{level} {kind.lower()}"] = size
    except OSError:
        pass
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": cpu or platform.processor(),
        "cores": usable,
        "caches": caches,
        "memory": memory,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "rustc": output_of("rustc", "--version"),
        "cargo_lock": fingerprint(os.path.join(ROOT, "Cargo.lock"))[:16],
        "python": platform.python_version(),
        "commit": output_of("git", "rev-parse", "HEAD"),
        "changed_files": output_of("git", "diff", "--name-only", "HEAD").splitlines(),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "load": os.getloadavg(),
    }


class Bench:
    def __init__(self, options, data):
        self.options, self.data = options, data
        self.stdout, self.target = os.path.join(data, "bench.out"), os.path.join(data, "bench.target")
        self.machine, self.cells, self.rounds, self.notes = machine(), {}, 0, []
        self.brc = self.read_floor = self.write_floor = None

    # Preparing

    def build(self):
        for package, what in (("brc-cli", "--bins"), ("brc-encodings", "--examples")):
            subprocess.run(["cargo", "build", "--release", "--locked", "-p", package, what], cwd=ROOT, check=True)
        metadata = json.loads(output_of("cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"))
        release = os.path.join(metadata["target_directory"], "release")
        self.brc = os.path.join(release, "brc")
        self.read_floor = os.path.join(release, "examples", "read_floor")
        self.write_floor = os.path.join(release, "examples", "write_floor")

    def check_space(self):
        needed = 80 * self.options.rows
        free = shutil.disk_usage(self.data).free
        if free < needed:
            raise Wrong(f"{self.data}: {free / 1e9:.1f} GB are free, {needed / 1e9:.1f} are needed")

    def run(self, *command):
        """Runs a process untimed; returns its standard output."""
        measure(list(command), self.stdout)
        return content(self.stdout)

    def path(self, names, rows, extension):
        return os.path.join(self.data, f"{PRESETS[names]}-{short(rows)}.{extension}")

    def text(self, names, rows):
        path = self.path(names, rows, "txt")
        if not os.path.exists(path):
            self.say(f"generating {os.path.basename(path)}")
            self.run(self.brc, "generate", path, "--preset", PRESETS[names], "--rows", str(rows))
        return path

    def buren(self, names, compression):
        """The converted table, whose rows are compared with the text's."""
        text = self.text(names, self.options.rows)
        path = self.path(names, self.options.rows, f"{compression}.buren")
        self.say(f"converting to {os.path.basename(path)}")
        self.run(self.brc, "convert", text, path, "--force", "--compression", compression)
        self.run(self.brc, "convert", path, self.target, "--to", "csv", "--no-sync")
        same = same_files(text, self.target)
        os.unlink(self.target)
        if not same:
            raise Wrong(f"{path}: other rows came back than went in")
        return path

    def check_against_oracle(self):
        """Checks the text query on tables small enough for plain Python, which runs in a separate process."""
        for names in PRESETS:
            path = self.text(names, ORACLE_ROWS)
            with concurrent.futures.ProcessPoolExecutor(1) as pool:
                everything, warm = pool.submit(oracle, path).result()
            for expected, question in ((everything, []), (warm, ["--where", "temperature > 30", "--format", "1brc"])):
                if self.run(self.brc, "query", path, *question) != expected:
                    raise Wrong(f"{path}: the answer to {question} is not the oracle's")
        self.say("the text query's answers are those of plain Python")

    # The cells

    def add(self, name, command, **about):
        self.cells[name] = Cell(name, command, **about)

    def answers(self, expected):
        def check(_cell):
            if content(self.stdout) != expected:
                raise Wrong("the answer is not that of the text query")

        return check

    def writes(self, expected):
        def check(cell):
            cell.stored = os.path.getsize(self.target)
            if fingerprint(self.target) != expected:
                raise Wrong("the bytes written are not those that were checked")

        return check

    def writes_text(self, text):
        def check(cell):
            cell.stored = os.path.getsize(self.target)
            if not same_files(text, self.target):
                raise Wrong("the text written is not that of the table")

        return check

    def make_cells(self):
        rows, threads = self.options.rows, ["--threads", str(self.options.threads)]
        self.add("an empty process", ["true"])
        for names in PRESETS:
            self.make_floors(names, rows)
            self.make_queries(names, rows, threads)
            self.make_conversions(names, rows, threads)
        self.make_scaling()

    def make_floors(self, names, rows):
        text, buren = self.text(names, rows), self.buren(names, "none")
        for kind, path in (("text", text), ("buren", buren)):
            size, threads = os.path.getsize(path), str(self.options.threads)
            cat = ["sh", "-c", 'exec cat "$0" > /dev/null', path]
            self.add(f"cat {kind} {names}", cat, rows=rows, size=size)
            check = self.answers(b"%d\n" % size)
            self.add(f"read {kind} {names}", [self.read_floor, path, threads], rows=rows, size=size, check=check)

    def make_queries(self, names, rows, threads):
        text, buren = self.text(names, rows), self.path(names, rows, "none.buren")
        names_there = json.loads(self.run(self.brc, "query", text, "--agg", "count()", "--format", "json-array"))
        there = [row["station"] for row in names_there if re.fullmatch(r"[A-Za-z]{3,20}", row["station"])]
        station = "Hamburg" if "Hamburg" in there else there[len(there) // 2]
        one, warm = ["--where", f"station = '{station}'"], ["--where", "temperature > 30"]
        form = ["--format", "1brc"]
        for name, path, question, more in (
            ("text", text, [], []),
            ("text station", text, one, []),
            ("text warm", text, warm, []),
            ("buren data", buren, [], ["--no-statistics"]),
            ("buren", buren, [], []),
            ("buren station", buren, one, []),
            ("buren station data", buren, one, ["--no-statistics"]),
            ("buren warm", buren, warm, ["--no-statistics"]),
        ):
            expected = self.run(self.brc, "query", text, *question, *form)
            command = [self.brc, "query", path, *question, *form, *more, *threads]
            floor = f"read {'text' if path == text else 'buren'} {names}"
            size = os.path.getsize(path)
            self.add(f"query {name} {names}", command, rows=rows, size=size, floor=floor, check=self.answers(expected))
        for compression in ("snappy", "lz4"):
            path = self.buren(names, compression)
            expected = self.run(self.brc, "query", text, *form)
            command = [self.brc, "query", path, *form, "--no-statistics", *threads]
            about = {"rows": rows, "size": os.path.getsize(path), "check": self.answers(expected)}
            self.add(f"query buren {compression} data {names}", command, **about)

    def make_conversions(self, names, rows, threads):
        text = self.text(names, rows)
        about = {"rows": rows, "size": os.path.getsize(text), "target": self.target}
        for compression in ("none", "snappy", "lz4"):
            check = self.writes(fingerprint(self.path(names, rows, f"{compression}.buren")))
            command = [self.brc, "convert", text, self.target, "--to", "buren", "--compression", compression, *threads]
            floor = f"read text {names}"
            name = f"convert {compression} {names}"
            self.add(name, [*command, "--no-sync"], floor=floor, check=check, **about)
            self.add(f"{name}, synced", command, floor=floor, check=check, **about)
        # After the queries: write-back keeps the system busy for a while.
        write = [self.write_floor, self.target, str(about["size"]), str(self.options.threads)]
        self.add(f"write text {names}", write, **about)
        buren = self.path(names, rows, "none.buren")
        back = [self.brc, "convert", buren, self.target, "--to", "csv", "--no-sync", *threads]
        generate = [self.brc, "generate", self.target, "--preset", PRESETS[names], "--rows", str(rows), *threads]
        floor, check = f"write text {names}", self.writes_text(text)
        self.add(f"convert back {names}", back, floor=floor, check=check, **about)
        self.add(f"generate {names}", generate, floor=floor, check=check, **about)

    def make_scaling(self):
        """1 %, 10 % and all of the rows; with one thread and with all."""
        for rows in (self.options.rows // 100, self.options.rows // 10, self.options.rows):
            text = self.text("413", max(rows, 1))
            expected = self.run(self.brc, "query", text)
            self.run(self.brc, "convert", text, self.target, "--to", "buren", "--no-sync")
            stored = fingerprint(self.target)
            os.unlink(self.target)
            for threads in sorted({1, self.options.threads}):
                more = ["--threads", str(threads)]
                about = {"rows": rows, "size": os.path.getsize(text)}
                name = f"{short(rows)} rows, threads: {threads}"
                check = self.answers(expected)
                self.add(f"scaling: query text, {name}", [self.brc, "query", text, *more], check=check, **about)
                command = [self.brc, "convert", text, self.target, "--to", "buren", "--no-sync", *more]
                about["target"] = self.target
                self.add(f"scaling: convert, {name}", command, check=self.writes(stored), **about)

    def make_cold_cells(self):
        """Measures some cells again, with their file out of the page cache. Returns their names."""
        cold = []
        for names in PRESETS:
            for kind, cells in (("text", ("read text", "query text")), ("buren", ("read buren", "query buren data"))):
                extension = "txt" if kind == "text" else "none.buren"
                path = self.path(names, self.options.rows, extension)
                with open(path, "rb+") as file:
                    os.fsync(file.fileno())
                for cell in (self.cells[f"{name} {names}"] for name in cells):
                    name = f"cold: {cell.name}"
                    floor = cell.floor and f"cold: {cell.floor}"
                    about = {"rows": cell.rows, "size": cell.size, "check": cell.check}
                    self.add(name, cell.command, floor=floor, drop=path, **about)
                    cold.append(name)
        return cold

    # Measuring

    def once(self, cell, keep):
        """Measures a cell once, checks its result, and keeps the sample unless it is a warm-up."""
        try:
            if cell.target and os.path.exists(cell.target):
                os.unlink(cell.target)
            if cell.drop:
                with open(cell.drop, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            sample = measure(cell.command, self.stdout)
            if cell.check:
                cell.check(cell)
            if keep:
                cell.samples.append(sample)
        except Wrong as wrong:
            cell.failed = str(wrong)
            self.say(f"FAILED: {cell.name}: {wrong}")
        finally:
            if cell.target and os.path.exists(cell.target):
                os.unlink(cell.target)
                # Otherwise its write-back would overlap with the next cell.
                os.sync()
        self.flush()

    def measure_rounds(self, cells, runs):
        for number in range(runs + 1):
            began = time.perf_counter()
            for cell in cells:
                if not cell.failed:
                    self.once(cell, keep=number > 0)
            done = f"round {number} of {runs}" if number else "warm-up"
            self.say(f"{done} of {len(cells)} cells: {time.perf_counter() - began:.1f} s")

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    # Reporting

    def flush(self):
        own = self.cells["an empty process"].memory() or 0
        options = {key: value for key, value in vars(self.options).items() if key not in ("data", "out", "arguments")}
        results = {
            "machine": self.machine,
            "command": ["scripts/bench.py", *self.options.arguments],
            "options": options,
            "cells": [self.without_paths(cell.report()) for cell in self.cells.values()],
        }
        self.replace("results.json", json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        self.replace("README.md", self.summary(own))

    def without_paths(self, report):
        report["command"] = [os.path.basename(word) if os.path.isabs(word) else word for word in report["command"]]
        return report

    def replace(self, name, text):
        path = os.path.join(self.options.out, name)
        with open(path + ".new", "w") as file:
            file.write(text)
        os.replace(path + ".new", path)

    def summary(self, own):
        m, options = self.machine, self.options
        caches = ", ".join(f"{name} {size}" for name, size in m["caches"].items())
        changed = f", with {len(m['changed_files'])} changed files" if m["changed_files"] else ""
        lines = [
            f"# brc, {options.rows:,} rows, threads: {options.threads}, {m['date'][:10]}",
            "",
            f"- {m['cpu']}, cores: {m['cores']}, memory {m['memory']}, caches of a core: {caches}",
            f"- {m['system']}; {m['rustc']}; commit {m['commit'] or 'unknown'}{changed}",
            f"- `{' '.join(['scripts/bench.py', *options.arguments])}`, {m['date']}",
            "- Whole processes, warm page cache unless a cell says cold; all cells in turn, after a warm-up of each.",
            "- Every answer of every run was checked; the text query's against plain Python on 1,000,000 rows.",
            f"- Peak memory below {own:.0f} MiB, that of the process that starts the others, cannot be told.",
            "",
            *self.goal_lines(),
            *self.cell_lines(),
            *self.size_lines(),
            *self.scaling_lines(),
        ]
        failed = [cell for cell in self.cells.values() if cell.failed]
        if failed:
            lines += ["## Failed", "", *(f"- {cell.name}: {cell.failed}" for cell in failed), ""]
        return "\n".join(lines)

    def goal_lines(self):
        lines = ["## Goals", ""]
        as_meant = (self.options.rows, self.options.threads) == (GOALS_ROWS, GOALS_THREADS)
        if not as_meant:
            meant = f"{short(GOALS_ROWS)} rows and {GOALS_THREADS} threads"
            lines += [f"The goals of time are for {meant}: here they are not judged.", ""]
        lines += ["| | must | aim | measured | met |", "|---|---:|---:|---:|---|"]
        for what, name, measure_name, must, aim in GOALS:
            value, unit = self.goal_value(name, measure_name)
            is_time = measure_name == "ms" or measure_name in self.cells
            judged = value is not None and must is not None and (as_meant or not is_time)
            verdict = "" if not judged else "aim" if aim and value <= aim else "must" if value <= must else "**missed**"
            shown = [f"≤ {limit:g}{unit}" if limit is not None else "" for limit in (must, aim)]
            measured = "" if value is None else f"{value:.3g}{unit}" if value < 100 else f"{value:.0f}{unit}"
            lines.append(f"| {what} | {shown[0]} | {shown[1]} | {measured} | {verdict} |")
        return [*lines, "", "Times are medians; memory is the most of all runs.", ""]

    def goal_value(self, name, measure_name):
        if measure_name == "size ratio":
            none, snappy, lz4 = (self.stored(f"convert {kind} {name.split()[1]}") for kind in ("none", "snappy", "lz4"))
            return (min(snappy, lz4) / none if none and snappy and lz4 else None), " ×"
        cell = self.cells.get(name)
        if cell is None or cell.median() is None:
            return None, {"ms": " ms", "MiB": " MiB", "bytes a row": ""}.get(measure_name, " ×")
        if measure_name == "ms":
            return cell.median() * 1000, " ms"
        if measure_name == "MiB":
            return cell.memory(), " MiB"
        if measure_name == "bytes a row":
            return cell.stored / cell.rows, ""
        other = self.cells.get(measure_name)
        return (cell.median() / other.median() if other and other.median() else None), " ×"

    def stored(self, name):
        cell = self.cells.get(name)
        return cell.stored if cell and not cell.failed else None

    def cell_lines(self):
        lines = [
            "## Cells",
            "",
            "Milliseconds. *CPU* is user and system time together. *GB/s* is of the file read (or the text written);",
            "*× floor* is the median over that of the floor named.",
            "",
            "| | median | mean | min | max | stdev | runs | CPU | GB/s | peak MiB | × floor |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
        ]
        for cell in self.cells.values():
            if not cell.samples or cell.failed or cell.name.startswith("scaling"):
                continue
            times = [seconds * 1000 for seconds in cell.times()]
            median, mean, least, most = statistics.median(times), statistics.mean(times), min(times), max(times)
            spread = statistics.stdev(times) if len(times) > 1 else 0
            cpu = statistics.median(sample["user"] + sample["system"] for sample in cell.samples) * 1000
            speed = f"{cell.size / median / 1e6:.2f}" if cell.size else ""
            floor = self.cells.get(cell.floor)
            ratio = f"{median / 1000 / floor.median():.2f} × {floor.name}" if floor and floor.median() else ""
            figures = " | ".join(f"{figure:.1f}" for figure in (median, mean, least, most, spread))
            row = f"| {cell.name} | {figures} | {len(times)} | {cpu:.0f} | {speed} | {cell.memory():.0f} | {ratio} |"
            lines.append(row)
        return [*lines, ""]

    def size_lines(self):
        lines = ["## Sizes", "", "| | bytes | bytes a row |", "|---|---:|---:|"]
        for names in PRESETS:
            text = self.cells.get(f"cat text {names}")
            sizes = [(f"text {names}", text.size if text else None)]
            sizes += [(f"buren {kind} {names}", self.stored(f"convert {kind} {names}")) for kind in ("none", "snappy", "lz4")]
            lines += [f"| {name} | {size:,} | {size / self.options.rows:.3f} |" for name, size in sizes if size]
        return [*lines, ""]

    def figures(self):
        """The table for docs/performance.md."""
        m, options = self.machine, self.options
        results = os.path.relpath(options.out, ROOT)
        lines = [
            f"{options.rows:,} rows, threads: {options.threads}, {m['cores']} cores of an {m['cpu']}, warm page cache,",
            f"{m['date'][:10]}; median of {options.runs} runs of whole processes. All results: [{results}](../{results}/README.md).",
            "",
            "| | 413 names | 10,000 names |",
            "|---|---:|---:|",
        ]
        for what, name, kind in FIGURES:
            word, _, more = name.partition(",")
            cells = [self.cells.get(f"{word} {names}{',' * bool(more)}{more}") for names in PRESETS]
            figures = [self.figure(cell, kind) for cell in cells]
            if all(figures):
                lines.append(f"| {what} | {figures[0]} | {figures[1]} |")
        return lines

    def figure(self, cell, kind):
        if cell is None or cell.median() is None:
            return None
        if kind == "ms":
            return f"{cell.median() * 1000:.{0 if cell.median() >= 0.1 else 1}f} ms"
        if kind == "MiB":
            return f"{cell.memory():.0f} MiB"
        size = cell.stored or cell.size
        return f"{size / 1e6:,.0f} MB, {size / cell.rows:.2f} bytes a row"

    def write_manual(self):
        """Replaces the table between the markers in docs/performance.md."""
        path = os.path.join(ROOT, "docs", "performance.md")
        begin, end = "<!-- figures: scripts/bench.py --manual -->\n", "<!-- end of figures -->\n"
        text = content(path).decode()
        before, rest = text.split(begin)
        after = rest.split(end)[1]
        with open(path, "w") as file:
            file.write("".join([before, begin, *(f"{line}\n" for line in self.figures()), end, after]))

    def scaling_lines(self):
        lines = [
            "## Rows and threads",
            "",
            "413 names; conversions to buren unsynced. Median, and nanoseconds a row.",
            "",
            "| | ms | ns a row |",
            "|---|---:|---:|",
        ]
        for cell in self.cells.values():
            if cell.name.startswith("scaling: ") and cell.median() is not None and cell.rows:
                name = cell.name.removeprefix("scaling: ")
                lines.append(f"| {name} | {cell.median() * 1e3:.1f} | {cell.median() * 1e9 / cell.rows:.2f} |")
        return [*lines, ""]


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=count, default=count("100M"), help="rows of the tables (default 100M)")
    parser.add_argument("--runs", type=int, default=11, help="rounds after the warm-up (default 11)")
    parser.add_argument("--threads", type=int, default=2, help="threads of each process (default 2)")
    parser.add_argument("--data", help="directory in which the tables are kept")
    parser.add_argument("--out", help="directory of the results (default bench-results/DATE-ROWS)")
    parser.add_argument("--manual", action="store_true", help="put the main figures into docs/performance.md")
    parser.add_argument("--cold", action="store_true", help="measure with a cold page cache too")
    options = parser.parse_args(arguments)
    if options.rows < 100_000 or options.runs < 1 or options.threads < 1:
        parser.error("needs at least 100k rows, one run and one thread")
    today = datetime.date.today().isoformat()
    options.out = os.path.abspath(options.out or os.path.join(ROOT, "bench-results", f"{today}-{short(options.rows)}"))
    # Published results do not show local paths.
    options.arguments = [re.sub(r"^(--(?:data|out)=)?/.*", r"\1…", word) for word in arguments]
    return options


def main():
    options = parse(sys.argv[1:])
    os.makedirs(options.out, exist_ok=True)
    data = options.data or tempfile.mkdtemp(prefix="brc-bench-")
    os.makedirs(data, exist_ok=True)
    bench = Bench(options, data)
    try:
        bench.build()
        bench.check_space()
        bench.check_against_oracle()
        bench.make_cells()
        os.sync()
        bench.measure_rounds(list(bench.cells.values()), options.runs)
        if options.cold:
            bench.measure_rounds([bench.cells[name] for name in bench.make_cold_cells()], options.runs)
        if options.manual:
            bench.write_manual()
    except Wrong as wrong:
        sys.exit(f"bench: {wrong}")
    finally:
        for leftover in (bench.stdout, bench.stdout + ".err", bench.target):
            if os.path.exists(leftover):
                os.unlink(leftover)
        if not options.data:
            shutil.rmtree(data, ignore_errors=True)
    bench.say(f"results are in {os.path.relpath(options.out)}")
    sys.exit(any(cell.failed for cell in bench.cells.values()))


if __name__ == "__main__":
    main()
