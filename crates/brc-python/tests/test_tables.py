"""Opening, showing and querying tables."""

import bz2
import datetime
import decimal
import gzip
import io
import lzma
import multiprocessing
import pathlib
import pickle
import subprocess
import sys

import brc
import pytest
from conftest import RIDES

TYPES = {
    "ride": "int64",
    "started": "timestamp(s)",
    "station": "string",
    "minutes": "int64",
    "member": "bool",
    "fare": "decimal(18,2)",
}


def test_a_table_describes_itself(rides):
    table = brc.open(rides)
    assert table.schema == TYPES
    assert table.columns == list(TYPES)
    assert table.num_rows == len(table) == 6
    shown = repr(table)
    assert "rides.csv: 6 rows × 6 columns" in shown and "Harbour" in shown and "1005" in shown and "1006" not in shown
    assert bool(brc.open(b"a\n")) is True


@pytest.mark.parametrize(
    "source",
    [
        lambda path: str(path),
        lambda path: path,
        lambda path: [path],
        lambda path: (str(path),),
        lambda path: str(path.parent / "*.csv"),
        lambda path: path.parent,
        lambda path: path.read_bytes(),
        lambda path: bytearray(path.read_bytes()),
        lambda path: memoryview(path.read_bytes()),
        lambda path: open(path, "rb"),
        lambda path: open(path),
        lambda path: io.BytesIO(path.read_bytes()),
        lambda path: io.StringIO(path.read_text()),
    ],
)
def test_every_kind_of_source_is_opened(rides, source):
    table = brc.open(source(rides))
    assert table.schema == TYPES
    assert table.query("select sum(minutes), count(*)").rows() == [(decimal.Decimal(131), 6)]
    assert brc.sniff(source(rides)).schema == TYPES


def test_other_objects_are_refused(rides):
    for wrong in (5, None, {"a": 1}, [rides, 5]):
        with pytest.raises(TypeError):
            brc.open(wrong)
    with pytest.raises(FileNotFoundError) as raised:
        brc.open("nowhere.csv")
    assert raised.value.filename == "nowhere.csv"
    with pytest.raises(brc.UsageError, match="does not read ftp:// addresses"):
        brc.open("ftp://example.org/a.parquet")
    with pytest.raises(brc.UsageError, match="no file matches"):
        brc.open("nothing-*.csv")
    with pytest.raises(brc.UsageError, match="the list of paths is empty"):
        brc.open([])
    for empty in ("", [""]):
        with pytest.raises(brc.UsageError, match="the path is empty"):
            brc.open(empty)
    with pytest.raises(TypeError, match="read returned int"):
        brc.open(Reading(5))


class Reading:
    """A file whose `read` returns the given values in turn."""

    def __init__(self, *values):
        self.values = [*values]

    def read(self, size):
        return self.values.pop(0) if self.values else b""


def test_files_may_return_any_bytes_type():
    assert brc.open(Reading(b"a\n", bytearray(b"1\n"), memoryview(b"2\n"))).head().rows() == [(1,), (2,)]


def test_files_that_python_decompresses_are_not_decompressed_again(tmp_path):
    for extension, module in (("gz", gzip), ("bz2", bz2), ("xz", lzma)):
        path = tmp_path / f"a.csv.{extension}"
        path.write_bytes(module.compress(b"a\n1\n"))
        for file in (module.open(path), io.BufferedReader(module.open(path)), module.open(path, "rt"), open(path, "rb")):
            assert brc.open(file).head().rows() == [(1,)]
            file.seek(0)
            assert brc.sniff(file).schema == {"a": "int64"}


def test_a_dash_is_standard_input(rides):
    code = "import brc; print(brc.open('-').query('select sum(minutes), count(*)').rows())"
    ran = subprocess.run([sys.executable, "-c", code], input=rides.read_bytes(), stdout=subprocess.PIPE, check=True)
    assert ran.stdout == b"[(Decimal('131'), 6)]\n"


def test_the_repr_is_limited_in_width():
    long = "x" * 100_000
    shown = repr(brc.open(f"a,b\n{long},1\n".encode()))
    assert max(map(len, shown.splitlines())) <= 120 and "…" in shown and "\x1b" not in shown
    names = [f"column_{n}" for n in range(500)]
    wide = brc.open("\n".join([",".join(names)] + [",".join("1" * 500)] * 20).encode())
    for shown in (repr(wide), repr(wide.query("select *")), repr(wide.head(3))):
        assert max(map(len, shown.splitlines())) <= 120 and "more columns" in shown
    answer = repr(wide.query("select *")).splitlines()
    assert [line.strip() for line in answer].count("…") == 1 and len(answer) == 2 + 10 + 1 + 1


def test_numbers_of_rows_are_checked(rides):
    table = brc.open(rides)
    for wrong in ({"limit": -1}, {"batch_size": 0}, {"batch_size": -1}):
        with pytest.raises(brc.UsageError, match=next(iter(wrong))):
            table.scan(**wrong)
    with pytest.raises(brc.UsageError, match="rows: -1 is less than 0"):
        table.head(-1)
    with pytest.raises(brc.UsageError, match="limit"):
        table.query(by="station", limit=-1)
    assert table.head(0).rows() == [] and table.query(by="station", agg="count(*)", limit=0).rows() == []
    with pytest.raises(TypeError, match="a list of names"):
        table.scan(columns="ride")
    assert table.scan(columns=(name for name in ("ride", "fare"))).columns == ["ride", "fare"]
    assert table.scan(columns={"ride": 1}).columns == ["ride"]


def test_hints_of_the_command_line_are_left_out(rides):
    with pytest.raises(brc.UsageError) as raised:
        brc.open(rides, json=True)
    assert str(raised.value) == "unexpected argument '--json' found"


def test_long_results_are_counted_without_being_loaded(numbers):
    assert len(brc.open(numbers).query("select n, s order by f desc")) == 1_000_000


def test_options_are_those_of_the_program():
    text = b"# note\nx;y\n1;'a;b'\nNA;c\n"
    table = brc.open(text, delimiter=";", quote="'", comment="#", null=["NA"], types={"x": "int32"})
    assert table.schema == {"x": "int32", "y": "string"}
    assert table.head().rows() == [(1, "a;b"), (None, "c")]
    plain = brc.open(b"1,2\n3,4\n", header=False, names=["a b", "c"], schema=None, all_strings=True)
    assert plain.head().rows() == [("1", "2"), ("3", "4")] and plain.columns == ["a b", "c"]
    assert brc.open(b"a\n'x'\n", quote=False, header=True).head().rows() == [("'x'",)]
    assert brc.open(b"1|2\n", delimiter="|", schema={"a": "int8", "b": "string not null"}).head().rows() == [(1, "2")]
    assert brc.open(b"d\n31/12/2024\n", date_format={"d": "%d/%m/%Y"}).head().rows() == [(datetime.date(2024, 12, 31),)]
    with pytest.raises(brc.UsageError, match="--delimitr"):
        brc.open(text, delimitr=";")
    with pytest.raises(brc.UsageError):
        brc.open(text, delimiter="ab")


def test_queries_in_sql_and_in_parts(rides):
    table = brc.open(rides)
    by_station = table.query("select station, count(*) as rides, avg(minutes) group by station order by rides desc limit 2")
    assert by_station.columns == ["station", "rides", "avg(minutes)"]
    assert by_station.rows() == [("Central", 3, 13.0), ("Harbour", 1, 35.0)]
    parts = table.query(by="station", agg=["count(*)", "sum(fare)"], where="not member", order_by="sum(fare) desc")
    assert list(parts)[0] == ("Harbour, North", 1, decimal.Decimal("6.75")) and len(parts) == 3
    assert table.query(by="", agg="count(*)").rows() == [(6,)]
    rows = table.query("select ride, minutes where minutes > 20")
    assert (len(rows), rows.num_rows, rows.rows()) == (2, 2, [(1002, 35), (1006, 52)])
    assert "1006" in repr(rows) and "Harbour" in repr(by_station)
    with pytest.raises(brc.UsageError):
        table.query("select nothing")
    with pytest.raises(brc.UsageError):
        table.query("select ride", by="station")
    with pytest.raises(brc.UsageError):
        table.query("selct")
    assert brc.query(rides, "select max(ride)").rows() == [(1006,)]


def test_values_are_pythons_own():
    table = brc.open(
        b"b,d,t,s,z,f,u,n\n"
        b"true,2024-02-29,12:30:01.5,2024-01-01 00:00:00.25,2024-01-01T01:00:00+01:00,1.5e10,"
        b"6f1f2c50-7d5c-4a53-9f0c-2a4ad7d9a4e1,\n",
    )
    utc = datetime.timezone.utc
    (row,) = table.head().rows()
    assert row[:6] == (
        True,
        datetime.date(2024, 2, 29),
        datetime.time(12, 30, 1, 500_000),
        datetime.datetime(2024, 1, 1, 0, 0, 0, 250_000),
        datetime.datetime(2024, 1, 1, tzinfo=utc),
        1.5e10,
    )
    assert str(row[6]) == "6f1f2c50-7d5c-4a53-9f0c-2a4ad7d9a4e1" and row[7] is None
    late = brc.open(b"t\n2024-01-01 00:00:00.123456789\n").head().rows()
    assert late == [("2024-01-01 00:00:00.123456789",)]


def test_the_repr_shows_that_there_are_more_rows(numbers):
    table = brc.open(numbers)
    assert "…" in repr(table.query("select n")) and repr(table.query("select n")).count("\n") < 16
    assert "…" not in repr(table.query("select n limit 10"))
    assert "…" in repr(table.query("select n, count(*) group by n"))
    assert len(table.query("select n, count(*) group by n")) == 1_000_000


def test_files_are_verified_and_described(rides, tmp_path):
    target = tmp_path / "rides.buren"
    brc.convert(rides, target)
    table = brc.open(target)
    assert table.verify() == {"files": 1, "rows": 6, "bytes": target.stat().st_size}
    facts = table.inspect()
    assert facts["encoding"] == "buren" and facts["rows"] == 6 and len(facts["columns"]) == 6
    assert [one["rows"] for one in brc.open([target, target]).inspect()] == [6, 6]
    with pytest.raises(TypeError):
        brc.open(target.read_bytes()).verify()
    content = bytearray(target.read_bytes())
    content[len(content) // 2] ^= 1
    target.write_bytes(content)
    with pytest.raises(brc.CorruptFileError):
        brc.open(target).verify()


def test_several_files_are_one_table(tmp_path):
    for name, value in (("a", 1), ("b", 2)):
        (tmp_path / f"{name}.csv").write_text(f"x\n{value}\n")
    table = brc.open(tmp_path / "*.csv", file_name="file")
    assert [(n, pathlib.Path(file).name) for n, file in table.head().rows()] == [(1, "a.csv"), (2, "b.csv")]


def rows_of(table):
    return table.num_rows, table.schema


def test_tables_are_pickled(rides, monkeypatch):
    monkeypatch.chdir(rides.parent)
    table = brc.open("rides.csv", types={"ride": "string"})
    monkeypatch.chdir("/")
    again = pickle.loads(pickle.dumps(table))
    assert again.schema["ride"] == "string" and again.num_rows == 6
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(rows_of, [table]) == [(6, again.schema)]
    with pytest.raises(TypeError):
        pickle.dumps(brc.open(RIDES.encode()))


def test_bad_rows_have_a_position(rides):
    with rides.open("a") as file:
        file.write("1007,2024-05-02 11:00:00,Museum\n")
    with pytest.raises(brc.BadRowError) as raised:
        brc.open(rides).query("select sum(fare)")
    error = raised.value
    assert isinstance(error, brc.Error)
    assert (error.path, error.line, error.byte, error.column) == (str(rides), 8, len(RIDES), None)
    assert error.reason == "3 columns instead of 6" and "--ragged pad" in error.hints[0]
    assert str(error) == f"{rides}: line 8, byte {len(RIDES)}: 3 columns instead of 6"
    for read in ("to_arrow", "to_polars", "to_pandas"):
        with pytest.raises(brc.BadRowError):
            getattr(brc.open(rides), read)()


def test_sniffing_gives_evidence(rides):
    sniffed = brc.sniff(rides)
    assert (sniffed.encoding, sniffed.compression) == ("csv", "none")
    assert sniffed.dialect["delimiter"] == "','" and "7 of 7" in sniffed.evidence["delimiter"]
    assert sniffed.schema == TYPES and "delimiter" in repr(sniffed)


def test_oddities_of_a_file_are_warnings(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a\n1\n") + b"garbage")
    with pytest.warns(UserWarning, match="ignored"):
        assert brc.open(path).query("select sum(a), count(*)").rows() == [(decimal.Decimal(1), 1)]


def test_many_files_may_be_open(tmp_path):
    """More files than the default limit of a process."""
    for number in range(1100):
        (tmp_path / f"{number:04}.csv").write_text(f"n\n{number}\n")
    assert brc.open(tmp_path, schema="n:int64").query("select sum(n), count(*)").rows() == [(decimal.Decimal(604_450), 1100)]
