#!/usr/bin/env python3
"""Checks that other programs read the parquet and arrow files of `brc`, and `brc` theirs.

    cargo build --release
    python3 -m venv /tmp/interop && /tmp/interop/bin/pip install pyarrow duckdb polars datafusion
    /tmp/interop/bin/python scripts/check-interop.py target/release/brc

It makes a small table, converts it, and compares rows and types; then a table of every type, with nulls. A program that
is not installed is left out, and said.
"""

import importlib.util
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

SCHEMA = "station:string,temperature:decimal(1),visits:int"
ROWS = [
    (["Abha", "São Paulo", "İzmir", "a name of more than twelve bytes"][row * row % 4], Decimal(row % 1999 - 999) / 10, row**3)
    for row in range(5000)
]
COMPRESSIONS = {"parquet": ["none", "snappy", "lz4", "gzip", "zstd"], "arrow": ["none", "lz4", "zstd"]}


def arrow_table(path):
    import pyarrow.ipc
    import pyarrow.parquet

    if path.suffix == ".arrow":
        return pyarrow.ipc.open_file(path).read_all()
    return pyarrow.parquet.read_table(path, page_checksum_verification=True)


def rows_of_arrow(table):
    table.validate(full=True)
    return list(zip(*(column.to_pylist() for column in table.columns)))


def pyarrow_reads(path):
    table = arrow_table(path)
    types = [str(kind) for kind in table.schema.types]
    strings = "dictionary<values=string, indices=int32, ordered=0>" if path.suffix == ".arrow" else "string"
    decimals = "decimal64(18, 1)" if path.suffix == ".arrow" else "decimal128(18, 1)"
    assert types == [strings, decimals, "int64"], types
    return rows_of_arrow(table)


def duckdb_reads(path):
    import duckdb

    # DuckDB reads arrow files by way of pyarrow, and takes dictionaries for enums there.
    table = duckdb.from_arrow(arrow_table(path)) if path.suffix == ".arrow" else duckdb.read_parquet(str(path))
    types = [str(kind) for kind in table.types]
    assert types[0].startswith(("VARCHAR", "ENUM")) and types[1:] == ["DECIMAL(18,1)", "BIGINT"], types
    return table.fetchall()


def polars_reads(path):
    import polars

    frame = polars.read_ipc(path) if path.suffix == ".arrow" else polars.read_parquet(path)
    expected = [polars.Categorical if path.suffix == ".arrow" else polars.String, polars.Decimal, polars.Int64]
    assert [kind.base_type() for kind in frame.dtypes] == expected, frame.dtypes
    assert frame.dtypes[1].scale == 1, frame.dtypes
    return frame.rows()


def datafusion_reads(path):
    import datafusion

    context = datafusion.SessionContext()
    frame = context.read_arrow(str(path)) if path.suffix == ".arrow" else context.read_parquet(str(path))
    batches = frame.collect()
    assert "18, 1" in str(batches[0].schema.types[1]), batches[0].schema
    return [row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns))]


READERS = {"pyarrow": pyarrow_reads, "duckdb": duckdb_reads, "polars": polars_reads, "datafusion": datafusion_reads}


def written_by_others(directory):
    """Files of other programs with the same rows."""
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet

    names, tenths, visits = zip(*ROWS)
    table = pyarrow.table({
        "station": names,
        "temperature": pyarrow.array(tenths, pyarrow.decimal128(5, 1)),
        "visits": visits,
    })
    for compression in ("none", "snappy", "lz4", "gzip", "zstd"):
        path = directory / f"pyarrow-{compression}.parquet"
        pyarrow.parquet.write_table(table, path, compression=compression)
        yield path
    for compression in (None, "lz4", "zstd"):
        path = directory / f"pyarrow-{compression}.arrow"
        options = pyarrow.ipc.IpcWriteOptions(compression=compression)
        with pyarrow.ipc.new_file(path, table.schema, options=options) as writer:
            writer.write_table(table)
        yield path
    if importlib.util.find_spec("duckdb"):
        import duckdb

        for version in ("v1", "v2"):
            path = directory / f"duckdb-{version}.parquet"
            duckdb.from_arrow(table).query("t", f"COPY t TO '{path}' (FORMAT parquet, PARQUET_VERSION {version})")
            yield path
    if importlib.util.find_spec("polars"):
        import polars

        for compression in ("uncompressed", "snappy", "zstd"):
            path = directory / f"polars-{compression}.parquet"
            polars.from_arrow(table).write_parquet(path, compression=compression)
            yield path
        path = directory / "polars.arrow"
        polars.from_arrow(table).write_ipc(path)
        yield path


def typed_table():
    """A table of every type that there is on both sides, with nulls."""
    import pyarrow as pa
    from datetime import date, datetime, time, timedelta, timezone

    rows = range(5000)
    day = datetime(1999, 12, 31, 23, 59, 50)
    moments = [day + timedelta(seconds=row * 1001) for row in rows]
    clocks = [time(row % 24, row % 60, row * 7 % 60) for row in rows]
    columns = {
        "bool": ([row % 3 == 0 for row in rows], pa.bool_()),
        "float": ([[0.0, -0.0, 1.5, 1e300, float("inf"), -float("inf")][row % 6] + row % 7 for row in rows], pa.float64()),
        "uint64": ([2**64 - 1 - row for row in rows], pa.uint64()),
        "date": ([date(1969, 1, 1) + timedelta(days=row) for row in rows], pa.date32()),
        "text": ([ROWS[row][0] for row in rows], pa.string()),
        "long text": ([f"{row * row} is the square of {row}" for row in rows], pa.string()),
        "bytes": ([bytes([row % 256, 255, 0]) * (row % 4) for row in rows], pa.binary()),
    }
    for bits in (8, 16, 32, 64):
        most = (1 << bits - 1) - 1
        values = [most - row % 100 if row % 2 else row % 100 - most - 1 for row in rows]
        columns[f"int{bits}"] = (values, getattr(pa, f"int{bits}")())
    for precision, scale in ((5, 2), (18, 1), (38, 10)):
        values = [Decimal(f"{(10**precision - 1) // (row + 1) * (-1) ** row}e-{scale}") for row in rows]
        columns[f"decimal{precision}"] = (values, pa.decimal128(precision, scale))
    for unit in ("s", "ms", "us", "ns"):
        columns[f"time {unit}"] = (clocks, pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit))
        columns[f"timestamp {unit}"] = (moments, pa.timestamp(unit))
        instants = [moment.replace(tzinfo=timezone.utc) for moment in moments]
        columns[f"instant {unit}"] = (instants, pa.timestamp(unit, "UTC"))
    gaps = enumerate(columns.items())
    return pa.table({
        name: pa.array([None if (row + index) % 5 == 0 else value for row, value in enumerate(values)], kind)
        for index, (name, (values, kind)) in gaps
    })


def typed_readers():
    """What reads a file into a table of pyarrow."""
    readers = {"pyarrow": arrow_table}
    if importlib.util.find_spec("duckdb"):
        import duckdb

        def duckdb_table(path):
            found = arrow_table(path) if path.suffix == ".arrow" else None
            table = duckdb.from_arrow(found) if found is not None else duckdb.read_parquet(str(path))
            return table.to_arrow_table()

        readers["duckdb"] = duckdb_table
    if importlib.util.find_spec("polars"):
        import polars

        def polars_table(path):
            return (polars.read_ipc(path) if path.suffix == ".arrow" else polars.read_parquet(path)).to_arrow()

        readers["polars"] = polars_table
    return readers


def assert_same(found, expected):
    """Sees to it that tables have the same values, whatever of several types each column has."""
    assert found.column_names == expected.column_names, found.column_names
    for name in expected.column_names:
        column = found[name].cast(expected[name].type).to_pylist()
        differences = [pair for pair in zip(column, expected[name].to_pylist()) if pair[0] != pair[1]]
        assert len(column) == len(expected) and not differences, f"column '{name}': {differences[:3]}"


def check_types(directory, convert, check):
    """Every type, in both directions."""
    import pyarrow.ipc
    import pyarrow.parquet

    expected = typed_table()
    sources = [directory / "types.parquet", directory / "types.arrow"]
    pyarrow.parquet.write_table(expected, sources[0])
    with pyarrow.ipc.new_file(sources[1], expected.schema) as writer:
        writer.write_table(expected)
    for source in sources:
        for encoding, compressions in COMPRESSIONS.items():
            for compression in compressions:
                path = directory / f"brc-{source.suffix[1:]}-{compression}.{encoding}"
                check(f"brc reads {source.name} and writes {path.name}",
                      lambda: convert("--compression", compression, source, path))
                for name, reads in typed_readers().items():
                    check(f"{name} reads every type of {path.name}", lambda: assert_same(reads(path), expected))


def main():
    brc = Path(sys.argv[1] if len(sys.argv) > 1 else "target/release/brc").absolute()
    readers = {name: reads for name, reads in READERS.items() if importlib.util.find_spec(name)}
    for name in READERS.keys() - readers.keys():
        print(f"LEFT OUT: {name} is not installed")
    failures = 0
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        text = directory / "table.csv"
        text.write_text("".join(f"{name};{tenths:.1f};{visits}\n" for name, tenths, visits in ROWS))

        def convert(*arguments):
            subprocess.run([brc, "convert", *arguments], check=True, capture_output=True)

        def check(what, run):
            nonlocal failures
            try:
                run()
                print(f"ok      {what}")
            except Exception as error:  # Whatever a library does, the others are still to be tried.
                failures += 1
                print(f"FAILED  {what}: {type(error).__name__}: {error}")

        for encoding, compressions in COMPRESSIONS.items():
            for compression in compressions:
                path = directory / f"brc-{compression}.{encoding}"
                convert("--schema", SCHEMA, "--compression", compression, text, path)
                for name, reads in readers.items():

                    def run(reads=reads, path=path):
                        assert [tuple(row) for row in reads(path)] == ROWS, "other rows"

                    check(f"{name} reads {path.name}", run)
        for path in written_by_others(directory):

            def run(path=path):
                back = directory / f"{path.name}.csv"
                convert(path, back)
                assert back.read_bytes() == text.read_bytes(), "other rows"

            check(f"brc reads {path.name}", run)
        check_types(directory, convert, check)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
