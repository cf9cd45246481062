"""How other programs read the files that brc writes: each returns a pyarrow table of roughly the expected types.

Text is read with these types; text columns that the program does not parse are read as strings."""

import importlib.util
import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute


def is_installed(name):
    return importlib.util.find_spec(name) is not None


def _parsed(table, expected, unread):
    """A table with its strings parsed to the expected types."""
    parse = lambda field: table[field.name] if field.name in unread else _parse(table[field.name], field.type)
    return pa.table({field.name: parse(field) for field in expected})


def _parse(column, kind):
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    column = column.cast(pa.string())
    if pa.types.is_binary(kind):
        return pa.array([value and bytes.fromhex(value) for value in column.to_pylist()], kind)
    if kind == pa.uuid():
        return column
    if pa.types.is_time(kind):
        days = pa.compute.binary_join_element_wise("1970-01-01", column, " ")
        return days.cast(pa.timestamp(kind.unit)).cast(kind)
    return column.cast(kind)


def _pyarrow(path, expected, unread):
    import pyarrow.csv
    import pyarrow.ipc
    import pyarrow.parquet

    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path, page_checksum_verification=True)
    if path.suffix == ".arrow":
        return pyarrow.ipc.open_file(path).read_all()
    options = pyarrow.csv.ConvertOptions(
        column_types={field.name: pa.string() if field.type == pa.uuid() else field.type for field in expected},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        true_values=["true"],
        false_values=["false"],
    )
    return pyarrow.csv.read_csv(
        path,
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=options,
    )


def duckdb_type(kind):
    """The DuckDB type for a pyarrow type."""
    names = {"double": "DOUBLE", "float": "FLOAT", "date32[day]": "DATE", "string": "VARCHAR", "binary": "BLOB"}
    names |= {"extension<arrow.uuid>": "UUID"}
    names |= {"bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT"}
    names |= {"uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT"}
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_time(kind):
        return "TIME_NS" if kind.unit == "ns" else "TIME"
    if pa.types.is_timestamp(kind):
        name = "TIMESTAMPTZ" if kind.tz else "TIMESTAMP"
        return name + {"s": "_S", "ms": "_MS", "us": "", "ns": "_NS"}[kind.unit if not kind.tz else "us"]
    return names[str(kind)]


def duckdb_connection():
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def _duckdb(path, expected, unread):
    connection = duckdb_connection()
    if path.suffix == ".parquet":
        return connection.read_parquet(str(path)).to_arrow_table()
    if path.suffix == ".arrow":
        return connection.from_arrow(_pyarrow(path, expected, unread)).to_arrow_table()
    # DuckDB's own representation of binary data in JSON differs.
    is_text = lambda field: field.name in unread or pa.types.is_binary(field.type)
    types = {field.name: "VARCHAR" if is_text(field) else duckdb_type(field.type) for field in expected}
    columns = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in types.items()) + "}"
    if path.suffix == ".csv":
        read = f"read_csv('{path}', auto_detect = false, header = true, quote = '\"', escape = '\"', nullstr = '',"
        read += f" allow_quoted_nulls = false, columns = {columns})"
    else:
        read = f"read_json('{path}', format = 'newline_delimited', columns = {columns})"
    return _parsed(connection.sql(f"FROM {read}").to_arrow_table(), expected, unread)


def _polars(path, expected, unread):
    import polars

    if path.suffix == ".parquet":
        return polars.read_parquet(path).to_arrow()
    if path.suffix == ".arrow":
        return polars.read_ipc(path).to_arrow()
    schema = polars.from_arrow(expected.empty_table()).schema
    # Polars does not parse all types in text.
    instead = {polars.Time: polars.String, polars.Binary: polars.String}
    if path.suffix == ".json":
        instead |= dict.fromkeys((polars.Decimal, polars.Float32, polars.Float64), polars.String)
        instead |= {polars.Int8: polars.Int64, polars.Int16: polars.Int64}
    schema = {name: instead.get(kind.base_type(), kind) for name, kind in schema.items()}
    schema |= {name: polars.String for name in unread}
    if path.suffix == ".csv":
        return _parsed(polars.read_csv(path, schema=schema).to_arrow(), expected, unread)
    return _parsed(polars.read_ndjson(path, schema=schema).to_arrow(), expected, unread)


def _datafusion(path, expected, unread):
    import datafusion

    context = datafusion.SessionContext()
    read = {".parquet": context.read_parquet, ".arrow": context.read_arrow}[path.suffix]
    return read(str(path)).to_arrow_table()


def _python(path, expected, unread):
    """Python's own JSON, which has only numbers and strings as types."""
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line, parse_float=Decimal) for line in lines]
    text = lambda value: None if value is None else str(value)
    columns = {}
    for field in expected:
        values = [row[field.name] for row in rows]
        is_native = pa.types.is_boolean(field.type) or pa.types.is_integer(field.type)
        columns[field.name] = pa.array(values if is_native else map(text, values), field.type if is_native else pa.string())
    return _parsed(pa.table(columns), expected, unread)


# The programs that read a file, by its extension.
def _fastavro(path, expected, unread):
    """Avro restricts names, so columns are matched by position."""
    import fastavro

    with open(path, "rb") as file:
        rows = list(fastavro.reader(file))
    columns = [list(column) for column in zip(*(row.values() for row in rows))] or [[] for _ in expected]
    return pa.table({field.name: _of_avro(column, field.type) for field, column in zip(expected, columns)})


def _of_avro(column, kind):
    """Types that change in Avro: seconds become milliseconds, uint64 a decimal, nanoseconds plain integers."""
    if pa.types.is_uint64(kind):
        column = [value if value is None else int(value) for value in column]
    if kind == pa.uuid():
        column = [value and value.bytes for value in column]
    if pa.types.is_temporal(kind) and any(isinstance(value, int) for value in column):
        return pa.array(column, pa.int64()).cast(kind)
    return pa.array(column, kind)


READERS = {
    ".parquet": {"pyarrow": _pyarrow, "duckdb": _duckdb, "polars": _polars, "datafusion": _datafusion},
    ".arrow": {"pyarrow": _pyarrow, "duckdb": _duckdb, "polars": _polars, "datafusion": _datafusion},
    ".avro": {"fastavro": _fastavro},
    ".csv": {"pyarrow": _pyarrow, "duckdb": _duckdb, "polars": _polars},
    ".json": {"json": _python, "duckdb": _duckdb, "polars": _polars},
}
