"""Exchange of rows with every library, for every type, with and without nulls, compared with `brc cat`."""

import decimal
import subprocess
import sys

import brc
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pytest

ROWS = 2_000


def columns():
    """A column of each type: name, Arrow type, and the value of a row."""
    decimals = pa.decimal128(38, 10)
    return {
        "bool": (pa.bool_(), lambda n: n % 3 == 0),
        "int8": (pa.int8(), lambda n: n % 256 - 128),
        "int16": (pa.int16(), lambda n: n * 7 % 65536 - 32768),
        "int32": (pa.int32(), lambda n: n * 104729 - 2**31),
        "int64": (pa.int64(), lambda n: n * 10**14 - 9 * 10**17),
        "uint64": (pa.uint64(), lambda n: 2**64 - 1 - n),
        "decimal(5,2)": (pa.decimal128(5, 2), lambda n: decimal.Decimal(n % 99999).scaleb(-2)),
        "decimal(38,10)": (decimals, lambda n: decimal.Decimal(n * 10**20).scaleb(-10)),
        "float32": (pa.float32(), lambda n: n / 8),
        "float64": (pa.float64(), lambda n: n / 7),
        "date": (pa.date32(), lambda n: n - 10_000),
        "time(s)": (pa.time32("s"), lambda n: n),
        "time(ms)": (pa.time32("ms"), lambda n: n * 1000 + 1),
        "time(us)": (pa.time64("us"), lambda n: n * 10**6 + 1),
        "time(ns)": (pa.time64("ns"), lambda n: n * 10**9 + 1),
        **{f"timestamp({unit})": (pa.timestamp(unit), lambda n: n * 1001 - 10**7) for unit in ("s", "ms", "us", "ns")},
        "timestamp with zone": (pa.timestamp("us", "UTC"), lambda n: n * 10**9 + 1),
        "string": (pa.string(), lambda n: f"{'ä' * (n % 3)}{n % 100}"),
        "long string": (pa.string(), lambda n: f"a string that is longer than twelve bytes, {n}"),
        "binary": (pa.binary(), lambda n: bytes([n % 256, 255, 0])),
        "uuid": (pa.uuid(), lambda n: n.to_bytes(16, "big")),
    }


def array(data_type, value, nulls):
    values = [None if nulls == "all" or nulls == "some" and n % 5 == 1 else value(n) for n in range(ROWS)]
    if isinstance(data_type, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(data_type, pa.array(values, data_type.storage_type))
    return pa.array(values, data_type)


@pytest.fixture(scope="module", params=["none", "some", "all"])
def table(request):
    arrays = {name: array(*column, request.param) for name, column in columns().items()}
    schema = pa.schema([pa.field(name, column.type, nullable=request.param != "none") for name, column in arrays.items()])
    return pa.table(list(arrays.values()), schema=schema)


@pytest.fixture(scope="module")
def stored(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "all.buren"
    assert brc.write(table, path).rows_stored == ROWS
    return path


@pytest.fixture(scope="module")
def printed(stored):
    """The output of the program for the table."""
    command = [sys.executable, "-m", "brc", "cat", str(stored), "--to", "json"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def text(object, tmp_path):
    """The output of the program for an object of a library."""
    path = tmp_path / "again.buren"
    assert brc.write(object, path, force=True).rows_stored == ROWS
    command = [sys.executable, "-m", "brc", "cat", str(path), "--to", "json"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def same(found, wanted):
    assert found.num_columns == wanted.num_columns
    for name in wanted.column_names:
        assert found[name].to_pylist() == wanted[name].to_pylist(), name


def test_through_pyarrow(stored, table, printed, tmp_path):
    opened = brc.open(stored)
    found = opened.to_arrow()
    same(found, table)
    assert found.schema.equals(pa.schema(opened)) and found.schema.field("string").type == pa.string_view()
    assert text(found, tmp_path) == printed
    again = pa.RecordBatchReader.from_stream(opened.scan(dictionary=True)).read_all()
    assert pa.types.is_dictionary(again.schema.field("string").type)
    same(again, table)
    assert text(again, tmp_path) == printed
    plain = pa.RecordBatchReader.from_stream(opened, schema=table.schema).read_all()
    assert plain.schema.field("string").type == pa.string()
    same(plain, table)


def test_types_may_be_requested(stored, table):
    opened = brc.open(stored)
    dictionary = pa.dictionary(pa.int32(), pa.string())
    wider = {"int8": pa.int64(), "int16": pa.int32(), "string": pa.large_string(), "long string": dictionary, "binary": pa.large_binary()}
    ignored = {"int64": pa.int8(), "date": pa.int32(), "float64": pa.string()}
    own = pa.schema(opened)
    fields = [field.with_type({**wider, **ignored}.get(field.name, field.type)) for field in own]
    for source in (opened, opened.scan(where="true"), opened.query("select *")):
        found = pa.RecordBatchReader.from_stream(source, schema=pa.schema(fields)).read_all()
        for field in own:
            assert found.schema.field(field.name).type == wider.get(field.name, field.type)
        same(found, table)


def test_through_datafusion(stored, table):
    datafusion = pytest.importorskip("datafusion")
    context = datafusion.SessionContext()
    context.from_arrow(brc.open(stored).scan(columns=["string", "int64"]), name="stored")
    found = context.sql("select string, count(*) as n, max(int64) as most from stored group by string").to_pydict()
    wanted = table.group_by("string").aggregate([([], "count_all"), ("int64", "max")]).to_pydict()
    by_string = lambda columns: sorted(zip(*columns), key=repr)
    assert by_string(found.values()) == by_string(wanted.values())


def test_through_polars(stored, table, printed, tmp_path):
    # Polars supports neither UUIDs nor second timestamps, and times only in nanoseconds.
    odd = {"uuid", "time(s)", "time(ms)", "time(us)", "timestamp(s)"}
    names = [name for name in table.column_names if name not in odd]
    frame = brc.open(stored).scan(columns=names).to_polars()
    assert frame.height == ROWS
    for name in names:
        assert frame[name].to_list() == pl.from_arrow(table[name]).to_list(), name
    path = tmp_path / "named.buren"
    brc.write(brc.open(stored).scan(columns=names), path)
    assert text(frame, tmp_path) == text(brc.open(path), tmp_path)


def test_through_duckdb(stored, table):
    opened = brc.open(stored)
    names = [name for name in table.column_names if not name.startswith(("uuid", "time("))]
    chosen = ", ".join(f'"{name}"' for name in names)
    found = duckdb.sql(f"select {chosen} from opened").to_arrow_table()
    wanted = table.select(names)
    for name in names:
        assert found[name].cast(wanted[name].type).to_pylist() == wanted[name].to_pylist(), name
    assert duckdb.sql("select count(*), count(string) from opened").fetchall() == [(ROWS, ROWS - table["string"].null_count)]
    result = opened.query("select bool, count(*) as n group by bool")
    assert sum(n for _, n in duckdb.sql("select * from result").fetchall()) == ROWS


def test_through_pandas(stored, table, printed, tmp_path):
    opened = brc.open(stored)
    frame = opened.scan(columns=["int64", "float64", "string", "timestamp(us)"]).to_pandas()
    assert isinstance(frame, pd.DataFrame) and len(frame) == ROWS
    wanted = table["string"].to_pylist()
    assert [None if pd.isna(value) else value for value in frame["string"]] == wanted
    assert [None if pd.isna(value) else int(value) for value in frame["int64"]] == table["int64"].to_pylist() or (
        table["int64"].null_count
    )
    whole = opened.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)
    assert text(whole, tmp_path) == printed


def test_projections_conditions_and_limits(numbers):
    table = brc.open(numbers)
    assert table.scan(columns=["s", "n"]).columns == ["s", "n"]
    found = table.scan(columns=["n"], where="n % 1000 = 7 and s = 's7'").to_arrow()
    assert found["n"].to_pylist() == list(range(7, 1_000_000, 1000))
    for limit in (0, 1, 70_000, 999_999, 2_000_000):
        rows = table.scan(columns=["n"], limit=limit).to_arrow()["n"].to_pylist()
        assert rows == list(range(min(limit, 1_000_000)))
    limited = table.scan(where="n >= 500000", limit=5).to_arrow()
    assert limited["n"].to_pylist() == list(range(500_000, 500_005))
    batches = list(table.scan(columns=["n"], batch_size=1000))
    assert max(map(len, batches)) == 1000 and sum(map(len, batches)) == 1_000_000
    assert pa.table(batches[0])["n"][0].as_py() == 0
    for wrong in ({"columns": ["x"]}, {"where": "x > 1"}, {"where": "n +"}, {"columns": []}):
        with pytest.raises(brc.UsageError):
            table.scan(**wrong)


def test_pandas_is_not_imported_needlessly(numbers):
    code = "import sys, brc; brc.open(sys.argv[1]).to_arrow(); print('pandas' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code, numbers], stdout=subprocess.PIPE, check=True)
    assert ran.stdout == b"False\n"


def test_each_stream_is_a_new_scan(numbers):
    scan = brc.open(numbers).scan(columns=["n"])
    for _ in range(3):
        assert pa.table(scan).num_rows == 1_000_000
    assert duckdb.sql("select count(*) from scan as a join scan as b using (n) where n < 10").fetchall() == [(10,)]
    lazy = brc.open(numbers).query("select n, s where n < 10")
    assert [pa.table(lazy).num_rows for _ in range(2)] == [10, 10]


def test_strings_that_are_not_utf8_are_reported(tmp_path):
    path = tmp_path / "bytes.csv"
    path.write_bytes(b"a,b\nx,\xff\n")
    table = brc.open(path, charset="raw")
    with pytest.raises(brc.UnsupportedError) as raised:
        table.to_arrow()
    assert str(raised.value) == f"{path}: row 1, column 'b': arrow cannot hold '\\xff', which is not UTF-8"
    with pytest.raises(brc.UnsupportedError, match="row 1, column 'b'"):
        table.query("select max(b)").to_arrow()
    assert table.scan(columns=["a"]).to_arrow()["a"].to_pylist() == ["x"]
    assert table.head().rows() == [("x", b"\xff")]
