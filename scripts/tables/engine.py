"""One engine in a separate process: stores a CSV file in its best format, and runs queries over it.

    python -m tables.engine ENGINE TABLE SOURCE DIRECTORY THREADS RUNS

ENGINE is duckdb, polars, datafusion or chdb, followed by the source: `-own` for its own storage, `-parquet` for Parquet
it wrote itself, `-file` for the source as it is (CSV or Parquet). Prints a line of JSON per query: the seconds of each
run after one warm-up (with `-file` of CSV, of all runs), or the reason why there are none.
"""

import json
import os
import sys
import time

from .process import repeated
from .questions import QUESTIONS, asked


def duckdb(kind, source, directory, threads):
    import duckdb

    database = duckdb.connect(os.path.join(directory, "t.duckdb"))
    database.execute(f"set threads = {threads}; set enable_progress_bar = false")
    read = f"read_parquet('{source}')" if source.endswith(".parquet") else f"read_csv('{source}')"
    if kind == "own":
        database.execute(f"create table t as select * from {read}; checkpoint")
    elif kind == "parquet":
        target = os.path.join(directory, "t.parquet")
        database.execute(f"copy (select * from {read}) to '{target}' (format parquet, compression snappy)")
        database.execute(f"create view t as select * from '{target}'")
    else:
        database.execute(f"create view t as select * from {read}")
    return lambda question: database.execute(question).to_arrow_table()


def polars(kind, source, directory, threads):
    import polars

    table = polars.scan_csv(source, try_parse_dates=True)
    if kind == "own":
        target = os.path.join(directory, "t.arrow")
        table.sink_ipc(target)
        table = polars.scan_ipc(target)
    elif kind == "parquet":
        target = os.path.join(directory, "t.parquet")
        table.sink_parquet(target, compression="snappy")
        table = polars.scan_parquet(target)
    context = polars.SQLContext(t=table)
    return lambda question: context.execute(question).collect(engine="streaming")


def datafusion(kind, source, directory, threads):
    import datafusion

    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(threads))
    if kind == "file":
        context.register_csv("t", source)
    else:
        target = os.path.join(directory, "t.parquet")
        context.register_csv("c", source)
        context.sql("select * from c").write_parquet(target, compression="snappy")
        context.register_parquet("t", target)
    return lambda question: context.sql(question).collect()


def chdb(kind, source, directory, threads):
    from chdb import session

    opened = session.Session(os.path.join(directory, "db"))
    opened.query(f"set max_threads = {threads}")
    table = f"file('{source}', 'CSVWithNames')"
    if kind == "own":
        opened.query("create database x")
        opened.query(f"create table x.t engine = MergeTree order by tuple() as select * from {table}")
        table = "x.t"
    return lambda question: opened.query(question.replace("from t ", f"from {table} "), "Null")


def timed(ask, question):
    start = time.perf_counter()
    ask(question)
    return time.perf_counter() - start, None


def main():
    engine, table, source, directory, threads, runs = sys.argv[1:]
    name, kind = engine.split("-")
    ask = globals()[name](kind, source, directory, int(threads))
    # Finish write-back before queries are timed.
    os.sync()
    for question, (text, _) in QUESTIONS[table].items():
        text = asked(engine, question, text)
        try:
            if text is None:
                raise ValueError("it has no such aggregate or function")
            found = {"seconds": [seconds for seconds, _ in repeated(lambda: timed(ask, text), int(runs))]}
        except Exception as error:  # any exception is reported as the result
            found = {"failure": (str(error).splitlines() or [type(error).__name__])[0][:150]}
        print(json.dumps({"question": question, **found}), flush=True)


if __name__ == "__main__":
    main()
