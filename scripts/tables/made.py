"""The benchmark tables: their columns, how to generate them, and how to check a file's rows."""

import os
import shutil
import subprocess
import sys
import tempfile

# The columns of each table as DuckDB types, in which the content of all files is compared.
TYPES = {
    "lineitem": {
        "l_orderkey": "BIGINT", "l_partkey": "BIGINT", "l_suppkey": "BIGINT", "l_linenumber": "BIGINT",
        "l_quantity": "DECIMAL(18,2)", "l_extendedprice": "DECIMAL(18,2)", "l_discount": "DECIMAL(18,2)",
        "l_tax": "DECIMAL(18,2)", "l_returnflag": "VARCHAR", "l_linestatus": "VARCHAR", "l_shipdate": "DATE",
        "l_commitdate": "DATE", "l_receiptdate": "DATE", "l_shipinstruct": "VARCHAR", "l_shipmode": "VARCHAR",
        "l_comment": "VARCHAR",
    },
    "uservisits": {
        "source_ip": "VARCHAR", "dest_url": "VARCHAR", "visit_date": "DATE", "ad_revenue": "DECIMAL(18,2)",
        "user_agent": "VARCHAR", "country_code": "VARCHAR", "language_code": "VARCHAR", "search_word": "VARCHAR",
        "duration": "BIGINT",
    },
    "g1": {
        "id1": "VARCHAR", "id2": "VARCHAR", "id3": "VARCHAR", "id4": "BIGINT", "id5": "BIGINT", "id6": "BIGINT",
        "v1": "BIGINT", "v2": "BIGINT", "v3": "DOUBLE",
    },
}

G1 = """
select format('id{{:03d}}', 1 + (random() * 100)::int % 100) id1, format('id{{:03d}}', 1 + (random() * 100)::int % 100) id2,
  format('id{{:010d}}', 1 + (random() * {groups})::int % {groups}) id3, 1 + (random() * 100)::int % 100 id4,
  1 + (random() * 100)::int % 100 id5, 1 + (random() * {groups})::int % {groups} id6, 1 + (random() * 5)::int % 5 v1,
  1 + (random() * 15)::int % 15 v2, round(random() * 100, 6) v3
from range({rows})
"""

USERVISITS = """
with random_row as (
  select (random() * 4294967295)::ubigint ip, (power(random(), 4) * {rows} / 10)::int url, (random() * 16000)::int visit_day,
    (random() * 1000)::decimal(9, 2) revenue, (random() * 4)::int % 4 browser, (random() * 97)::int browser_version,
    random() country, (power(random(), 3) * 20000)::int word, 1 + (random() * 1000)::int duration
  from range({rows})
)
select format('{{}}.{{}}.{{}}.{{}}', ip >> 24, (ip >> 16) & 255, (ip >> 8) & 255, ip & 255) source_ip,
  'http://www.' || substr(md5(url::varchar), 1, 12) || '.com/' || substr(md5((url + 7)::varchar), 1, 8 + url % 24) || '.html' dest_url,
  date '1970-01-01' + visit_day visit_date, revenue ad_revenue,
  list_extract([
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 14.2) Gecko/20100101 Firefox/',
    'Opera/9.80 (X11; Linux x86_64) Presto/2.12.', 'curl/7.'], 1 + browser) || browser_version user_agent,
  list_extract(['USA', 'DEU', 'CHN', 'BRA', 'FRA', 'JPN', 'IND', 'GBR', 'ITA', 'ESP'], 1 + (country * country * 10)::int % 10) country_code,
  list_extract(['en-US', 'de-DE', 'zh-CN', 'pt-BR', 'fr-FR', 'ja-JP', 'hi-IN', 'en-GB', 'it-IT', 'es-ES'],
    1 + (country * country * 10)::int % 10) language_code,
  substr(md5(word::varchar), 1, 4 + word % 16) search_word, duration
from random_row
"""


def tpchgen():
    """The path of TPC-H's generator, preferably from this Python's environment."""
    return shutil.which("tpchgen-cli", path=os.path.dirname(sys.executable)) or "tpchgen-cli"


def make_table(name, rows, path):
    print(f"making {path}", flush=True)
    if name == "lineitem":
        scale = max(rows / 6_000_000, 0.001)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as directory:
            subprocess.run([tpchgen(), "csv", "-s", f"{scale:g}", "--tables", "lineitem", "--output-dir", directory], check=True)
            shutil.move(os.path.join(directory, "lineitem.csv"), path)
        return
    import duckdb

    database = duckdb.connect()
    database.execute("set preserve_insertion_order = false; select setseed(0.42)")
    sql = (G1 if name == "g1" else USERVISITS).format(rows=rows, groups=max(rows // 100, 1))
    database.execute(f"copy ({sql}) to '{path}.part' (header, delimiter ',')")
    os.replace(f"{path}.part", path)


def fingerprint(source, types):
    """The number of rows, and a checksum that does not depend on their order."""
    import duckdb

    columns = ", ".join(f'"{name}"::{kind}' for name, kind in types.items())
    return duckdb.sql(f"select count(*), sum(hash({columns})::hugeint) from {source}").fetchall()[0]
