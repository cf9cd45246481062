#!/usr/bin/env python3
"""Compares `brc-sql` on buren with DataFusion on Parquet and DuckDB on its own tables: times and results.

    cargo build --release --locked && (cd crates/brc-datafusion && cargo build --release --locked)
    python3 -m venv /tmp/bench && /tmp/bench/bin/pip install duckdb datafusion==55.0.0 pyarrow tpchgen-cli
    /tmp/bench/bin/python scripts/bench-sql.py BRC_SQL BRC [--suites tpch,joins,clickbench,1brc] [--data DIR] [--runs 3]

The suites are the 22 queries of TPC-H, h2o's five joins (whose results are stored as tables), ClickBench's 43 queries
over a generated table, and the query of the One Billion Row Challenge. Tables missing from --data are generated:
Parquet with zstd, buren converted from it, and a DuckDB database. All engines are warm: one process runs a query once
to warm up and then --runs times; medians are reported. With --rounds, the engines take turns. Expected results are
DuckDB's, for TPC-H those of DataFusion on Parquet; floats are compared to 9 digits.
"""

import argparse
import json
import math
import re
import statistics
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

from interop import clickbench
from interop.clickbench import of_datafusion
from interop.hits import count, make_hits
from sql import joins, tpch
from tables.made import tpchgen

THREADS = 2


class Suite:
    """Tables and queries; each query is a list of statements, of which the last one before `after` is timed."""

    def __init__(self, name, directory, tables, questions, check=None, drop=None):
        self.name, self.directory, self.tables, self.questions = name, directory, tables, questions
        self.check, self.drop = check, drop

    def file(self, table, extension):
        return self.directory / f"{table}.{extension}"

    def convert(self, brc):
        for table in self.tables:
            if not self.file(table, "buren").exists():
                run(brc, "convert", self.file(table, "parquet"), self.file(table, "buren"), "--no-sync")

    def database(self):
        import duckdb

        path = self.directory / "tables.duckdb"
        is_new = not path.exists()
        database = duckdb.connect(str(path))
        database.execute(f"set threads = {THREADS}; set enable_progress_bar = false")
        if is_new:
            for table in self.tables:
                database.execute(f"create table {table} as select * from '{self.file(table, 'parquet')}'")
            database.execute("checkpoint")
        return database


def run(*command):
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ended.returncode:
        raise RuntimeError(ended.stderr.strip())
    return ended


def of_tpch(data, scale):
    directory = data / f"tpch-{scale:g}"
    if not directory.exists():
        run(tpchgen(), "parquet", "-s", f"{scale:g}", "--compression", "ZSTD(3)", "--output-dir", directory)
    return Suite("tpch", directory, tpch.TABLES, tpch.QUESTIONS)


def of_joins(data, rows):
    directory = data / f"joins-{rows}"
    tables = ["x", *joins.KEYS]
    suite = Suite("joins", directory, tables, {n: f"create table answer as {text}" for n, text in joins.QUESTIONS.items()},
                  joins.SUMS, "drop table answer")
    if not directory.exists():
        import duckdb

        directory.mkdir(parents=True)
        joins.make_joins(duckdb.connect(), rows, lambda table: suite.file(table, "parquet"))
    return suite


def of_clickbench(data, rows):
    directory = data / f"hits-{rows}"
    if not directory.exists():
        import duckdb

        directory.mkdir(parents=True)
        make_hits(duckdb.connect(), rows, directory / "hits.parquet")
    return Suite("clickbench", directory, ["hits"], {n: text for n, (text, _) in enumerate(clickbench.QUESTIONS)})


def of_1brc(data, rows, brc):
    directory = data / f"1brc-{rows}"
    if not directory.exists():
        directory.mkdir(parents=True)
        run(brc, "generate", "--preset", "1brc", "--rows", rows, directory / "m.txt")
        run(brc, "convert", directory / "m.txt", directory / "m.parquet", "--no-sync")
        (directory / "m.txt").unlink()
    question = "select station, min(temperature), avg(temperature), max(temperature) from m group by station order by station"
    return Suite("1brc", directory, ["m"], {1: question})


def ask_brc_sql(brc_sql, suite, runs, more):
    """The seconds of each run of each query; the first run of each is the warm-up."""
    script, timed = [], []
    for text in suite.questions.values():
        for _ in range(runs + 1):
            script.append(of_datafusion(text))
            timed.append(True)
            if suite.drop:
                script.append(suite.drop)
                timed.append(False)
    files = [f"{table}={suite.file(table, 'buren')}" for table in suite.tables]
    ended = run(brc_sql, *files, "--threads", THREADS, "--timer", "--format", "csv", *more, ";\n".join(script))
    seconds = [float(found) for found in re.findall(r"^\d+ rows in ([\d.]+) s$", ended.stderr, re.MULTILINE)]
    assert len(seconds) == len(timed), ended.stderr
    seconds = [second for second, counts in zip(seconds, timed) if counts]
    return grouped(suite, seconds, runs + 1)


def grouped(suite, seconds, each):
    return {str(n): seconds[each * at + 1 : each * at + each] for at, n in enumerate(suite.questions)}


def ask_peer(engine, suite, runs):
    """The same for an engine in a separate process."""
    request = {"engine": engine, "directory": str(suite.directory), "tables": suite.tables, "runs": runs, "drop": suite.drop,
               "questions": [of_datafusion(text) if engine == "datafusion" else text for text in suite.questions.values()]}
    ended = subprocess.run([sys.executable, __file__, "--peer"], input=json.dumps(request), capture_output=True, text=True)
    if ended.returncode:
        raise RuntimeError(ended.stderr.strip())
    return grouped(suite, json.loads(ended.stdout), runs + 1)


def datafusion_context(suite):
    import datafusion

    config = datafusion.SessionConfig().with_target_partitions(THREADS)
    config = config.set("datafusion.sql_parser.enable_ident_normalization", "false")
    context = datafusion.SessionContext(config)
    for table in suite.tables:
        context.register_parquet(table, str(suite.file(table, "parquet")))
    return context


def peer():
    request = json.load(sys.stdin)
    suite = Suite("", Path(request["directory"]), request["tables"], request["questions"])
    if request["engine"] == "datafusion":
        context = datafusion_context(suite)
        ask = lambda text: context.sql(text).collect()
    else:
        database = suite.database()
        ask = lambda text: database.execute(text.replace("create table", "create temp table")).to_arrow_table()
    seconds = []
    for text in suite.questions:
        for _ in range(request["runs"] + 1):
            start = time.perf_counter()
            ask(text)
            seconds.append(time.perf_counter() - start)
            if request["drop"]:
                ask(request["drop"])
    json.dump(seconds, sys.stdout)


def plain(value):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float, Decimal)):
        return 0.0 if value == 0 else round(float(value), 8 - math.floor(math.log10(abs(float(value)))))
    return str(value).replace("T", " ") if re.match(r"\d{4}-\d\d-\d\dT", str(value)) else str(value)


def rows_of(text):
    return [[plain(value) for value in json.loads(line, parse_float=Decimal).values()] for line in text.splitlines()]


class OfBrcSql(clickbench.ClickBench):
    """Compares `brc-sql`'s results for ClickBench's queries; rows cut off by a limit are compared as in that module."""

    def __init__(self, brc_sql, suite):
        self.brc_sql, self.database = brc_sql, suite.database()
        self.rows = self.database.execute("select count(*) from hits").fetchone()[0]
        self.files = [suite.file("hits", "buren")]

    def ours(self, file, question):
        ended = run(self.brc_sql, f"hits={file}", "--format", "json", of_datafusion(question))
        rows = json.loads(ended.stdout, parse_float=Decimal, object_pairs_hook=list)
        return [tuple(value.replace("T", " ") if is_time(value) else value for _, value in row) for row in rows]


def is_time(value):
    return isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+", value) is not None


def answer_of(brc_sql, suite, script):
    files = [f"{table}={suite.file(table, 'buren')}" for table in suite.tables]
    return rows_of(run(brc_sql, *files, "--format", "jsonl", of_datafusion(script)).stdout)


def answers_of_datafusion(suite):
    """The results of DataFusion on Parquet."""
    context = datafusion_context(suite)
    answers = {}
    for n, text in suite.questions.items():
        table = context.sql(text).to_arrow_table()
        answers[str(n)] = [[plain(value) for value in row.values()] for row in table.to_pylist()]
    return answers


def difference(ours, theirs):
    """JSON output omits nulls, so they are dropped from both sides."""
    ours, theirs = ([[value for value in row if value is not None] for row in rows] for rows in (ours, theirs))
    return None if ours == theirs else f"{ours[:2]} in place of {theirs[:2]} ({len(ours)} and {len(theirs)} rows)"


def check(suite, brc_sql):
    """Prints the wrong results; returns their number."""
    failed = 0
    if suite.name == "tpch":
        # DuckDB averages decimals as floats.
        theirs = answers_of_datafusion(suite)
        differences = {n: difference(answer_of(brc_sql, suite, text), theirs[str(n)]) for n, text in suite.questions.items()}
    elif suite.name == "clickbench":
        bench = OfBrcSql(brc_sql, suite)
        differences = {n: bench.check(text, keys) for n, (text, keys) in enumerate(clickbench.QUESTIONS)}
    else:
        database, differences = suite.database(), {}
        for n, text in suite.questions.items():
            ours = answer_of(brc_sql, suite, f"{text}; {suite.check}" if suite.check else text)
            if suite.check:
                database.execute(text.replace("create table", "create temp table"))
            theirs = [[plain(value) for value in row] for row in database.execute(suite.check or text).fetchall()]
            if suite.drop:
                database.execute(suite.drop)
            differences[n] = difference(ours, theirs)
    for n, found in differences.items():
        if found:
            failed += 1
            print(f"{suite.name} {n}: WRONG {found}")
    print(f"{suite.name}: {len(suite.questions) - failed} answers are the same, {failed} are not", flush=True)
    return failed


def measure(suite, arguments):
    samples = {}
    for _ in range(arguments.rounds):
        for engine in arguments.engines.split(","):
            if engine.startswith("brc-sql"):
                found = ask_brc_sql(arguments.brc_sql, suite, arguments.runs, [])
            elif engine == "brc":
                found = ask_brc(arguments.brc, suite, arguments.runs)
            else:
                found = ask_peer(engine, suite, arguments.runs)
            for n, seconds in found.items():
                samples.setdefault(engine, {}).setdefault(n, []).extend(seconds)
    medians = {engine: {n: statistics.median(seconds) for n, seconds in found.items()} for engine, found in samples.items()}
    report(suite, medians)
    return medians


def ask_brc(brc, suite, runs):
    """`brc query` runs one query per process and reports its time without startup."""
    found = {}
    for n, text in suite.questions.items():
        seconds = []
        for _ in range(runs):
            start = time.perf_counter()
            more = ["--no-statistics"] if suite.name == "1brc" else []
            run(brc, "query", *more, "--threads", THREADS, suite.file(suite.tables[0], "buren"), text.replace(" from m ", " "))
            seconds.append(time.perf_counter() - start)
        found[str(n)] = seconds
    return found


def report(suite, medians):
    engines = list(medians)
    print(f"\n{suite.name}, ms: " + ", ".join(engines))
    for n in suite.questions:
        times = [medians[engine][str(n)] for engine in engines]
        ratios = " ".join(f"{times[0] / other:6.2f}" for other in times[1:])
        print(f"{n:>4} " + " ".join(f"{1000 * second:9.1f}" for second in times) + "   ratio " + ratios)
    totals = [sum(medians[engine].values()) for engine in engines]
    print(" all " + " ".join(f"{1000 * second:9.1f}" for second in totals) + "   ratio " + " ".join(f"{totals[0] / other:6.2f}" for other in totals[1:]), flush=True)


def main():
    if sys.argv[1:] == ["--peer"]:
        return peer()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("brc_sql", type=Path)
    parser.add_argument("brc", type=Path)
    parser.add_argument("--suites", default="tpch,joins,clickbench,1brc")
    parser.add_argument("--engines", default="brc-sql,datafusion,duckdb", help="besides these: brc, for questions of one table")
    parser.add_argument("--data", type=Path, default=Path("/tmp/bench-sql"))
    parser.add_argument("--scale", type=float, default=1, help="TPC-H's")
    parser.add_argument("--rows", default="10M", help="of the joins; k and M are thousands and millions")
    parser.add_argument("--hits", default="10M", help="rows of ClickBench's table")
    parser.add_argument("--measurements", default="100M", help="rows of the One Billion Row Challenge")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", help="the numbers of some questions, as 1,6")
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--out", type=Path, help="a file of JSON for the medians")
    arguments = parser.parse_args()
    arguments.data.mkdir(parents=True, exist_ok=True)
    made = {"tpch": lambda: of_tpch(arguments.data, arguments.scale), "joins": lambda: of_joins(arguments.data, count(arguments.rows)),
            "clickbench": lambda: of_clickbench(arguments.data, count(arguments.hits)),
            "1brc": lambda: of_1brc(arguments.data, count(arguments.measurements), arguments.brc)}
    failed, medians = 0, {}
    for name in arguments.suites.split(","):
        suite = made[name]()
        suite.convert(arguments.brc)
        if arguments.only:
            suite.questions = {n: text for n, text in suite.questions.items() if str(n) in arguments.only.split(",")}
        suite.database().close()
        if not arguments.no_check:
            failed += check(suite, arguments.brc_sql)
        if arguments.runs:
            medians[name] = measure(suite, arguments)
    if arguments.out:
        arguments.out.write_text(json.dumps(medians, indent=1))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
