"""The 43 queries of ClickBench as published for DuckDB, run over a generated table `hits`, and DuckDB's results.

Each query is run as published, and again for its whole result: without limit and offset, and with a lower threshold in
`having` so that a small table has matching groups. Rows that tie in the sort order may be in any order, and a limit may
keep any of them.
"""

import json
import re
import subprocess
from collections import Counter
from decimal import Decimal

from interop.hits import count, make_hits

RANGE = "CounterID = 62 AND EventDate >= '2013-07-01' AND EventDate <= '2013-07-31'"
WIDTHS = ", ".join(["SUM(ResolutionWidth)", *(f"SUM(ResolutionWidth + {more})" for more in range(1, 90))])

# Each query, and the result columns it is ordered by.
QUESTIONS = [
    ("SELECT COUNT(*) FROM hits", []),
    ("SELECT COUNT(*) FROM hits WHERE AdvEngineID <> 0", []),
    ("SELECT SUM(AdvEngineID), COUNT(*), AVG(ResolutionWidth) FROM hits", []),
    ("SELECT AVG(UserID) FROM hits", []),
    ("SELECT COUNT(DISTINCT UserID) FROM hits", []),
    ("SELECT COUNT(DISTINCT SearchPhrase) FROM hits", []),
    ("SELECT MIN(EventDate), MAX(EventDate) FROM hits", []),
    ("SELECT AdvEngineID, COUNT(*) FROM hits WHERE AdvEngineID <> 0 GROUP BY AdvEngineID ORDER BY COUNT(*) DESC", [1]),
    ("SELECT RegionID, COUNT(DISTINCT UserID) AS u FROM hits GROUP BY RegionID ORDER BY u DESC LIMIT 10", [1]),
    ("SELECT RegionID, SUM(AdvEngineID), COUNT(*) AS c, AVG(ResolutionWidth), COUNT(DISTINCT UserID) FROM hits GROUP BY RegionID ORDER BY c DESC LIMIT 10", [2]),
    ("SELECT MobilePhoneModel, COUNT(DISTINCT UserID) AS u FROM hits WHERE MobilePhoneModel <> '' GROUP BY MobilePhoneModel ORDER BY u DESC LIMIT 10", [1]),
    ("SELECT MobilePhone, MobilePhoneModel, COUNT(DISTINCT UserID) AS u FROM hits WHERE MobilePhoneModel <> '' GROUP BY MobilePhone, MobilePhoneModel ORDER BY u DESC LIMIT 10", [2]),
    ("SELECT SearchPhrase, COUNT(*) AS c FROM hits WHERE SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY c DESC LIMIT 10", [1]),
    ("SELECT SearchPhrase, COUNT(DISTINCT UserID) AS u FROM hits WHERE SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY u DESC LIMIT 10", [1]),
    ("SELECT SearchEngineID, SearchPhrase, COUNT(*) AS c FROM hits WHERE SearchPhrase <> '' GROUP BY SearchEngineID, SearchPhrase ORDER BY c DESC LIMIT 10", [2]),
    ("SELECT UserID, COUNT(*) FROM hits GROUP BY UserID ORDER BY COUNT(*) DESC LIMIT 10", [1]),
    ("SELECT UserID, SearchPhrase, COUNT(*) FROM hits GROUP BY UserID, SearchPhrase ORDER BY COUNT(*) DESC LIMIT 10", [2]),
    ("SELECT UserID, SearchPhrase, COUNT(*) FROM hits GROUP BY UserID, SearchPhrase LIMIT 10", []),
    ("SELECT UserID, extract(minute FROM EventTime) AS m, SearchPhrase, COUNT(*) FROM hits GROUP BY UserID, m, SearchPhrase ORDER BY COUNT(*) DESC LIMIT 10", [3]),
    ("SELECT UserID FROM hits WHERE UserID = 435090932899640449", []),
    ("SELECT COUNT(*) FROM hits WHERE URL LIKE '%google%'", []),
    ("SELECT SearchPhrase, MIN(URL), COUNT(*) AS c FROM hits WHERE URL LIKE '%google%' AND SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY c DESC LIMIT 10", [2]),
    ("SELECT SearchPhrase, MIN(URL), MIN(Title), COUNT(*) AS c, COUNT(DISTINCT UserID) FROM hits WHERE Title LIKE '%Google%' AND URL NOT LIKE '%.google.%' AND SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY c DESC LIMIT 10", [3]),
    ("SELECT * FROM hits WHERE URL LIKE '%google%' ORDER BY EventTime LIMIT 10", [4]),
    ("SELECT SearchPhrase FROM hits WHERE SearchPhrase <> '' ORDER BY EventTime LIMIT 10", None),
    ("SELECT SearchPhrase FROM hits WHERE SearchPhrase <> '' ORDER BY SearchPhrase LIMIT 10", [0]),
    ("SELECT SearchPhrase FROM hits WHERE SearchPhrase <> '' ORDER BY EventTime, SearchPhrase LIMIT 10", None),
    ("SELECT CounterID, AVG(STRLEN(URL)) AS l, COUNT(*) AS c FROM hits WHERE URL <> '' GROUP BY CounterID HAVING COUNT(*) > 100000 ORDER BY l DESC LIMIT 25", [1]),
    (r"SELECT REGEXP_REPLACE(Referer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') AS k, AVG(STRLEN(Referer)) AS l, COUNT(*) AS c, MIN(Referer) FROM hits WHERE Referer <> '' GROUP BY k HAVING COUNT(*) > 100000 ORDER BY l DESC LIMIT 25", [1]),
    (f"SELECT {WIDTHS} FROM hits", []),
    ("SELECT SearchEngineID, ClientIP, COUNT(*) AS c, SUM(IsRefresh), AVG(ResolutionWidth) FROM hits WHERE SearchPhrase <> '' GROUP BY SearchEngineID, ClientIP ORDER BY c DESC LIMIT 10", [2]),
    ("SELECT WatchID, ClientIP, COUNT(*) AS c, SUM(IsRefresh), AVG(ResolutionWidth) FROM hits WHERE SearchPhrase <> '' GROUP BY WatchID, ClientIP ORDER BY c DESC LIMIT 10", [2]),
    ("SELECT WatchID, ClientIP, COUNT(*) AS c, SUM(IsRefresh), AVG(ResolutionWidth) FROM hits GROUP BY WatchID, ClientIP ORDER BY c DESC LIMIT 10", [2]),
    ("SELECT URL, COUNT(*) AS c FROM hits GROUP BY URL ORDER BY c DESC LIMIT 10", [1]),
    ("SELECT 1, URL, COUNT(*) AS c FROM hits GROUP BY 1, URL ORDER BY c DESC LIMIT 10", [2]),
    ("SELECT ClientIP, ClientIP - 1, ClientIP - 2, ClientIP - 3, COUNT(*) AS c FROM hits GROUP BY ClientIP, ClientIP - 1, ClientIP - 2, ClientIP - 3 ORDER BY c DESC LIMIT 10", [4]),
    (f"SELECT URL, COUNT(*) AS PageViews FROM hits WHERE {RANGE} AND DontCountHits = 0 AND IsRefresh = 0 AND URL <> '' GROUP BY URL ORDER BY PageViews DESC LIMIT 10", [1]),
    (f"SELECT Title, COUNT(*) AS PageViews FROM hits WHERE {RANGE} AND DontCountHits = 0 AND IsRefresh = 0 AND Title <> '' GROUP BY Title ORDER BY PageViews DESC LIMIT 10", [1]),
    (f"SELECT URL, COUNT(*) AS PageViews FROM hits WHERE {RANGE} AND IsRefresh = 0 AND IsLink <> 0 AND IsDownload = 0 GROUP BY URL ORDER BY PageViews DESC LIMIT 10 OFFSET 1000", [1]),
    (f"SELECT TraficSourceID, SearchEngineID, AdvEngineID, CASE WHEN (SearchEngineID = 0 AND AdvEngineID = 0) THEN Referer ELSE '' END AS Src, URL AS Dst, COUNT(*) AS PageViews FROM hits WHERE {RANGE} AND IsRefresh = 0 GROUP BY TraficSourceID, SearchEngineID, AdvEngineID, Src, Dst ORDER BY PageViews DESC LIMIT 10 OFFSET 1000", [5]),
    (f"SELECT URLHash, EventDate, COUNT(*) AS PageViews FROM hits WHERE {RANGE} AND IsRefresh = 0 AND TraficSourceID IN (-1, 6) AND RefererHash = 3594120000172545465 GROUP BY URLHash, EventDate ORDER BY PageViews DESC LIMIT 10 OFFSET 100", [2]),
    (f"SELECT WindowClientWidth, WindowClientHeight, COUNT(*) AS PageViews FROM hits WHERE {RANGE} AND IsRefresh = 0 AND DontCountHits = 0 AND URLHash = 2868770270353813622 GROUP BY WindowClientWidth, WindowClientHeight ORDER BY PageViews DESC LIMIT 10 OFFSET 10000", [2]),
    ("SELECT DATE_TRUNC('minute', EventTime) AS M, COUNT(*) AS PageViews FROM hits WHERE CounterID = 62 AND EventDate >= '2013-07-14' AND EventDate <= '2013-07-15' AND IsRefresh = 0 AND DontCountHits = 0 GROUP BY DATE_TRUNC('minute', EventTime) ORDER BY DATE_TRUNC('minute', EventTime) LIMIT 10 OFFSET 1000", [0]),
]


def of_datafusion(question):
    """A query in DataFusion's dialect."""
    return re.sub(r"\bSTRLEN\(", "octet_length(", question).replace("REGEXP_REPLACE(", "regexp_replace(")


def without_limit(question):
    return re.sub(r"( LIMIT \d+)?( OFFSET \d+)?$", "", question, flags=re.IGNORECASE)


def window(question):
    """The range of rows of the whole result that a query returns: first, and one past the last."""
    limit, offset = (re.search(rf" {word} (\d+)", question, re.IGNORECASE) for word in ["LIMIT", "OFFSET"])
    start = int(offset[1]) if offset else 0
    return start, start + int(limit[1]) if limit else None


def plain(value):
    """Normalises a value for comparison: floats to ten digits, as sums depend on the order of addition."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        return int(value) if value == int(value) and abs(value) < 2**53 else float(f"{value:.10g}") if isinstance(value, (float, Decimal)) else value
    return str(value)


def plain_row(row):
    return tuple(plain(value) for value in row)


def instants(rows, columns):
    """Rows with dates and times in DuckDB's format."""
    short = lambda value, is_instant: value.removesuffix(".000000") if is_instant else value
    return [tuple(map(short, row, columns)) for row in rows]


def difference(ours, whole, keys, start, end):
    """Describes what is wrong with a result, given the whole ordered one and the sort keys of its rows."""
    end = len(whole) if end is None else min(end, len(whole))
    if len(ours) != max(0, end - start):
        return f"{len(ours)} rows, but {max(0, end - start)} expected"
    first = 0
    while first < end:
        last = first
        while last < len(whole) and keys[last] == keys[first]:
            last += 1
        found = Counter(ours[max(first, start) - start : max(0, min(last, end) - start)])
        wrong = found - Counter(whole[first:last])
        if wrong:
            return f"{next(iter(wrong))} is not among the {last - first} rows that may be there, as {whole[first]}"
        first = last
    return None


class ClickBench:
    """The table in brc's files and in DuckDB."""

    def __init__(self, brc, directory, rows):
        import duckdb

        self.brc, self.directory, self.rows = brc, directory, rows
        self.database = duckdb.connect()
        self.files = [directory / "hits.parquet", directory / "hits.buren"]
        make_hits(self.database, rows, self.files[0])
        self.database.execute(f"create table hits as select * from read_parquet('{self.files[0]}')")
        self.run("convert", *self.files, "--no-sync", "--force")

    def run(self, *arguments):
        run = subprocess.run([self.brc, *map(str, arguments)], capture_output=True, text=True)
        if run.returncode != 0:
            raise RuntimeError(run.stderr.strip())
        return run.stdout

    def ours(self, file, question):
        # A duplicate name in an object would lose a column, but brc rejects such queries.
        rows = json.loads(self.run("query", file, question, "--format", "json-array"), parse_float=Decimal)
        return [tuple(row.values()) for row in rows]

    def check(self, question, keys):
        """Describes what is wrong with a result; None if it is correct."""
        smaller = without_limit(question).replace("> 100000", f"> {max(1, self.rows // 1000)}")
        for asked, is_whole in [(question, False), (smaller, True)]:
            reference = without_limit(asked)
            hidden = re.search(r" ORDER BY (.*)$", reference)[1] if keys is None else None
            if hidden:
                reference = reference.replace(" FROM", f", struct_pack({', '.join(f'k{at} := {key}' for at, key in enumerate(hidden.split(', ')))}) FROM", 1)
            cursor = self.database.execute(reference)
            instant = [str(column[1]).upper().startswith(("TIMESTAMP", "DATE")) for column in cursor.description]
            rows = [plain_row(row) for row in cursor.fetchall()]
            ordered = [row[-1] if hidden else tuple(row[key] for key in keys) for row in rows]
            whole = [row[:-1] if hidden else row for row in rows]
            for file in self.files:
                try:
                    ours = self.ours(file, asked)
                except RuntimeError as error:
                    return f"{file.name}: {error}"
                ours = [plain_row(row) for row in instants(ours, instant)]
                start, end = (0, None) if is_whole else window(question)
                found = difference(ours, whole, ordered, start, end)
                if found:
                    return f"{file.name}{', whole' if is_whole else ''}: {found}"
        return None


def check_clickbench(brc, directory, rows):
    """Returns the number of wrong results."""
    bench = ClickBench(brc, directory, count(rows))
    failed = 0
    for number, (question, keys) in enumerate(QUESTIONS):
        found = bench.check(question, keys)
        if found:
            failed += 1
            print(f"FAILED  ClickBench {number}: {question}\n  {found}", flush=True)
    print(f"ClickBench, {rows} rows: {len(QUESTIONS) - failed} answers are the same, {failed} are not")
    return failed
