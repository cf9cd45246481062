#!/usr/bin/env python3
"""Runs random queries with joins, windows, subqueries and groups in `brc-sql` and DuckDB, and compares the results.

    cargo build --manifest-path crates/brc-datafusion/Cargo.toml && cargo build --release
    python3 -m venv /tmp/interop && /tmp/interop/bin/pip install -r scripts/interop/requirements.txt
    /tmp/interop/bin/python scripts/check-sql.py BRC_SQL BRC [--questions 100] [--seed N]

Two tables with nulls in all columns are written as CSV, and converted to buren with and without a cluster key. A query
uses one form of each table, 1 to 5 threads, and either brc's or DataFusion's grouping.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import duckdb

VISITS = "id bigint, place varchar, day date, fare decimal(9, 2), minutes integer"
PLACES = "name varchar, country varchar, height integer"


def write_tables(random, directory):
    def field(value):
        return "" if random.random() < 0.08 else value

    places = [f"place {number}" for number in range(30)]
    lines = ["id,place,day,fare,minutes"]
    for number in range(4000):
        day = f"2024-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
        fare = f"{random.randint(0, 9999) / 100:.2f}"
        row = [str(number), field(random.choice(places)), field(day), field(fare), field(str(random.randint(-50, 500)))]
        lines.append(",".join(row))
    (directory / "visits.csv").write_text("\n".join(lines) + "\n")
    lines = ["name,country,height"]
    for place in places[:24]:
        lines.append(",".join([place, field(random.choice(["SA", "NO", "EC"])), field(str(random.randint(0, 3000)))]))
    (directory / "places.csv").write_text("\n".join(lines) + "\n")


def question(random):
    value = random.choice(["count(*)", "sum(v.fare)", "min(v.day)", "max(v.minutes)", "count(p.country)", "sum(v.minutes * 2)",
                           "count(distinct v.place)", "max(v.place)"])
    join = random.choice(["join", "left join", "right join", "full join"])
    condition = random.choice(["true", "v.fare > 50", "v.minutes between 10 and 300", "p.country = 'NO'", "v.day < date '2024-07-01'",
                               "v.place is not null", "p.height > 1000 or p.height is null", "v.fare > 50 and p.country <> 'SA'"])
    key = random.choice(["p.country", "v.place", "v.day", "p.country, v.place"])
    return random.choice([
        f"select {key}, {value} as a from visits v {join} places p on v.place = p.name where {condition} group by {key}",
        f"select {value} as a, count(*) as n from visits v {join} places p on v.place = p.name where {condition}",
        f"with best as (select place, max(fare) as high from visits where minutes > {random.randint(0, 400)} group by place) "
        f"select p.country, count(*) as n, max(b.high) as a from best b {join} places p on b.place = p.name group by p.country",
        "select id, row_number() over (partition by place order by fare desc nulls last, id) as a from visits "
        f"where minutes > {random.randint(0, 400)}",
        "select place, count(*) as n from visits where fare > (select min(fare) from visits) and place in "
        f"(select name from places where height > {random.randint(0, 2000)}) group by place having count(*) > 3",
        f"select a.place, a.n, b.n as m from (select place, count(*) as n from visits where fare > {random.randint(0, 99)} "
        "group by place) a join (select place, count(minutes) as n from visits group by place) b on a.place = b.place",
        f"select place, sum(fare) as a from visits where minutes < {random.randint(0, 300)} group by place "
        "union all select name, max(height) from places group by name",
    ])


def rows(answer):
    return sorted((tuple(plain(value) for value in row) for row in answer), key=repr)


def plain(value):
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        return str(Decimal(str(value)).normalize())
    return None if value is None else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("brc_sql")
    parser.add_argument("brc")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    arguments = parser.parse_args()
    brc_sql, brc = Path(arguments.brc_sql).absolute(), Path(arguments.brc).absolute()
    source = random.Random(arguments.seed)
    print(f"seed {arguments.seed}")
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        write_tables(source, directory)
        for table, key in [("visits", "place"), ("places", "country")]:
            for form, key in [("buren", "none"), ("clustered.buren", key)]:
                command = [brc, "convert", "--key", key, f"{table}.csv", f"{table}.{form}"]
                subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        database = duckdb.connect()
        for table, columns in [("visits", VISITS), ("places", PLACES)]:
            database.execute(f"create table {table} ({columns})")
            database.execute(f"insert into {table} select * from read_csv('{directory}/{table}.csv', header = true, all_varchar = true)")
        for _ in range(arguments.questions):
            text = question(source)
            forms = [source.choice(["csv", "buren", "clustered.buren"]) for _ in range(2)]
            files = [f"visits=visits.{forms[0]}", f"places=places.{forms[1]}"]
            settings = f"set brc.aggregate = {source.choice(['on', 'off'])};"
            command = [brc_sql, *files, "--format", "jsonl", "--threads", str(source.randint(1, 5)), f"{settings} {text}"]
            ended = subprocess.run(command, cwd=directory, capture_output=True, text=True)
            theirs = database.execute(text).fetchall()
            names = [column[0] for column in database.description]
            ours = [[json.loads(line, parse_float=Decimal).get(name) for name in names] for line in ended.stdout.splitlines()]
            if ended.returncode or rows(ours) != rows(theirs):
                failed += 1
                print(f"FAILED {files} {settings} {text}\n{ended.stderr}", rows(ours)[:5], rows(theirs)[:5])
    print(f"{arguments.questions - failed} answers are the same, {failed} are not")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
