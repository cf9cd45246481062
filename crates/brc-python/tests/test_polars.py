"""Polars lazy frames give the same rows, whatever is pushed down."""

import datetime
import decimal

import brc
import brc._polars
import polars as pl
import pytest
from polars.testing import assert_frame_equal

COLUMN = pl.col
ROWS = 5000
DAY = datetime.date(2024, 1, 1)


@pytest.fixture(scope="module")
def frame():
    nan = float("nan")
    return pl.DataFrame(
        {
            "n": [None if n % 11 == 3 else n - 50 for n in range(ROWS)],
            "s": [None if n % 7 == 2 else f"it's {n % 13}" for n in range(ROWS)],
            "f": [nan if n % 17 == 4 else None if n % 19 == 1 else n / 10 for n in range(ROWS)],
            "d": [DAY + datetime.timedelta(days=n % 400) for n in range(ROWS)],
            "t": [datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=n * 97, microseconds=n) for n in range(ROWS)],
            "b": [None if n % 5 == 0 else n % 3 == 0 for n in range(ROWS)],
            "m": [decimal.Decimal(n).scaleb(-2) for n in range(ROWS)],
            'odd "name"': range(ROWS),
        }
    )


@pytest.fixture(scope="module")
def path(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("polars") / "frame.buren"
    brc.write(frame, path)
    return path


# A condition, and whether all of it is pushed down to brc.
CONDITIONS = [
    (COLUMN("n") > 100, True),
    (100 >= COLUMN("n"), True),
    (COLUMN("n") != 7, True),
    ((COLUMN("n") > 100) & (COLUMN("n") < 200) & (COLUMN("s") == "it's 4"), True),
    ((COLUMN("n") < 0) | (COLUMN("n") > 4900), True),
    (~(COLUMN("n") > 100), True),
    (COLUMN("n").is_null(), True),
    (COLUMN("n").is_not_null() & COLUMN("b"), True),
    (COLUMN("b"), True),
    (~COLUMN("b"), True),
    (COLUMN("s").is_in(["it's 1", "it's 2"]), True),
    (COLUMN("n").is_in([1, 2, 3]), True),
    (COLUMN("n").is_between(5, 9), True),
    (COLUMN("n").is_between(5, 9, closed="left"), True),
    (COLUMN("n").is_between(5, 9, closed="none"), True),
    (COLUMN("f").is_between(5.0, 9.0), False),
    (COLUMN("s").str.starts_with("it's 1"), True),
    (COLUMN("s").str.ends_with("2"), True),
    (COLUMN("s").str.contains("s 1", literal=True), True),
    (COLUMN("d") >= datetime.date(2024, 12, 30), True),
    (COLUMN("t") < datetime.datetime(2024, 1, 1, 5, 0, 0, 1), True),
    (COLUMN("m") > decimal.Decimal("49.5"), True),
    (COLUMN("f") <= 0.3, True),
    (COLUMN("f") < 12.5, True),
    (COLUMN('odd "name"') == 5, True),
    (COLUMN("f") > 490.0, False),
    (COLUMN("f") == 0.3, False),
    (COLUMN("f").is_nan(), False),
    (COLUMN("s").str.len_chars() > 6, False),
    (COLUMN("n") > COLUMN('odd "name"') - 51, False),
    ((COLUMN("n") > 4000) & (COLUMN("s").str.contains("1$")), False),
    (COLUMN("n").is_in([1, None], nulls_equal=True), False),
]


@pytest.mark.parametrize(("condition", "is_whole"), CONDITIONS, ids=[str(condition) for condition, _ in CONDITIONS])
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_conditions(frame, path, condition, is_whole, engine):
    lazy = brc.scan_polars(path).filter(condition)
    wanted = frame.filter(condition)
    assert_frame_equal(lazy.collect(engine=engine), wanted)
    assert_frame_equal(lazy.select("d", "n").collect(engine=engine), wanted.select("d", "n"))
    assert lazy.select(pl.len()).collect(engine=engine).item() == wanted.height
    where, rest = brc._polars._divide(condition, brc.open(path).schema)
    assert (rest is None) == is_whole
    if is_whole:
        found = brc.open(path).scan(where=where).to_polars()
        assert_frame_equal(found, wanted)


def test_limits_apply_in_order(frame, path):
    lazy = brc.scan_polars(path)
    condition = COLUMN("n") > 100
    for engine in ("in-memory", "streaming"):
        assert_frame_equal(lazy.filter(condition).head(5).collect(engine=engine), frame.filter(condition).head(5))
        assert_frame_equal(lazy.head(200).filter(condition).collect(engine=engine), frame.head(200).filter(condition))
        assert_frame_equal(lazy.head(3).collect(engine=engine), frame.head(3))
        assert_frame_equal(lazy.tail(3).collect(engine=engine), frame.tail(3))


def test_only_what_is_needed_is_read(path, monkeypatch):
    requests = []

    class Spy:
        def __init__(self, table):
            self.table, self.schema = table, table.schema

        def scan(self, **arguments):
            requests.append(arguments)
            return self.table.scan(**arguments)

    table = brc.open(path)
    monkeypatch.setattr(brc._polars._brc, "open", lambda *_, **__: Spy(table))
    brc.scan_polars(path).filter(COLUMN("n") > 100).select("d").collect()
    assert requests[-1]["columns"] == ["n", "d"] and requests[-1]["where"] == '"n" > 100'
    brc.scan_polars(path).head(5).collect()
    assert requests[-1]["limit"] == 5


def test_groups_and_texts(frame, path):
    lazy = brc.scan_polars(path).group_by("s").agg(pl.len(), COLUMN("n").sum()).sort("s")
    assert_frame_equal(lazy.collect(), frame.group_by("s").agg(pl.len(), COLUMN("n").sum()).sort("s"))
    text = brc.scan_polars(b"a;b\n1;2\n", delimiter=";")
    assert text.select("b").collect().rows() == [(2,)]
    assert brc.scan_polars(brc.open(path)).collect_schema() == frame.schema


def test_nanoseconds_are_compared_exactly():
    at = 1_704_067_200_000_000_000
    rows = b"t\n2024-01-01 00:00:00.000000001\n2024-01-01 00:00:00\n"
    literal = pl.lit(at + 1, dtype=pl.Datetime("ns"))
    for condition in (COLUMN("t") == literal, COLUMN("t") >= literal):
        found = brc.scan_polars(rows).filter(condition).collect()
        assert found["t"].cast(pl.Int64).to_list() == [at + 1], condition
