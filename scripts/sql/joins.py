"""The five joins of h2o's db-benchmark, and similar tables: most, but not all, keys of one are in the other."""

KEYS = {"small": "id1", "medium": "id2", "large": "id3"}

# Each result is stored as a table; sums over it are compared.
QUESTIONS = {
    1: "select x.*, small.id4 as small_id4, small.v2 from x join small on x.id1 = small.id1",
    2: "select x.*, medium.id1 as medium_id1, medium.id4 as medium_id4, medium.id5 as medium_id5, medium.v2 "
    "from x join medium on x.id2 = medium.id2",
    3: "select x.*, medium.id1 as medium_id1, medium.id4 as medium_id4, medium.id5 as medium_id5, medium.v2 "
    "from x left join medium on x.id2 = medium.id2",
    4: "select x.*, medium.id1 as medium_id1, medium.id2 as medium_id2, medium.id4 as medium_id4, medium.v2 "
    "from x join medium on x.id5 = medium.id5",
    5: "select x.*, large.id1 as large_id1, large.id2 as large_id2, large.id4 as large_id4, large.id5 as large_id5, "
    "large.id6 as large_id6, large.v2 from x join large on x.id3 = large.id3",
}

SUMS = "select count(*) as rows, sum(v1) as v1, sum(v2) as v2, sum(id1) as id1, sum(length(id5)) as id5 from answer"


def make_joins(database, rows, path):
    """Writes x, small, medium and large as Parquet; `path` gives the file of a table."""
    sizes = {"id1": max(rows // 1_000_000, 10), "id2": max(rows // 1000, 100), "id3": rows}
    database.execute("set preserve_insertion_order = false; select setseed(0.42)")
    key = {name: f"1 + (random() * {size} * 1.1)::int" for name, size in sizes.items()}
    names = {"id4": "id1", "id5": "id2", "id6": "id3"}

    def columns(keys):
        texts = [f"'id' || {of} as {text}" for text, of in names.items() if of in keys]
        return ", ".join([*keys, *texts])

    draw = ", ".join(f"{value} as {name}" for name, value in key.items())
    database.execute(f"copy (select {columns(list(key))}, round(random() * 100, 6) as v1 from (select {draw} from range({rows}))) "
                     f"to '{path('x')}' (format parquet, compression zstd)")
    for table, own in KEYS.items():
        keys = list(sizes)[: list(sizes).index(own) + 1]
        others = "".join(f", {key[name]} as {name}" for name in keys if name != own)
        database.execute(f"copy (select {columns(keys)}, round(random() * 100, 6) as v2 from "
                         f"(select i + {sizes[own] // 10} as {own}{others} from range({sizes[own]}) r(i)) order by random()) "
                         f"to '{path(table)}' (format parquet, compression zstd)")
