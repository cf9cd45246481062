"""Known answers: TPC-H's published ones, and those of DuckDB to the questions of AMPLab's and h2o's benchmarks.

The tables of the benchmarks are made by `brc generate`, TPC-H's by tpchgen-cli, which must be installed for it.
"""

import json
import subprocess
from decimal import ROUND_HALF_UP, Decimal

from tables.made import tpchgen

# The answers that the specification prints for scale factor 1, to two decimals: TPC-H 4.2 and its answer set.
TPCH_Q1 = [
    "A|F|37734107.00|56586554400.73|53758257134.87|55909065222.83|25.52|38273.13|0.05|1478493",
    "N|F|991417.00|1487504710.38|1413082168.05|1469649223.19|25.52|38284.47|0.05|38854",
    "N|O|74476040.00|111701729697.74|106118230307.61|110367043872.50|25.50|38249.12|0.05|2920374",
    "R|F|37719753.00|56568041380.90|53741292684.60|55889619119.83|25.51|38250.85|0.05|1478870",
]
TPCH_Q6 = ["123141078.23"]

LINEITEM = {
    "Q1": (
        "select l_returnflag, l_linestatus, sum(l_quantity) a, sum(l_extendedprice) b, sum(l_extendedprice * (1 - l_discount)) c, "
        "sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) d, avg(l_quantity) e, avg(l_extendedprice) f, avg(l_discount) g, "
        "count(*) h from t where l_shipdate <= date '1998-09-02' group by 1, 2 order by 1, 2",
        TPCH_Q1,
    ),
    "Q6": (
        "select sum(l_extendedprice * l_discount) a from t where l_shipdate >= date '1994-01-01' "
        "and l_shipdate < date '1995-01-01' and l_discount between 0.05 and 0.07 and l_quantity < 24",
        TPCH_Q6,
    ),
}

# Questions of generated tables: what is asked, and what DuckDB is asked instead, if it has another name for it.
GENERATED = {
    "uservisits": [
        *((f"select substr(source_ip, 1, {length}) k, sum(ad_revenue) r from t group by 1", None) for length in (8, 10, 12)),
        ("select dest_url k, count(*) n from t group by 1 order by 2 desc, 1 limit 10", None),
        ("select country_code k, count(distinct search_word) n, avg(duration) d from t group by 1", None),
    ],
    "g1": [
        ("select id1 k, sum(v1) a from t group by 1", None),
        ("select id1 k, id2 l, sum(v1) a from t group by 1, 2", None),
        ("select id3 k, sum(v1) a, avg(v3) b from t group by 1", None),
        ("select id4 k, avg(v1) a, avg(v2) b, avg(v3) c from t group by 1", None),
        ("select id6 k, sum(v1) a, sum(v2) b, sum(v3) c from t group by 1", None),
        (
            "select id4 k, id5 l, median(v3) a, stddev_samp(v3) b from t group by 1, 2",
            "select id4 k, id5 l, median(v3::double) a, stddev_samp(v3) b from t group by 1, 2",
        ),
        ("select id3 k, max(v1) - min(v2) a from t group by 1", None),
        (
            "select id6 k, top(v3, 2) a from t group by 1",
            "select id6 k, nullif(array_to_string(max(v3, 2), ', '), '') a from t group by 1",
        ),
        ("select id2 k, id4 l, power(corr(v1, v2), 2) a from t group by 1, 2", None),
        ("select id1, id2, id3, id4, id5, id6, sum(v3) a, count(*) b from t group by 1, 2, 3, 4, 5, 6", None),
    ],
}
GENERATED_COLUMNS = {
    "uservisits": "source_ip varchar, dest_url varchar, visit_date date, ad_revenue decimal(18,2), user_agent varchar, "
    "country_code varchar, language_code varchar, search_word varchar, duration bigint",
    "g1": "id1 varchar, id2 varchar, id3 varchar, id4 bigint, id5 bigint, id6 bigint, v1 bigint, v2 bigint, v3 decimal(18,6)",
}


def is_as_published(row, published):
    """Whether a row is one of the answer set, in which numbers with a point have two decimals."""
    def as_published(value, text):
        if "." not in text:
            return str(value) == text
        return Decimal(value).quantize(Decimal("0.01"), ROUND_HALF_UP) == Decimal(text)

    texts = published.split("|")
    return len(row) == len(texts) and all(map(as_published, row, texts))


class Known:
    """Tables in a directory, asked by brc and DuckDB."""

    def __init__(self, brc, directory, is_same):
        self.brc, self.directory, self.is_same = brc, directory, is_same
        self.done = self.failed = 0

    def run(self, *arguments):
        return subprocess.run([self.brc, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout

    def ask(self, file, question):
        text = self.run("query", self.directory / file, question, "--format", "json-array")
        return [list(row.values()) for row in json.loads(text, parse_float=Decimal)]

    def check(self, name, found, expected, is_same):
        rows = len(found) == len(expected)
        wrong = [pair for pair in zip(found, expected) if not is_same(*pair)]
        self.done += 1
        if rows and not wrong:
            print(f"ok      {name}: {len(found)} rows", flush=True)
            return
        self.failed += 1
        print(f"FAILED  {name}: {len(found)} rows, {len(expected)} expected; {wrong[:1]}", flush=True)

    def tpch(self):
        command = [tpchgen(), "csv", "-s", "1", "--tables", "lineitem", "--output-dir", str(self.directory)]
        try:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        except FileNotFoundError:
            print("LEFT OUT: TPC-H, for tpchgen-cli is not installed")
            return
        self.run("convert", self.directory / "lineitem.csv", self.directory / "lineitem.buren", "--no-sync")

        for name, (question, expected) in LINEITEM.items():
            for file in ["lineitem.buren", "lineitem.csv"]:
                self.check(f"TPC-H {name} of {file}", self.ask(file, question), expected, is_as_published)

    def generated(self, preset, rows):
        import duckdb

        source, target = self.directory / f"{preset}.csv", self.directory / f"{preset}.buren"
        self.run("generate", source, "--preset", preset, "--rows", rows)
        self.run("convert", source, target, "--no-sync")
        database = duckdb.connect()
        database.execute(f"create table t ({GENERATED_COLUMNS[preset]})")
        database.execute(f"copy t from '{source}' (header)")
        is_same = lambda ours, theirs: all(map(self.is_same, ours, theirs))
        for number, (ours, theirs) in enumerate(GENERATED[preset], 1):
            ordered = "" if " order by " in ours else " order by " + ", ".join(str(key) for key in keys(ours))
            expected = database.execute((theirs or ours) + ordered).fetchall()
            self.check(f"{preset} {number}", self.ask(target.name, ours + ordered), expected, is_same)


def keys(question):
    return question.rsplit("group by ", 1)[1].split(", ")


def check_known(brc, directory, rows, is_same):
    """Returns how many answers are wrong."""
    known = Known(brc, directory, is_same)
    known.tpch()
    for preset in GENERATED:
        known.generated(preset, rows)
    print(f"{known.done - known.failed} known answers are right, {known.failed} are not")
    return known.failed
