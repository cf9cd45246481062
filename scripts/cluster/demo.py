"""Runs benchmark queries on a cluster of one to three executors, and while one is killed (scripts/cluster-demo.sh).

    PYTHONPATH=scripts python -m cluster.demo BIN_DIR BRC [--rows 4M] [--visits 500k] [--scale 0.1] [--loopback]

BIN_DIR contains brc-sql, brc-scheduler and brc-executor. Each executor has two slots and reads the tables from an
object store (moto's, where moto is installed, otherwise a directory). As root, each program gets its own network
namespace. All results must equal those of `brc-sql` on one machine: in order where the query has an order, otherwise as
a set; floats are compared to ten digits.

Prints the seconds of each query, excluding the start of `brc-sql`. For each stage of its plan, prints the time from the
first launch of a task to the end of the last one, according to the scheduler's REST API, and the bytes written for the
next stage or the client. These are the sizes of the files in the executors' directories, sampled while the query runs,
as some files are removed at its end.
"""

import argparse
import signal
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from cluster.answers import Client, references, timed
from cluster.network import network
from cluster.programs import Cluster
from cluster.store import store
from cluster.tables import AMPLAB, JOINS, ONE_BILLION, Maker, of_tpch
from interop.hits import count

EXECUTORS = 3
# For a query on the cluster, in seconds.
LIMIT = 30
# Attempts at a query that finishes before the executor is killed.
ATTEMPTS = 4


class Demo:
    """Queries on a cluster, whose results are compared with those of one machine."""

    def __init__(self, cluster, client, limit=LIMIT):
        self.cluster, self.client, self.limit = cluster, client, limit
        self.failed = []
        # The seconds from start to end of each query's job.
        self.job_seconds = {}
        print(f"\n{'question':<10} {'executors':<14} {'seconds':>7}  stages: ms, bytes written", flush=True)

    def ask(self, reference):
        """Runs a query with the current executors."""
        watcher = Watcher(self.cluster)
        answer, seconds = timed(self.client, reference.question.text, watcher, self.limit)
        jobs = self.cluster.jobs()
        times = [(jobs[name]["end_time"] - jobs[name]["start_time"]) / 1000 for name in watcher.written]
        self.job_seconds[reference.question.name] = max(times, default=0)
        self.report(reference, str(len(self.cluster.executors)), answer, seconds, watcher)

    def ask_and_kill(self, reference, share=0.5):
        """Runs a query and kills an executor after a share of the job's time; retries sooner if that was too late."""
        for attempt in range(1, ATTEMPTS + 1):
            self.cluster.settle(EXECUTORS)
            watcher = Watcher(self.cluster, self.job_seconds[reference.question.name] * share / attempt)
            answer, seconds = timed(self.client, reference.question.text, watcher, self.limit)
            if watcher.was_in_time or isinstance(answer, str):
                break
        executors = f"{EXECUTORS}, one killed" if watcher.was_in_time else f"{EXECUTORS}, too late"
        self.report(reference, executors, answer, seconds, watcher)
        if isinstance(answer, str):
            self.cluster.restart()

    def report(self, reference, executors, answer, seconds, watcher):
        name = reference.question.name
        shown = []
        for job, files in watcher.written.items():
            for stage, taken in self.cluster.stages(job).items():
                written = sum(size for (of, _), size in files.items() if of == stage)
                shown.append(f"{stage}:\xa0{1000 * taken:.0f}\xa0ms\xa0{in_units(written)}")
        line = f"{name:<10} {executors:<14} {seconds:7.2f}  {', '.join(shown)}"
        print(textwrap.fill(line, 128, subsequent_indent=" " * 35, break_on_hyphens=False).replace("\xa0", " "), flush=True)
        found = reference.difference(answer)
        if found:
            self.failed.append(f"{name}; executors: {executors}")
            print(f"  DIFFERS: {found}\n  {' '.join(reference.question.text.split())}", flush=True)


class Watcher:
    """Samples the files that executors write during a query; may kill the executor that has written most."""

    def __init__(self, cluster, kill_after=None):
        self.cluster, self.kill_after = cluster, kill_after
        self.before = set(cluster.jobs())
        # The files of each job of the query.
        self.written = {}
        self.was_in_time = False

    def __call__(self, process):
        """Samples until the process has ended."""
        while process.poll() is None and not self.look():
            time.sleep(0.005)
        begin = time.monotonic()
        while process.poll() is None:
            if self.kill_after is not None and time.monotonic() - begin >= self.kill_after:
                self.kill()
            self.look()
            time.sleep(0.005)

    def look(self):
        """Whether a job has started."""
        for job in set(self.cluster.jobs()) - self.before:
            files = self.written.setdefault(job, {})
            for file, size in self.cluster.written(job).items():
                files[file] = max(size, files.get(file, 0))
        return bool(self.written)

    def kill(self):
        job = next(iter(self.written))
        executors = self.cluster.executors
        self.cluster.kill(max(executors, key=lambda executor: sum(self.cluster.written(job, [executor]).values())))
        self.was_in_time = self.cluster.jobs()[job]["status"] == "Running"
        self.kill_after = None


def in_units(number):
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} GB"


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop(*_):
    """Handles a signal: ignores further ones, so that the cleanup is not interrupted."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def stop_on_signals():
    for number in SIGNALS:
        signal.signal(number, stop)


def run(arguments):
    programs, brc = Path(arguments.programs).absolute(), Path(arguments.brc).absolute()
    failed = []
    net = network(not arguments.loopback)
    try:
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            files = store(net.hub, directory / "store")
            try:
                failed = ask_all(arguments, programs, brc, directory, net, files)
            finally:
                files.close()
    finally:
        net.close()
    return failed


def ask_all(arguments, programs, brc, directory, net, files):
    maker = Maker(brc, directory, files, arguments.row_group)
    sizes = f"{arguments.rows:,} measurements, {arguments.visits:,} visits and TPC-H at scale {arguments.scale:g}"
    print(f"making {sizes}", flush=True)
    maker.one_billion(arguments.rows)
    maker.uservisits(arguments.visits)
    questions = [ONE_BILLION, *AMPLAB]
    if maker.tpch(arguments.scale):
        questions += of_tpch(JOINS)
    known = references(Client(programs / "brc-sql", maker.tables, files.environment), questions)
    with Cluster(programs, net, directory, files.environment) as cluster:
        on_cluster = ("--cluster", cluster.address, "--partitions", arguments.partitions)
        demo = Demo(cluster, Client(programs / "brc-sql", maker.tables, files.environment, *on_cluster), arguments.limit)
        for executors in range(1, EXECUTORS + 1):
            cluster.settle(executors)
            for reference in known:
                demo.ask(reference)
        for reference in known:
            demo.ask_and_kill(reference)
    return demo.failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", metavar="BIN_DIR")
    parser.add_argument("brc", metavar="BRC")
    parser.add_argument("--rows", type=count, default="4M", help="of the One Billion Row Challenge; k, M: thousands, millions")
    parser.add_argument("--visits", type=count, default="500k", help="rows of uservisits")
    parser.add_argument("--scale", type=float, default=0.1, help="TPC-H's")
    parser.add_argument("--partitions", type=int, default=8, help="in how many parts each table is read and each stage runs")
    parser.add_argument("--row-group", default="1M", help="of the buren files, in bytes of text")
    parser.add_argument("--limit", type=float, default=LIMIT, help="how many seconds a question may take")
    parser.add_argument("--loopback", action="store_true", help="no network namespaces")
    arguments = parser.parse_args()
    stop_on_signals()
    start = time.monotonic()
    try:
        failed = run(arguments)
    except KeyboardInterrupt:
        sys.exit(130)
    except RuntimeError as error:
        sys.exit(f"cluster demo: {error}")
    if failed:
        sys.exit("these answers are not those of one machine:\n  " + "\n  ".join(failed))
    print(f"\nAll answers are those of one machine, after {time.monotonic() - start:.0f} s.")


if __name__ == "__main__":
    main()
