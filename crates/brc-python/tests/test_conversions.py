"""Conversions of files and streams to files."""

import io

import brc
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest


def test_a_conversion_accounts_for_every_row(rides, tmp_path):
    with rides.open("a") as file:
        file.write("1007,2024-05-02 11:00:00,Museum\n1008,2024-05-02 11:30:00,Museum,1e1,true,1.5\n")
    with pytest.raises(brc.BadRowError):
        brc.convert(rides, tmp_path / "rides.parquet")
    assert not (tmp_path / "rides.parquet").exists()
    rejects = tmp_path / "rejects.tsv"
    seen = []
    ledger = brc.convert(
        rides, tmp_path / "rides.parquet", compression="zstd", rejects=rejects, progress=lambda *so_far: seen.append(so_far)
    )
    assert (ledger.rows_read, ledger.rows_stored, ledger.rows_rejected) == (8, 7, 1)
    assert ledger.reasons == [(None, "3 columns instead of 6", 1, 8)]
    assert ledger.altered == {"minutes": 1}
    assert ledger.bytes_in == rides.stat().st_size and ledger.bytes_out == (tmp_path / "rides.parquet").stat().st_size
    assert any("rejected 1 row" in note for note in ledger.notes) and "rows_stored=7" in repr(ledger)
    assert "Museum" in rejects.read_text() and seen[-1][0] == 8
    assert brc.open(tmp_path / "rides.parquet").num_rows == 7
    with pytest.raises(brc.UsageError):
        brc.convert(rides, tmp_path / "rides.parquet", rejects=rejects)
    brc.convert(rides, tmp_path / "rides.parquet", rejects=rejects, force=True)


def test_bytes_tables_and_streams_are_converted(rides, tmp_path):
    expected = brc.open(rides).query("select *").rows()
    sources = {
        "bytes": rides.read_bytes(),
        "file": io.BytesIO(rides.read_bytes()),
        "table": brc.open(rides),
        "table of bytes": brc.open(rides.read_bytes()),
        "scan": brc.open(rides).scan(),
        "result": brc.open(rides).query("select *"),
        "arrow": brc.open(rides).to_arrow(),
        "polars": brc.open(rides).to_polars(),
        "pandas": brc.open(rides).to_pandas().astype({"minutes": "Int64"}),
    }
    for name, source in sources.items():
        target = tmp_path / f"{name}.buren"
        assert brc.convert(source, target).rows_stored == 6, name
        assert brc.open(target).query("select *").rows() == expected, name
    with pytest.raises(brc.UsageError):
        brc.convert(rides, tmp_path / "out.unknown")
    with pytest.raises(brc.UsageError):
        brc.convert(rides, tmp_path / "out", partition_by=["station"])
    with pytest.raises(brc.BadRowError):
        brc.convert(b"a,b\n1,2\n3\n", tmp_path / "bad.buren")
    brc.convert(b"a,b\n1,2\n3\n", tmp_path / "good.buren", rejects=tmp_path / "bad.tsv", delimiter=",")


def test_options_of_an_open_table_are_kept(tmp_path):
    table = brc.open(b"a;b\n1;2\n", delimiter=";")
    (tmp_path / "in.csv").write_text("a;b\n1;2\n")
    named = brc.open(tmp_path / "in.csv", delimiter=";", types={"b": "string"})
    for number, source in enumerate((table, named)):
        brc.convert(source, tmp_path / f"{number}.arrow")
    assert brc.open(tmp_path / "1.arrow").schema == {"a": "int64", "b": "string"}


def test_anything_with_a_stream_is_written(tmp_path):
    frame = pl.DataFrame({"s": ["a", None, "b"] * 1000, "n": range(3000)})
    chunked = pa.chunked_array([[1, 2], [], [3]])
    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int32()}), iter([pa.record_batch({"x": pa.array([7], pa.int32())})]))
    for name, object, rows in [
        ("polars", frame, 3000),
        ("arrow", frame.to_arrow(), 3000),
        ("reader", reader, 1),
        ("empty", pa.table({"x": pa.array([], pa.int64())}), 0),
        ("pandas", pd.DataFrame({"x": [1, 2], "y": ["a", None]}), 2),
        ("batch", pa.record_batch({"x": [1, 2]}), 2),
    ]:
        target = tmp_path / f"{name}.buren"
        assert brc.write(object, target).rows_stored == rows, name
        assert brc.open(target).num_rows == rows
    with pytest.raises((brc.Error, TypeError)):
        brc.write(chunked, tmp_path / "chunked.buren")
    with pytest.raises(TypeError):
        brc.write(5, tmp_path / "five.buren")
    nested = pa.table({"n": [1], "l": [[1, 2]]})
    with pytest.raises(brc.UnsupportedError, match="'l' is a list"):
        brc.write(nested, tmp_path / "nested.buren")


def test_errors_of_a_stream_reach_the_caller(tmp_path):
    def batches():
        yield pa.record_batch({"x": [1]})
        raise ValueError("no luck")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int64()}), batches())
    with pytest.raises(brc.Error, match="no luck"):
        brc.write(reader, tmp_path / "x.buren")
    assert not (tmp_path / "x.buren").exists()


def test_progress_may_end_a_conversion(tmp_path):
    def batches():
        for _ in range(200):
            yield pa.record_batch({"x": range(100_000)})

    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int64()}), batches())

    def enough(rows, bytes):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        brc.write(reader, tmp_path / "x.buren", progress=enough)
    assert not (tmp_path / "x.buren").exists()
    assert brc.write(pa.table({"x": [1]}), tmp_path / "x.buren").rows_stored == 1
