"""Random tables, and random queries over them, each in the SQL of brc and of DuckDB.

Where the two differ by design:

- `prefix(s, n)` is the first n characters in brc, like `left` in DuckDB, whose `prefix` tests how a string starts.
- In brc, `first`, `last`, `string_agg` and results without `order by` follow the order of rows; for DuckDB the order is
  given. In brc, `first` and `last` skip nulls like other aggregates.
- Among equally frequent values, `mode` is the smallest in brc, and any in DuckDB.
- `top(x, k)` is text in brc, and a list in DuckDB.
- `quantile(x, q)` is a value of the column, DuckDB's `quantile_disc`.
- `bucket(x, w)` exists only in brc.
- `median` and `quantile_cont` of numbers are floats in brc, and have the column's type in DuckDB.
- Only brc casts integers to dates and timestamps, and back.
- `date_diff` in weeks counts the Mondays between two dates in brc, and whole weeks in DuckDB.
- Undefined results, such as the slope of a line through one point, are null in brc and the SQL standard, NaN in DuckDB.
- Exact numbers divided by zero are null in brc, and in DuckDB with a setting.
- Sums of floats are exact in brc and rounded in DuckDB, so they are compared approximately, and are not used as keys,
  for ordering or under limits.
"""

import datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet

WORDS = ["", "a", "Ab", "abc", "é", "Zürich", "x%y", "x_y", "日本", " pad ", "apple", "Apple pie", "banana", "10", "-3"]


def random_table(source, path):
    """Writes a table of random rows."""
    rows = source.choice([0, 1, 7, 500, 3000, 3000, 30_000])
    nulls = source.choice([0, 0.02, 0.3])

    def column(value):
        share = source.choice([nulls, nulls, 0, 1 if source.random() < 0.05 else nulls])
        return [None if source.random() < share else value() for _ in range(rows)]

    def decimal(digits, scale):
        return Decimal(source.randint(-(10**digits), 10**digits)).scaleb(-scale)

    day = datetime.date(2024, 1, 1)
    words = source.sample(WORDS, source.randint(1, len(WORDS)))
    unique = source.sample(range(-(10**9), 10**9), rows)
    columns = {
        "rid": pa.array(range(rows), pa.int64()),
        "j": pa.array(unique, pa.int64()),
        "i": pa.array(column(lambda: source.randint(-5, 20)), pa.int64()),
        "k": pa.array(column(lambda: source.randint(-(10**12), 10**12)), pa.int64()),
        "n": pa.array(column(lambda: source.randint(-100, 100)), pa.int32()),
        "d": pa.array(column(lambda: decimal(5, 2)), pa.decimal128(9, 2)),
        "w": pa.array(column(lambda: decimal(20, 3)), pa.decimal128(28, 3)),
        "f": pa.array(column(lambda: source.choice([0.0, 0.5, source.uniform(-1e3, 1e3), source.gauss(0, 1e6)])), pa.float64()),
        "b": pa.array(column(lambda: source.random() < 0.5), pa.bool_()),
        "day": pa.array(column(lambda: day + datetime.timedelta(source.randint(-800, 800))), pa.date32()),
        "ts": pa.array(
            column(lambda: datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=source.randint(-(10**8), 10**8))),
            pa.timestamp("us"),
        ),
        "s": pa.array(column(lambda: source.choice(words)), pa.string()),
        "u": pa.array(column(lambda: f"{source.choice(words)}-{source.randint(0, 400)}"), pa.string()),
    }
    pa.parquet.write_table(pa.table(columns), path, row_group_size=1000)


def few_columns(path, to):
    """Writes a table with some columns of a random one, without nulls."""
    table = pa.parquet.read_table(path, columns=["u", "rid", "j"])
    strings = table["u"].fill_null("none").combine_chunks()
    fields = [pa.field("s", pa.string(), False), pa.field("rid", pa.int64(), False), pa.field("j", pa.int64(), False)]
    pa.parquet.write_table(pa.table([strings, table["rid"], table["j"]], pa.schema(fields)), to, row_group_size=1000)


INTEGERS, DECIMALS, FLOATS, STRINGS, TIMES, BOOLS = ["i", "n", "j", "k"], ["d", "w"], ["f"], ["s", "u"], ["day", "ts"], ["b"]
KINDS = {"integer": INTEGERS, "decimal": DECIMALS, "float": FLOATS, "string": STRINGS, "time": TIMES, "bool": BOOLS}
PARTS = ["year", "quarter", "month", "day", "dow", "doy", "week"]
CLOCK_PARTS = ["hour", "minute", "second", "millisecond", "microsecond"]


class Both:
    """An expression in brc's SQL and in DuckDB's."""

    def __init__(self, ours, theirs=None):
        self.ours, self.theirs = ours, ours if theirs is None else theirs


def both(template, *parts):
    return Both(template.format(*(part.ours for part in parts)), template.format(*(part.theirs for part in parts)))


class Question:
    """A query in brc's SQL and in DuckDB's."""

    def __init__(self, source):
        self.source = source
        where = f" where {{}}" if source.random() < 0.5 else ""
        condition = self.condition(2)
        self.where = [where.format(condition.ours), where.format(condition.theirs)]
        kinds = [self.groups, self.groups, self.groups, self.rows, self.distinct, self.of_statistics]
        self.table = "t"
        self.ours, self.theirs = source.choice(kinds)()

    def groups(self):
        source = self.source
        keys = [self.key() for _ in range(source.choice([0, 1, 1, 1, 2, 2, 3]))]
        aggregates = [self.aggregate() for _ in range(source.randint(1, 4))]
        items = [*keys, *aggregates]
        having = self.having() if source.random() < 0.2 else None
        grouped = f" group by {', '.join(str(place + 1) for place in range(len(keys)))}" if keys else ""
        ordered = self.order(len(keys)) if keys else ""
        return [
            f"select {listed(items, side)}{' from t'}{self.where[index]}{grouped}"
            + (f" having {getattr(having, side)}" if having else "")
            + ordered
            for index, side in enumerate(["ours", "theirs"])
        ]

    def rows(self):
        source = self.source
        items = [source.choice([self.key, self.number, self.text, self.condition])() for _ in range(source.randint(1, 4))]
        limit = self.limit()
        by = source.choice(["rid", "j desc", "j"])
        # Without an order, rows are in table order.
        ours = source.choice(["", " order by rid"]) if by == "rid" else f" order by {by}"
        return [
            f"select {listed(items, 'ours')} from t{self.where[0]}{ours}{limit}",
            f"select {listed(items, 'theirs')} from t{self.where[1]} order by {by}{limit}",
        ]

    def distinct(self):
        keys = [self.key() for _ in range(self.source.randint(1, 3))]
        ordered = self.order(len(keys))
        return [
            f"select distinct {listed(keys, side)} from t{self.where[index]}{ordered}"
            for index, side in enumerate(["ours", "theirs"])
        ]

    def of_statistics(self):
        """Aggregates that the statistics of a cluster key can answer, over some or all rows."""
        source, self.table = self.source, "few"
        column = source.choice(["rid", "j"])
        most = 30_000 if column == "rid" else 10**9
        one, other = (source.randint(-most // 10, most) for _ in range(2))
        where = source.choice(["", f" where {column} >= {one}", f" where {column} between {one} and {other} or {column} > {other}"])
        possible = ["count(*)", "min(j)", "max(j)", "max(rid)", "sum(rid)", "avg(j)", "var_pop(rid)"]
        aggregates = source.sample(possible, source.randint(0, 3))
        question = f"select {', '.join(['s', *aggregates])} from few{where} group by s{self.order(1)}"
        return [question, question]

    def order(self, keys):
        """Sorts by all keys, in random order, so that the order of the result is unique."""
        source = self.source
        places = source.sample(range(1, keys + 1), keys)
        directions = ["", " desc", " nulls first", " desc nulls first", " asc nulls last"]
        return " order by " + ", ".join(f"{place}{source.choice(directions)}" for place in places) + self.limit()

    def limit(self):
        source = self.source
        limit = f" limit {source.choice([0, 1, 5, 100])}" if source.random() < 0.3 else ""
        return limit + (f" offset {source.choice([1, 3, 50])}" if source.random() < 0.15 else "")

    def column(self, *kinds):
        return Both(self.source.choice([column for kind in kinds or KINDS for column in KINDS[kind]]))

    def constant(self, kind):
        source = self.source
        day = f"date '{source.choice([2022, 2023, 2024, 2025])}-0{source.randint(1, 9)}-1{source.randint(0, 9)}'"
        return Both(
            {
                "integer": str(source.randint(-6, 21)),
                "decimal": f"{source.randint(-900, 900)}.{source.randint(0, 99):02}",
                "float": f"{source.randint(-900, 900)}.5",
                "string": f"'{source.choice(WORDS)}'",
                "time": day,
                "bool": source.choice(["true", "false"]),
            }[kind]
        )

    def exact(self, depth=1):
        """An integer or a decimal."""
        source = self.source
        one = self.column("integer", "decimal") if source.random() < 0.7 else self.column("integer")
        if depth == 0:
            return one
        small = Both(source.choice(["i", "n", "d"]))
        return source.choice(
            [
                lambda: one,
                lambda: both("{} + {}", small, self.constant(source.choice(["integer", "decimal"]))),
                lambda: both("{} - {}", small, Both(source.choice(["i", "n", "d", "j"]))),
                lambda: both("{} * {}", small, Both(source.choice(["i", "n", "2", "-3", "0.5"]))),
                lambda: both("-{}", one),
                lambda: both("abs({})", one),
                lambda: both("{} % {}", Both(source.choice(["i", "n", "j"])), Both(source.choice(["3", "7", "n", "i"]))),
                lambda: both("{} // {}", Both(source.choice(["i", "n", "j"])), Both(source.choice(["3", "-7", "n", "i"]))),
                lambda: both(source.choice(["length", "strlen"]) + "({})", self.text(0)),
                lambda: both("sign({})", one),
                lambda: both(f"strpos({{}}, '{source.choice('aé-p')}')", self.text(0)),
                self.between_dates,
                lambda: Both(*source.choice([
                    ("cast(day as int64)", "date_diff('day', date '1970-01-01', day)"), ("ts::int64", "epoch_us(ts)")
                ])),
                lambda: both(source.choice(PARTS).join(["extract(", " from {})"]), self.column("time")),
                lambda: both(source.choice(["year", "month", "day"]) + "({})", self.column("time")),
                lambda: both(source.choice(CLOCK_PARTS).join(["extract(", " from ts)"])),
                lambda: both("extract(day from {})", self.instant()),
                lambda: both("cast({} as {})", Both("d"), Both("decimal(12,4)")),
                lambda: both("case when {} then {} when {} then {} end", self.condition(0), Both("d"), self.condition(0), Both("w")),
                lambda: both("round({}, {})", self.column("decimal"), Both(source.choice(["0", "1"]))),
                lambda: both(source.choice(["floor", "ceil"]) + "({})", self.column("decimal")),
                lambda: both("coalesce({}, {})", Both("i"), Both(source.choice(["n", "0", "7"]))),
                lambda: both("case when {} then {} else {} end", self.condition(0), Both("i"), Both(source.choice(["n", "0"]))),
                lambda: both("cast({} as {})", Both(source.choice(["i", "n", "d", "b"])), Both("int64", "bigint")),
                lambda: both("try_cast({} as {})", Both("s"), Both("int64", "bigint")),
                lambda: Both(f"bucket({small.ours}, 10)", f"floor({small.theirs} / 10) * 10"),
            ]
        )()

    def between_dates(self):
        """The number of periods that start between two dates."""
        part = self.source.choice(["year", "quarter", "month", "week", "day", "hour", "minute", "second", "microsecond"])
        one, other = self.column("time"), self.instant()
        ours = f"date_diff('{part}', {one.ours}, {other.ours})"
        if part != "week":
            return Both(ours, f"date_diff('{part}', {one.theirs}, {other.theirs})")
        first, last = (f"date_trunc('week', {instant})::date" for instant in (one.theirs, other.theirs))
        return Both(ours, f"({last} - {first}) // 7")

    def number(self):
        source = self.source
        return source.choice(
            [
                self.exact,
                self.exact,
                lambda: self.column("float"),
                lambda: both("{} / {}", Both(source.choice(["i", "n", "d", "f"])), Both(source.choice(["3", "0.7", "8"]))),
                lambda: both("sqrt(abs({}))", Both(source.choice(["i", "d", "f"]))),
                lambda: both("power({}, 2)", Both(source.choice(["i", "n", "f"]))),
                lambda: both(source.choice(["ln", "log", "log2", "log10"]) + "(abs({}) + 1)", Both(source.choice(["i", "d", "f"]))),
                lambda: both("log({}, abs({}) + 1)", Both(source.choice(["2", "3", "10", "0.5"])), Both(source.choice(["i", "d"]))),
                lambda: both("exp({})", Both(source.choice(["i", "n / 10"]))),
                lambda: both("f * {} + {}", Both(source.choice(["i", "n", "d"])), Both(source.choice(["1", "f"]))),
                lambda: both("cast({} as {})", Both(source.choice(["i", "d", "w"])), Both("float64", "double")),
            ]
        )()

    def text(self, depth=1):
        source = self.source
        one = self.column("string")
        if depth == 0:
            return one
        return source.choice(
            [
                lambda: one,
                lambda: both(source.choice(["lower", "upper", "trim"]) + "({})", one),
                lambda: both(f"substr({{}}, {source.randint(1, 4)}, {source.randint(0, 5)})", one),
                lambda: both(f"substr({{}}, {source.randint(1, 4)})", one),
                lambda: Both(f"prefix({one.ours}, 2)", f"left({one.theirs}, 2)"),
                lambda: both("replace({}, 'a', 'xyz')", one),
                lambda: both(source.choice(["trim", "ltrim", "rtrim"]) + f"({{}}, '{source.choice(['a ', 'éAb', '日0-'])}')", one),
                lambda: both(f"trim({source.choice(['leading', 'trailing', 'both'])} 'a' from {{}})", one),
                lambda: both(source.choice(["lpad", "rpad"]) + f"({{}}, {source.randint(-1, 9)}, '{source.choice(['x', 'é-', '日'])}')", one),
                lambda: both(source.choice(["left", "right"]) + f"({{}}, {source.randint(-4, 5)})", one),
                lambda: both(f"split_part({{}}, '{source.choice(['-', 'a', 'pp', ' '])}', {source.choice([-2, -1, 1, 2, 3])})", one),
                lambda: both(f"regexp_replace({{}}, '{source.choice(REGEXES)}', '{source.choice(['', '<', 'é'])}'{source.choice(OPTIONS)})", one),
                lambda: Both(*[f"regexp_replace({one.ours}, '([a-z])([a-z]*)', '\\2<\\0>\\1'{source.choice(OPTIONS)})"] * 2),
                lambda: both(f"regexp_extract({{}}, '{source.choice(REGEXES)}')", one),
                lambda: both(f"regexp_extract({{}}, '(.)-?([0-9]*)', {source.randint(0, 2)})", one),
                lambda: both(f"strftime({{}}, '{source.choice(FORMATS)}')", self.column("time")),
                lambda: both("{} || '/' || {}", one, self.column("string")),
                lambda: both("concat({}, '/', {})", one, Both(source.choice(["i", "d", "s"]))),
                lambda: both("lower(substr({}, 2)) || upper(substr({}, 1, 1))", one, one),
                lambda: both("coalesce({}, 'none')", one),
                lambda: both("cast({} as {})", Both(source.choice(["i", "d", "b", "day"])), Both("string", "varchar")),
                lambda: both("case when {} then {} end", self.condition(0), one),
            ]
        )()

    def instant(self):
        source = self.source
        interval = f"interval '{source.randint(1, 40)} {source.choice(['days', 'months', 'years'])}'"
        return source.choice(
            [
                lambda: self.column("time"),
                lambda: both(f"{{}} {source.choice('+-')} {interval}", self.column("time")),
                lambda: both("date_trunc('{}', {})", Both(source.choice(PARTS[:4])), self.column("time")),
                lambda: both("date_trunc('{}', ts)", Both(source.choice(["week", "hour", "minute"]))),
                lambda: both("coalesce({}, date '2020-02-29')", Both("day")),
                lambda: both("cast({} as date)", self.column("time")),
                lambda: both(f"ts at time zone '{source.choice(ZONES)}' at time zone '{source.choice(ZONES)}'"),
                lambda: both("to_timestamp({}) at time zone '{}'", Both(source.choice(["j", "n * 100.25"])), Both(source.choice(ZONES))),
                lambda: Both(*source.choice([
                    ("cast(j as timestamp)", "make_timestamp(j)"), ("n::date", "date '1970-01-01' + n")
                ])),
            ]
        )()

    def key(self):
        source = self.source
        return source.choice(
            [
                lambda: Both(source.choice(["i", "n", "b", "day", "s", "u", "d", "ts", "k", "w", "j"])),
                lambda: Both(source.choice(["i", "b", "s"])),
                lambda: Both(source.choice(["i", "b", "s"])),
                lambda: self.text(),
                lambda: self.instant(),
                lambda: self.exact(),
                lambda: self.condition(1),
            ]
        )()

    def condition(self, depth=1):
        source = self.source
        if depth > 0 and source.random() < 0.4:
            operator = source.choice(["and", "or"])
            joined = both(f"({{}} {operator} {{}})", self.condition(depth - 1), self.condition(depth - 1))
            return both("not {}", joined) if source.random() < 0.3 else joined
        kind = source.choice(list(KINDS))
        column = self.column(kind)
        compare = source.choice(["=", "<>", "<", "<=", ">", ">="])
        return source.choice(
            [
                lambda: both(f"{{}} {compare} {{}}", column, self.constant(kind)),
                lambda: both(f"{{}} {compare} {{}}", column, self.constant(kind)),
                lambda: both(f"{{}} {compare} {{}}", column, self.column(kind)),
                lambda: both("{} is null", column),
                lambda: both("{} is not null", column),
                lambda: both("{} between {} and {}", column, self.constant(kind), self.constant(kind)),
                lambda: both("{} not in ({}, {})", column, self.constant(kind), self.constant(kind)),
                lambda: both("{} in ({}, {})", column, self.constant(kind), self.constant(kind)),
                lambda: both(f"{{}} {source.choice(['like', 'not like', 'ilike'])} '{source.choice(PATTERNS)}'", self.column("string")),
                lambda: both(f"{source.choice(['starts_with', 'ends_with', 'contains'])}({{}}, '{source.choice('aAx-1')}')", self.column("string")),
                lambda: both(f"regexp_matches({{}}, '{source.choice(REGEXES)}')", self.column("string")),
                lambda: both(f"{{}} {compare} {{}}", self.exact(), self.exact()),
                lambda: both(f"length({{}}) {compare} 3", self.text()),
            ]
        )()

    def having(self):
        return both(f"count(*) > {self.source.randint(0, 4)}") if self.source.random() < 0.5 else both("{} is not null", both("max({})", self.exact()))

    def aggregate(self):
        source = self.source
        found = self.plain_aggregate()
        if source.random() < 0.2 and found.ours == found.theirs:
            return both("{} filter (where {})", found, self.condition(0))
        return found

    def plain_aggregate(self):
        source = self.source
        exact, any_column = self.exact(), self.column()
        simple = ["var_samp", "var_pop", "stddev_samp", "stddev_pop"]
        pairs = ["covar_samp", "covar_pop", "corr", "regr_r2", "regr_slope", "regr_intercept", "regr_count", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy"]
        return source.choice(
            [
                lambda: Both("count(*)"),
                lambda: both("count({})", any_column),
                lambda: both("count(distinct {})", source.choice([any_column, exact, self.text(), self.instant()])),
                lambda: both("sum({})", exact),
                lambda: both("sum({})", self.number()),
                lambda: both(source.choice(["min", "max"]) + "({})", source.choice([any_column, exact, self.text(), self.instant()])),
                lambda: both("avg({})", self.number()),
                lambda: Both(*(f"median({x})" for c in [source.choice("indf")] for x in [c, f"{c}::double"])),
                lambda: Both(*(
                    f"{name}({argument}, {q})"
                    for q in [source.choice([0, 0.1, 0.5, 0.9, 1])]
                    for name, argument in [("quantile", exact.ours), ("quantile_disc", exact.theirs)]
                )),
                lambda: Both(*(
                    f"{name}({argument}, {q})"
                    for q in [source.choice([0, 0.1, 0.5, 0.75, 0.9, 1])]
                    for c in [source.choice("indf")]
                    for name, argument in [(source.choice(["quantile_cont", "percentile_cont"]), c), ("quantile_cont", f"{c}::double")]
                )),
                lambda: Both(*(
                    question.format(column, q)
                    for column, q in [(source.choice(TIMES), source.choice([0, 0.25, 0.5, 1]))]
                    for question in ["percentile_cont({1}) within group (order by {0})", "quantile_cont({0}, {1})"]
                )),
                lambda: both("median({})", self.column("time")),
                lambda: both(f"quantile_disc({{}}, {source.choice([0.1, 0.5, 0.9])})", self.column("time")),
                lambda: both(source.choice(["bool_and", "bool_or"]) + "({})", self.condition(0)),
                lambda: both(source.choice(simple) + "({})", Both(source.choice(["i", "n", "d", "w", "f", "i * d"]))),
                lambda: both("sum({}) + count(*) * 2 - min({})", Both(source.choice(["i", "d"])), Both("n")),
                lambda: both("avg({}) / 3", Both("i")),
                lambda: both(source.choice(pairs) + "({}, {})", Both(source.choice(["i", "d"])), Both("n")),
                lambda: Both(f"first({any_column.ours})", f"arg_min({any_column.theirs}, rid)"),
                lambda: Both(f"last({any_column.ours})", f"arg_max({any_column.theirs}, rid)"),
                lambda: both(source.choice(["min_by", "max_by"]) + "({}, j)", any_column),
                lambda: Both(*(f"string_agg({text.ours}, '+'{order})" for text in [self.column("string")] for order in ["", " order by rid"])),
                lambda: Both(f"top({(column := self.column('integer', 'decimal')).ours}, 3)", f"nullif(array_to_string(max({column.theirs}, 3), ', '), '')"),
                lambda: Both(
                    f"mode({any_column.ours})",
                    f"list_sort(list_transform(map_entries(histogram({any_column.theirs})), lambda e: {{'n': -(e.value::bigint), 'v': e.key}}))[1].v",
                ),
            ]
        )()


PATTERNS = ["a%", "%a%", "%", "_", "A_%", "%pie", "x\\_y", "%1%", "__%-%"]
REGEXES = ["^a", "[0-9]+", "pp", "e$", "^.b", "a|b"]
OPTIONS = ["", ", 'g'", ", 'i'", ", 'gi'"]
FORMATS = ["%Y-%m-%d", "%d.%m.%y %H:%M:%S", "%-d %b %Y, %a %-I %p", "%j|%U|%W|%V|%G|%u|%w", "%A %B%%", "%f%g%n", "%c%x%X%z"]
ZONES = ["Europe/Oslo", "America/New_York", "Asia/Kolkata", "UTC", "australia/lord_howe"]


def listed(items, side):
    return ", ".join(f"{getattr(item, side)} as c{place}" for place, item in enumerate(items))
