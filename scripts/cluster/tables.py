"""The tables that the cluster queries: generated locally, stored as buren where all programs can read them."""

import shutil
import subprocess
from pathlib import Path

from cluster.answers import Question
from sql import tpch
from tables.made import tpchgen

# Each of these queries uses one table and one column.
ONE_BILLION = Question(
    "1BRC",
    "select station, min(temperature) as low, avg(temperature) as mean, max(temperature) as high, count(*) as n "
    "from measurements group by station order by station",
    [0],
)
AMPLAB = [
    Question(
        f"AMPLab 2{letter}",
        f"select substr(source_ip, 1, {length}) as prefix, sum(ad_revenue) as revenue from uservisits "
        f"group by substr(source_ip, 1, {length})",
        [],
    )
    for letter, length in [("A", 8), ("B", 10), ("C", 12)]
]

# The columns by which the results of TPC-H's queries are ordered.
TPCH_ORDER = {
    1: [0, 1], 2: [0, 2, 1, 3], 3: [1, 2], 4: [0], 5: [1], 6: [], 7: [0, 1, 2], 8: [0], 9: [0, 1], 10: [2], 11: [1], 12: [0],
    13: [1, 0], 14: [], 15: [0], 16: [3, 0, 1, 2], 17: [], 18: [4, 3], 19: [], 20: [0], 21: [1, 0], 22: [0],
}
JOINS = [3, 5, 10, 12, 14]


def of_tpch(numbers):
    return [Question(f"TPC-H {number}", tpch.QUESTIONS[number].strip(), TPCH_ORDER[number]) for number in numbers]


class Maker:
    """Generates tables with `brc` in a directory, and converts them to buren in a store."""

    def __init__(self, brc, directory, store, row_group):
        self.brc, self.directory, self.store, self.row_group = brc, Path(directory), store, row_group
        # The address of each table.
        self.tables = {}

    def run(self, *words):
        command = list(map(str, words))
        ended = subprocess.run(command, capture_output=True, text=True, timeout=600, env=self.store.environment)
        if ended.returncode:
            raise RuntimeError(f"{' '.join(command)}: {ended.stderr.strip()}")

    def convert(self, file, key):
        self.run(self.brc, "convert", file, self.store.address(key), "--row-group", self.row_group)
        file.unlink()

    def generate(self, table, preset, extension, rows, files):
        """Generates the given number of rows, with one seed per file."""
        for number in range(files):
            file = self.directory / f"{table}-{number}.{extension}"
            self.run(self.brc, "generate", "--preset", preset, "--rows", rows // files, "--seed", number + 1, file)
            self.convert(file, f"{table}/{number}.buren")
        self.tables[table] = self.store.address(f"{table}/")

    def one_billion(self, rows, files=4):
        self.generate("measurements", "1brc", "txt", rows, files)

    def uservisits(self, rows, files=4):
        self.generate("uservisits", "uservisits", "csv", rows, files)

    def tpch(self, scale):
        """Generates TPC-H's tables; returns False, with a message, if its generator is missing."""
        if not shutil.which(tpchgen()):
            print("LEFT OUT: TPC-H, for tpchgen-cli is not installed", flush=True)
            return False
        directory = self.directory / "tpch"
        self.run(tpchgen(), "parquet", "-s", f"{scale:g}", "--output-dir", directory)
        for table in tpch.TABLES:
            self.convert(directory / f"{table}.parquet", f"tpch/{table}.buren")
            self.tables[table] = self.store.address(f"tpch/{table}.buren")
        return True
