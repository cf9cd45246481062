#!/usr/bin/env python3
"""Checks that a Ballista cluster gives the same results as one machine for TPC-H, ClickBench and the demo's queries.

    (cd crates/brc-datafusion && cargo build --features ballista) && cargo build --release
    python3 -m venv /tmp/cluster && /tmp/cluster/bin/pip install -r scripts/interop/cluster.txt
    /tmp/cluster/bin/python scripts/check-cluster.py BIN_DIR BRC

BIN_DIR contains brc-sql, brc-scheduler and brc-executor. A scheduler and two executors on loopback run the 22 queries
of TPC-H at scale 0.01 and the 43 of ClickBench over its generated table, with adaptive and static plans; as the
scheduler rejects a plan that does not round-trip through serialisation, this covers the plan codecs. Then the demo's
queries run over small tables in an object store (moto's), two of them while an executor is killed. Floats are compared
to ten digits, as they are summed in any order; rows that tie in the sort order may be in any order, and a limit may
keep any of them.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from cluster.answers import Client, Question, references
from cluster.demo import EXECUTORS, Demo, stop_on_signals
from cluster.network import Loopback
from cluster.programs import Cluster
from cluster.store import Directory, store
from cluster.tables import AMPLAB, JOINS, ONE_BILLION, Maker, of_tpch
from interop import clickbench
from interop.hits import make_hits

# Small enough for unoptimised programs; small row groups, so that a table has several splits.
SCALE, HITS, MEASUREMENTS, VISITS = 0.01, 20_000, 200_000, 40_000
ROW_GROUP = "256k"
PARTITIONS = 4

# Different kinds of plans: with broadcast, sort-merge and partitioned hash joins, and with brc's and DataFusion's
# grouping. Static plans with partitioned hash joins are not tested: Ballista 55 gives wrong results for some of them.
ADAPTIVE, STATIC = (f"set ballista.planner.adaptive.enabled = {value}" for value in ("true", "false"))
PLANS = {
    "adaptive plans": [ADAPTIVE],
    "static plans": [STATIC],
    "partitioned hash joins": [
        ADAPTIVE,
        "set ballista.optimizer.broadcast_join_threshold_bytes = 0",
        "set ballista.optimizer.broadcast_join_threshold_rows = 0",
    ],
    "groups of DataFusion": [STATIC, "set brc.aggregate = off"],
}


def of_clickbench():
    """The queries, and those with a limit a second time without it."""
    found = []
    for number, (text, keys) in enumerate(clickbench.QUESTIONS):
        text = clickbench.of_datafusion(text)
        found.append(Question(f"ClickBench {number}", text, keys))
        whole = clickbench.without_limit(text).replace("> 100000", f"> {HITS // 1000}")
        if whole != text:
            found.append(Question(f"ClickBench {number}, whole", whole, keys))
    return found


class Check:
    def __init__(self, programs, brc, directory):
        self.programs, self.brc, self.directory = programs, brc, directory
        self.failed = []

    def maker(self, files):
        return Maker(self.brc, self.directory, files, ROW_GROUP)

    def client(self, maker, *more):
        return Client(self.programs / "brc-sql", maker.tables, maker.store.environment, *more)

    def in_cluster(self, cluster, maker):
        return self.client(maker, "--cluster", cluster.address, "--partitions", PARTITIONS)

    def compare(self, name, maker, questions):
        """Runs queries with both planners."""
        start = time.monotonic()
        known = references(self.client(maker), questions)
        print(f"{name}: one machine answers {len(questions)} questions in {time.monotonic() - start:.0f} s", flush=True)
        with Cluster(self.programs, Loopback(), self.made("planners"), maker.store.environment) as cluster:
            cluster.settle(2)
            for plans, settings in PLANS.items():
                start = time.monotonic()
                answers = self.in_cluster(cluster, maker).ask([question.text for question in questions], settings)
                differences = [(one, one.difference(answer)) for one, answer in zip(known, answers)]
                wrong = [(one.question, found) for one, found in differences if found]
                for question, found in wrong:
                    self.failed.append(f"{question.name}, {plans}")
                    print(f"FAILED {question.name}, {plans}: {found}\n  {question.text}", flush=True)
                print(f"{name}, {plans}: {len(questions) - len(wrong)} answers are the same, {len(wrong)} are not, "
                      f"in {time.monotonic() - start:.0f} s", flush=True)

    def made(self, name):
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.directory))

    def tpch(self):
        maker = self.maker(Directory(self.directory / "tpch-tables"))
        if maker.tpch(SCALE):
            self.compare("TPC-H", maker, of_tpch(range(1, 23)))

    def clickbench(self):
        maker = self.maker(Directory(self.directory / "hits-tables"))
        file = self.directory / "hits.parquet"
        make_hits(duckdb.connect(), HITS, file)
        maker.convert(file, "hits.buren")
        maker.tables["hits"] = maker.store.address("hits.buren")
        self.compare("ClickBench", maker, of_clickbench())

    def demo(self):
        """Runs the demo's queries over tables in an object store; two of them again while an executor is killed."""
        files = store(Loopback.hub, self.directory / "store")
        try:
            maker = self.maker(files)
            maker.one_billion(MEASUREMENTS, 2)
            maker.uservisits(VISITS, 2)
            has_tpch = maker.tpch(SCALE)
            known = references(self.client(maker), [ONE_BILLION, *AMPLAB, *(of_tpch(JOINS) if has_tpch else [])])
            with Cluster(self.programs, Loopback(), self.made("demo"), files.environment) as cluster:
                cluster.settle(EXECUTORS)
                demo = Demo(cluster, self.in_cluster(cluster, maker))
                for reference in known:
                    demo.ask(reference)
                for reference in [known[1], known[-1]]:
                    demo.ask_and_kill(reference)
                self.failed += demo.failed
        finally:
            files.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", metavar="BIN_DIR")
    parser.add_argument("brc", metavar="BRC")
    parser.add_argument("--only", choices=["tpch", "clickbench", "demo"], help="one of the parts")
    arguments = parser.parse_args()
    stop_on_signals()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        check = Check(Path(arguments.programs).absolute(), Path(arguments.brc).absolute(), Path(name))
        for part in [arguments.only] if arguments.only else ["tpch", "clickbench", "demo"]:
            getattr(check, part)()
    print(f"{len(check.failed)} failures, after {time.monotonic() - start:.0f} s")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
