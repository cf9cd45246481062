"""Query times of `brc` and its peers over a table, and the comparison of their results."""

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from .made import TYPES
from .process import apart, repeated, run
from .questions import QUESTIONS, WHOLE_PROCESS, asked

# Seconds to let the system clean up after the previous process.
SETTLING = 3

# The storage that each peer and brc are queried on. The best peer's time counts.
STORED = ["duckdb-own", "duckdb-parquet", "polars-own", "polars-parquet", "datafusion-parquet", "chdb-own"]
TEXT = ["duckdb-file", "polars-file", "datafusion-file", "chdb-file"]


def ask_engine(engine, table, source, arguments, work):
    """Medians in seconds by query, without failed queries."""
    package = engine.split("-")[0]
    with tempfile.TemporaryDirectory(dir=work) as directory:
        command = [sys.executable, "-m", "tables.engine", engine, table, source, directory, str(arguments.threads), str(arguments.runs)]
        environment = {**os.environ, "POLARS_MAX_THREADS": str(arguments.threads), "RAYON_NUM_THREADS": str(arguments.threads)}
        done = subprocess.run(command, cwd=os.path.dirname(os.path.dirname(__file__)), env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    if done.returncode != 0 and not done.stdout:
        print(f"{table}: {package} is left out: {(done.stderr.strip().splitlines() or ['no message'])[-1]}", flush=True)
    found = {}
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        if "failure" in answer:
            print(f"{table}: {engine}: {answer['question']}: {answer['failure']}", flush=True)
        else:
            found[answer["question"]] = statistics.median(answer["seconds"])
    print(f"{table}: {engine} done", flush=True)
    return found


def ask_duckdb_shell(table, source, arguments, work):
    """Medians in seconds of whole processes of DuckDB's shell, over its own storage or Parquet, for the queries
    that are compared with whole processes.
    """
    questions = {name: text for name, (text, _) in QUESTIONS[table].items() if name in WHOLE_PROCESS}
    if not questions:
        return {}
    package = importlib.util.find_spec("duckdb_cli")
    if package is None:
        print(f"{table}: DuckDB's shell is left out", flush=True)
        return {}
    # The installed command is a Python wrapper that starts this one.
    shell = os.path.join(os.path.dirname(package.origin), "duckdb")
    found = {}
    with tempfile.TemporaryDirectory(dir=work) as directory:
        stored = os.path.join(directory, "t.duckdb")
        what = f"view t as from '{source}'" if source.endswith(".parquet") else f"table t as select * from read_csv('{source}')"
        subprocess.run([shell, stored, "-c", f"create {what}"], check=True, capture_output=True)
        os.sync()
        time.sleep(SETTLING)
        for name, text in questions.items():
            command = [shell, "-readonly", stored, "-csv", "-c", f"set threads = {arguments.threads}", "-c", text]
            samples = repeated(lambda: run(command, arguments.threads), arguments.runs)
            found[name] = statistics.median(seconds for seconds, _ in samples)
    print(f"{table}: DuckDB's shell done", flush=True)
    return found


def ask_brc(binary, table, file, arguments):
    """Medians of whole processes in seconds, and the largest peak memory in bytes, by query."""
    os.sync()
    time.sleep(SETTLING)
    found = {}
    for question, (text, _) in QUESTIONS[table].items():
        # Where an engine's shell prints its result, so does brc; otherwise both build an Arrow table.
        form = "csv" if question in WHOLE_PROCESS else "arrow"
        command = [binary, "query", file, text, "--format", form, "--threads", str(arguments.threads)]
        try:
            samples = repeated(lambda: run(command, arguments.threads), arguments.runs)
        except RuntimeError as error:
            print(f"{table}: brc: {question}: {error}", flush=True)
            continue
        found[question] = {"seconds": statistics.median(seconds for seconds, _ in samples), "memory": max(memory for _, memory in samples)}
    print(f"{table}: brc of {os.path.splitext(file)[1]} done", flush=True)
    return found


def wrong_answers(binary, table, file, source, arguments, work):
    """The queries whose results differ from DuckDB's; numbers may differ in the tenth digit."""
    import duckdb

    database = duckdb.connect()
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in TYPES[table].items())
    database.execute(f"create table t as select * from read_csv('{source}', header = true, columns = {{{types}}})")
    wrong = []
    for question, (text, _) in QUESTIONS[table].items():
        answer = os.path.join(work, "answer.parquet")
        subprocess.run([binary, "query", file, text, "-o", answer, "--force", "--threads", str(arguments.threads)], check=True, capture_output=True)
        database.execute(f"create or replace temp table theirs as {asked('duckdb', question, text)}")
        database.execute(f"create or replace temp table ours as select * from read_parquet('{answer}')")
        if not is_same(database):
            wrong.append(question)
    return wrong


def is_same(database):
    """Whether the tables `ours` and `theirs` have the same rows, in any order."""
    columns = [list(database.execute(f"describe {table}").fetchall()) for table in ("ours", "theirs")]
    if len(columns[0]) != len(columns[1]):
        return False
    conditions = []
    for (ours, our_type, *_), (theirs, their_type, *_) in zip(*columns):
        if {our_type, their_type} & {"DATE", "TIMESTAMP"}:
            conditions.append(f'o."{ours}"::timestamp is not distinct from t."{theirs}"::timestamp')
        elif "VARCHAR" in (our_type, their_type) or {our_type, their_type} <= {"BIGINT", "HUGEINT"}:
            conditions.append(f'o."{ours}" is not distinct from t."{theirs}"')
        else:
            a, b = f'o."{ours}"::double', f't."{theirs}"::double'
            conditions.append(f"(abs({a} - {b}) <= 1e-9 * greatest(1, abs({a})) or ({a} is null and {b} is null))")
    counts = [database.execute(f"select count(*) from {table}").fetchone()[0] for table in ("ours", "theirs")]
    same = database.execute(f"select count(*) from ours o join theirs t on {' and '.join(conditions)}").fetchone()[0]
    return counts[0] == counts[1] == same


def convert(binary, source, target, arguments):
    subprocess.run([binary, "convert", source, target, "--force", "--no-sync", "--threads", str(arguments.threads)], check=True, capture_output=True)


def without_whole_processes(seconds):
    return {question: its for question, its in seconds.items() if question not in WHOLE_PROCESS}


def stored_answers(table, source, arguments, work):
    """The times of each peer on its own storage: of the whole process where that counts, else of the query alone."""
    found = {engine: without_whole_processes(ask_engine(engine, table, source, arguments, work)) for engine in STORED}
    return found | {"duckdb shell": ask_duckdb_shell(table, source, arguments, work)}


def duckdb_answers(table, parquet, arguments, work):
    """The times of DuckDB on a Parquet file."""
    seconds = without_whole_processes(ask_engine("duckdb-file", table, parquet, arguments, work))
    return seconds | ask_duckdb_shell(table, parquet, arguments, work)


def written_and_asked(binary, table, source, file, arguments):
    """The times of `brc` on a file that was just written."""
    convert(binary, source, file, arguments)
    return ask_brc(binary, table, file, arguments)


def measure_questions(table, source, binary, arguments, work):
    """Measures all queries of a table: on buren and Parquet written by brc and on the CSV, with brc and its peers."""
    buren, parquet = (os.path.join(work, f"{table}.{encoding}") for encoding in ("buren", "parquet"))
    convert(binary, source, buren, arguments)
    found = {
        "wrong": apart(wrong_answers, binary, table, buren, source, arguments, work),
        "peers": stored_answers(table, source, arguments, work),
        "brc of buren": written_and_asked(binary, table, source, buren, arguments),
        "brc of parquet": written_and_asked(binary, table, source, parquet, arguments),
        "duckdb of the same parquet": duckdb_answers(table, parquet, arguments, work),
    }
    if not arguments.no_text:
        found["brc of csv"] = ask_brc(binary, table, source, arguments)
        found["peers of csv"] = {engine: ask_engine(engine, table, source, arguments, work) for engine in TEXT}
    os.remove(buren)
    os.remove(parquet)
    return found
