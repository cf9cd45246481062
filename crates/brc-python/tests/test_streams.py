"""Streams that are not read to their end, and interrupted scans."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import brc
import pyarrow as pa
import pytest


def run(code, *arguments, **options):
    command = [sys.executable, "-X", "dev", "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, **options)


def test_a_thousand_half_read_streams_leave_nothing(numbers):
    ran = run(
        """
        import gc, os, sys, threading, time
        import brc, pyarrow as pa

        def memory():
            gc.collect()
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

        table = brc.open(sys.argv[1])
        scans = [table.scan(), table.scan(where="f > 1e9"), table.scan(columns=["s"], dictionary=True),
                 table.query("select s, count(*) group by s"), table.query("select n where n > 5")]

        def some(count):
            for number in range(count):
                scan = scans[number % len(scans)]
                match number % 4:
                    case 0: scan.__arrow_c_stream__()
                    case 1: scan.__arrow_c_schema__()
                    case 2: pa.RecordBatchReader.from_stream(scan)
                    case 3:
                        for batch in pa.RecordBatchReader.from_stream(scan):
                            break

        def threads():
            with open("/proc/self/status") as file:
                return next(int(line.split()[1]) for line in file if line.startswith("Threads:"))

        some(200)
        before = memory()
        some(1000)
        grown = memory() - before
        for _ in range(100):
            if threads() <= 4 + os.cpu_count(): break
            time.sleep(0.05)
        print(grown, threads())
        """,
        numbers,
    )
    assert ran.returncode == 0 and not ran.stderr, ran.stderr
    grown, threads = map(float, ran.stdout.split())
    assert grown < 40 and threads <= 4 + os.cpu_count()


def test_streams_outlive_their_tables_and_the_interpreter(numbers):
    ran = run(
        """
        import sys, brc, pyarrow as pa
        reader = pa.RecordBatchReader.from_stream(brc.open(sys.argv[1]).scan(columns=["n"]))
        print(reader.read_next_batch()["n"][0].as_py())
        kept = brc.open(sys.argv[1]).__arrow_c_stream__()
        """,
        numbers,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "0\n", "")


@pytest.fixture(scope="module")
def text(numbers, tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "numbers.csv"
    brc.convert(numbers, path)
    return path


# The statement would run far longer than the test; text has to be parsed completely.
ENDLESS = """
import os, sys, threading, time, signal
import brc, pyarrow as pa
path = sys.argv[1]
table = brc.open([path] * 30, schema="n:int64,s:string,f:float64")
def interrupt():
    time.sleep(0.5)
    global sent
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    {statement}
except KeyboardInterrupt:
    print(time.monotonic() - sent)
print(table.head(1).rows()[0][0])
"""


@pytest.mark.parametrize(
    "statement",
    [
        "table.query('select s, sum(f) group by s')",
        "table.query('select n, count(*) group by n order by 2 limit 5')",
        "table.scan(where='n < 0').to_arrow()",
        "table.scan(where='n < 0').to_polars()",
        "table.scan(where='n < 0').to_pandas()",
        "[len(batch) for batch in table.scan()]",
        "brc.convert(table, path + '.parquet')",
        "len(table)",
    ],
)
def test_ctrl_c_ends_what_is_computed(text, statement, tmp_path):
    path = tmp_path / "numbers.csv"
    os.link(text, path)
    ran = run(ENDLESS.format(statement=statement), path)
    assert ran.returncode == 0, ran.stderr
    waited, first = ran.stdout.split()
    # The limit allows for an unoptimised build on a busy machine.
    assert float(waited) < 1 and first == "0"
    assert [file.name for file in tmp_path.iterdir()] == ["numbers.csv"]


def test_ctrl_c_ends_what_comes_after_the_scan(numbers):
    """Sorting and creating Python objects take longer than the scan."""
    ran = run(
        """
        import os, sys, threading, time, signal
        import brc
        table = brc.open([sys.argv[1]] * 3)
        for ask in (
            lambda: table.query("select s, f, n order by s desc, f"),
            lambda: table.query("select n, f, sum(n) group by n, f order by 3 desc"),
            lambda: table.query("select n, s, f").rows(),
        ):
            begun = time.monotonic()
            ask()
            all = time.monotonic() - begun
            for part in (0.4, 0.6, 0.8):
                def interrupt():
                    global sent
                    time.sleep(all * part)
                    sent = time.monotonic()
                    os.kill(os.getpid(), signal.SIGINT)
                thread = threading.Thread(target=interrupt)
                try:
                    thread.start()
                    ask()
                    thread.join()
                except KeyboardInterrupt:
                    print(all, time.monotonic() - sent)
                    thread.join()
        """,
        numbers,
    )
    assert ran.returncode == 0, ran.stderr
    for line in ran.stdout.splitlines():
        all, waited = map(float, line.split())
        # The objects created so far must be freed.
        assert waited < max(1.0, all / 2), ran.stdout


def test_other_threads_run_during_a_query(text):
    table, steps, done = brc.open(text), [], threading.Event()

    def count():
        while not done.is_set():
            steps.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.monotonic()
    table.query("select s, sum(f) group by s")
    table.to_arrow()
    seconds = time.monotonic() - begun
    done.set()
    thread.join()
    longest = max(after - before for before, after in zip(steps, steps[1:]))
    assert len(steps) > 10 and longest < max(0.2, seconds / 4)


def test_scans_run_on_threads_of_python(numbers):
    table, found = brc.open(numbers), []
    threads = [
        threading.Thread(target=lambda: found.append(pa.table(table.scan(columns=["n"])).num_rows)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1_000_000] * 4
