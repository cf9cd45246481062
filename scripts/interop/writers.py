"""Files written by other programs: each is a path and the expected table."""

import itertools
import json
import math
from decimal import Decimal

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from .readers import duckdb_connection, is_installed
from .tables import every_type, only_others_have

# The Parquet encodings of each column besides dictionary encoding.
DELTA_OR_SPLIT = ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]
PARQUET_ENCODINGS = {
    pa.types.is_boolean: ["RLE"],
    pa.types.is_floating: ["BYTE_STREAM_SPLIT"],
    pa.types.is_string: ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"],
    pa.types.is_large_string: ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"],
    pa.types.is_binary: ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"],
    pa.types.is_fixed_size_binary: ["BYTE_STREAM_SPLIT", "DELTA_BYTE_ARRAY"],
    pa.types.is_decimal: ["BYTE_STREAM_SPLIT", "DELTA_BYTE_ARRAY"],
    pa.types.is_integer: DELTA_OR_SPLIT,
    pa.types.is_temporal: DELTA_OR_SPLIT,
}


def _encodings(table, choice):
    """One encoding for each column."""
    encodings = {}
    for field in table.schema:
        possible = next((found for fits, found in PARQUET_ENCODINGS.items() if fits(field.type)), ["PLAIN"])
        encodings[field.name] = possible[choice % len(possible)]
    return encodings


# Times outside the range of nanoseconds, in microseconds since 1970: 0001-01-01, the last of 9999, and one before 1970.
FAR_TIMES = [-62_135_596_800_000_000, None, 253_402_300_799_999_999, -1]


def _doubled_names():
    """A table with duplicate and empty column names, and how brc reads it."""
    columns = [pa.array([row, row + 1]) for row in range(5)]
    renamed = ["v", "v_2", "column_3", "V", "v_1"]
    return (pa.Table.from_arrays(columns, names=names) for names in (["v", "v", "", "V", "v_1"], renamed))


def pyarrow_parquet(directory):
    typed, required, other = every_type(), every_type(gap=0), only_others_have()
    small = {"data_page_size": 1000, "row_group_size": 700}
    forms = {
        "plain": {"use_dictionary": False},
        "dictionary": {"use_dictionary": True},
        "dictionary-given-up": {"use_dictionary": True, "dictionary_pagesize_limit": 500},
        "delta": {"use_dictionary": False, "column_encoding": 0},
        "split": {"use_dictionary": False, "column_encoding": 1},
        "int96": {"use_deprecated_int96_timestamps": True},
        "checksums": {"write_page_checksum": True, "write_page_index": True, "write_statistics": False},
        "decimals-as-integers": {"store_decimal_as_integer": True, "use_dictionary": False},
        "no-schema": {"store_schema": False},
    }
    tables = {"typed": typed, "required": required, "other": other}
    for (form, options), page, (name, table) in itertools.product(forms.items(), ("1.0", "2.0"), tables.items()):
        options = options | small | {"data_page_version": page}
        if form == "int96":
            # INT96 timestamps have the range of nanoseconds and no time zone.
            table = typed.select([name for name in typed.column_names if name.startswith("timestamp")])
        if "column_encoding" in options:
            options["column_encoding"] = _encodings(table, options["column_encoding"])
        path = directory / f"pyarrow-{name}-{form}-v{page[0]}.parquet"
        pyarrow.parquet.write_table(table, path, **options)
        yield path, table
    for compression, page in itertools.product(("none", "snappy", "gzip", "zstd", "lz4", "brotli"), ("1.0", "2.0")):
        path = directory / f"pyarrow-{compression}-v{page[0]}.parquet"
        pyarrow.parquet.write_table(typed, path, compression=compression, data_page_version=page)
        yield path, typed
    far = pa.table({"timestamp us": pa.array(FAR_TIMES * 500, pa.timestamp("us"))})
    for dictionary, page in itertools.product((True, False), ("1.0", "2.0")):
        path = directory / f"pyarrow-far-int96-{dictionary}-v{page[0]}.parquet"
        options = {"use_deprecated_int96_timestamps": True, "use_dictionary": dictionary, "data_page_version": page}
        pyarrow.parquet.write_table(far, path, **options)
        yield path, far
    doubled, renamed = _doubled_names()
    path = directory / "pyarrow-doubled-names.parquet"
    pyarrow.parquet.write_table(doubled, path)
    yield path, renamed
    for version in ("1.0", "2.4", "2.6"):
        path = directory / f"pyarrow-format-{version}.parquet"
        # Older versions of the format do not have nanoseconds.
        table = typed.select([name for name in typed.column_names if not name.endswith("ns")])
        pyarrow.parquet.write_table(table, path, version=version)
        yield path, table


def _arrow(path, table, compression=None, rows=None, **options):
    options = pa.ipc.IpcWriteOptions(compression=compression, **options)
    with pa.ipc.new_file(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return path


def _dictionaries(table):
    """Strings and numbers as dictionaries of several index types; one dictionary contains a null."""
    columns = {}
    for index in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"):
        kind = pa.dictionary(getattr(pa, index)(), pa.string())
        columns[f"string by {index}"] = table["string"].cast(kind)
    for name in ("int8", "date", "binary", "decimal(5,2)"):
        columns[f"{name} by int32"] = table[name].combine_chunks().dictionary_encode()
    null_within = pa.DictionaryArray.from_arrays(
        pa.array([[0, 1, None, 2][row % 4] for row in range(len(table))], pa.int32()), pa.array(["one", None, "two"])
    )
    columns["null among the values"] = null_within
    return pa.table(columns)


def pyarrow_arrow(directory):
    typed, other = every_type(), only_others_have()
    for compression in (None, "lz4", "zstd"):
        yield _arrow(directory / f"pyarrow-{compression}.arrow", typed, compression), typed
    yield _arrow(directory / "pyarrow-required.arrow", every_type(gap=0)), every_type(gap=0)
    yield _arrow(directory / "pyarrow-batches.arrow", typed, rows=33), typed
    yield _arrow(directory / "pyarrow-slice.arrow", typed.slice(13, 1001)), typed.slice(13, 1001)
    yield _arrow(directory / "pyarrow-empty.arrow", typed.slice(0, 0)), typed.slice(0, 0)
    yield _arrow(directory / "pyarrow-other.arrow", other), other
    doubled, renamed = _doubled_names()
    yield _arrow(directory / "pyarrow-doubled-names.arrow", doubled), renamed
    dictionaries = _dictionaries(typed)
    yield _arrow(directory / "pyarrow-dictionaries.arrow", dictionaries), dictionaries
    yield _arrow(directory / "pyarrow-dictionary-batches.arrow", dictionaries, rows=100), dictionaries
    growing = pa.concat_tables([pa.table({"s": pa.array(names[:end]).dictionary_encode()}) for end in (1, 2, 3)
                                for names in [["x", "y", "z"]]])
    yield _arrow(directory / "pyarrow-deltas.arrow", growing, emit_dictionary_deltas=True), growing
    views = pa.table({
        "string": typed["long string"].cast(pa.string_view()),
        "binary": typed["binary"].cast(pa.binary_view()),
        "short": typed["string"].cast(pa.string_view()),
    })
    for compression in (None, "zstd"):
        yield _arrow(directory / f"pyarrow-views-{compression}.arrow", views, compression), views
    small = pa.table({
        "decimal32": typed["decimal(5,2)"].cast(pa.decimal32(5, 2)),
        "decimal64": typed["decimal(18,1)"].cast(pa.decimal64(18, 1)),
        "float16": pa.array([None, 0.5, -0.0, 65504.0] * 500, pa.float16()),
    })
    yield _arrow(directory / "pyarrow-small-numbers.arrow", small), small


def json_files(directory):
    """One object per line. Each program represents binary data differently."""
    table = every_type().drop_columns(["binary"])
    decimals = [name for name in table.column_names if name.startswith("decimal")]
    path = directory / "python.json"
    with open(path, "w", encoding="utf-8") as file:
        texts = [_json_texts(table[name]) for name in table.column_names]
        for row in zip(*texts):
            members = (f"{json.dumps(name)}: {text}" for name, text in zip(table.column_names, row))
            file.write("{" + ", ".join(members) + "}\n")
    yield path, table
    if is_installed("duckdb"):
        path = directory / "duckdb.json"
        # DuckDB writes Infinity and NaN, which JSON lacks; decimals go through floats, timestamps through microseconds.
        exact = table.drop_columns(["float32", "float64", "instant ns", *decimals[1:]])
        connection = duckdb_connection()
        connection.register("t", exact)
        connection.execute(f"COPY t TO '{path}' (FORMAT json)")
        yield path, exact
    if is_installed("polars"):
        import polars

        path = directory / "polars.json"
        # Polars writes decimals as strings and non-finite floats as null, and has no UUIDs.
        exact = table.drop_columns(["float32", "float64", "uuid", *decimals])
        polars.from_arrow(exact).write_ndjson(path)
        yield path, exact


def _json_texts(column):
    """Values as written in JSON: numbers keep all their digits."""
    if pa.types.is_decimal(column.type):
        return ["null" if value is None else f"{value:f}" for value in column.to_pylist()]
    if pa.types.is_floating(column.type):
        quoted = lambda value: json.dumps(value) if math.isfinite(value) else f'"{json.dumps(value)}"'
        return ["null" if value is None else quoted(value) for value in column.to_pylist()]
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.string())
    return [json.dumps(value, ensure_ascii=False, default=str) for value in column.to_pylist()]


def duckdb_files(directory):
    if not is_installed("duckdb"):
        return
    connection = duckdb_connection()
    for name, table in {"typed": every_type(), "required": every_type(gap=0)}.items():
        # DuckDB has timestamps with time zone in microseconds only.
        table = table.drop_columns(["instant ns"])
        for version, codec in itertools.product(("V1", "V2"), ("uncompressed", "snappy", "zstd", "gzip", "lz4_raw")):
            # DuckDB writes 33-bit deltas for 32-bit integers, which the standard forbids and most readers reject.
            written = table.drop_columns(["int32"]) if version == "V2" else table
            connection.register("t", written)
            path = directory / f"duckdb-{name}-{version}-{codec}.parquet"
            connection.execute(f"COPY t TO '{path}' (FORMAT parquet, PARQUET_VERSION {version}, CODEC {codec})")
            yield path, written


def polars_files(directory):
    if not is_installed("polars"):
        return
    import polars

    frame = polars.from_arrow(every_type())
    expected = every_type()
    for compression in ("uncompressed", "snappy", "gzip", "lz4", "zstd"):
        path = directory / f"polars-{compression}.parquet"
        frame.write_parquet(path, compression=compression, data_page_size=1000, row_group_size=600)
        yield path, expected
    for compression, level in itertools.product(("uncompressed", "lz4", "zstd"), ("oldest", "newest")):
        path = directory / f"polars-{compression}-{level}.arrow"
        compat = getattr(polars.CompatLevel, level)()
        frame.write_ipc(path, compression=compression, compat_level=compat)
        yield path, expected
    categories = frame.select(polars.col("string").cast(polars.Categorical))
    path = directory / "polars-categories.arrow"
    categories.write_ipc(path)
    yield path, expected.select(["string"])


def datafusion_files(directory):
    if not is_installed("datafusion"):
        return
    import datafusion

    table = every_type()
    for version, codec in itertools.product(("1.0", "2.0"), ("uncompressed", "snappy", "zstd(3)", "lz4_raw")):
        context = datafusion.SessionContext()
        context.from_arrow(table, name="t")
        path = directory / f"datafusion-{version[0]}-{codec[:4]}.parquet"
        options = f"'format.compression' '{codec}', 'format.writer_version' '{version}'"
        context.sql(f"COPY t TO '{path}' STORED AS PARQUET OPTIONS ({options})").collect()
        yield path, table


def fastavro_avro(directory):
    """Rows in blocks of every compression, with a column whose type brc changes."""
    import fastavro

    fields = [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"]},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["NEW", "PAID"]}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "at", "type": [{"type": "long", "logicalType": "timestamp-micros"}, "null"]},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
        {"name": "x", "type": ["double", "null"]},
    ]
    table = pa.table({
        "id": pa.array([row - 7 for row in range(2000)]),
        "name": pa.array([None if row % 3 else f"n{row % 5}" for row in range(2000)]),
        "kind": pa.array(["NEW" if row % 2 else "PAID" for row in range(2000)]),
        "price": pa.array([Decimal(row * 125 - 300) / 100 for row in range(2000)], pa.decimal128(9, 2)),
        "at": pa.array([None if row % 4 else row * 1_000_001 for row in range(2000)], pa.timestamp("us", "UTC")),
        "local": pa.array([row * 1001 for row in range(2000)], pa.timestamp("ms")),
        "x": pa.array([None if row % 5 else row / 8 for row in range(2000)]),
    })
    for codec in ("null", "deflate", "bzip2", "xz"):
        path = directory / f"fastavro-{codec}.avro"
        with open(path, "wb") as file:
            schema = {"type": "record", "name": "Row", "fields": fields}
            fastavro.writer(file, schema, table.to_pylist(), codec=codec, sync_interval=4000)
        yield path, table


def openpyxl_xlsx(directory):
    """A sheet has five types; timestamps here are whole seconds."""
    import openpyxl

    rows = range(1000)
    table = pa.table({
        "int64": pa.array([None if row % 7 == 0 else row * 1_000_003 for row in rows], pa.int64()),
        "float64": pa.array([None if row % 5 == 0 else row / 8 + 0.5 for row in rows], pa.float64()),
        "string": pa.array([None if row % 3 == 0 else f"text {row}" for row in rows]),
        "bool": pa.array([row % 2 == 0 for row in rows]),
        "date": pa.array([row * 31 - 20_000 for row in rows], pa.int32()).cast(pa.date32()),
        "timestamp s": pa.array([row * 1_000_003 + 1 for row in rows], pa.timestamp("s")),
    })
    book = openpyxl.Workbook()
    book.active.append(table.column_names)
    for row in table.to_pylist():
        book.active.append(list(row.values()))
    path = directory / "openpyxl.xlsx"
    book.save(path)
    yield path, table


WRITERS = [pyarrow_parquet, pyarrow_arrow, json_files, duckdb_files, polars_files, datafusion_files]
WRITERS += [fastavro_avro] if is_installed("fastavro") else []
WRITERS += [openpyxl_xlsx] if is_installed("openpyxl") else []
