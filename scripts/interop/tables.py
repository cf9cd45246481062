"""Tables of every type as pyarrow tables, and their comparison."""

import uuid
from decimal import Context, Decimal

import pyarrow as pa
import pyarrow.compute

ROWS = 2000
EXACT = Context(prec=80)
STRINGS = ["Abha", "São Paulo", "", "a name of more than twelve bytes", 'a "quoted" one', "one, with\na line feed", " "]
FLOATS = [0.0, -0.0, 0.1, 1.5, -1e300, 5e-324, float("inf"), -float("inf"), float("nan"), 1.7976931348623157e308]
SHORT_FLOATS = [0.0, -0.0, 1.1, 1.5, -1e30, 1e-45, float("inf"), -float("inf"), float("nan"), 3.4028234663852886e38]
DAY = 86_400
PER_SECOND = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}


def _column(integers, storage, kind):
    """Integers reinterpreted as values of `kind`; each column has its nulls at other rows."""
    return pa.array(integers, storage).view(kind)


def _times():
    """Name, storage, kind and range of times and timestamps of all units."""
    for unit, per_second in PER_SECOND.items():
        storage, kind = (pa.int32(), pa.time32(unit)) if unit in ("s", "ms") else (pa.int64(), pa.time64(unit))
        yield f"time {unit}", storage, kind, (0, DAY * per_second - 1)
        # From 1902 to 2067, within the range of every unit.
        limit = 2**31 * per_second
        for zone, name in ((None, "timestamp"), ("UTC", "instant")):
            yield f"{name} {unit}", pa.int64(), pa.timestamp(unit, zone), (-limit, limit)


def _kept(array, keep):
    """Sets the values not in `keep` to null; pyarrow computes on extension types only via their storage type."""
    if array.type == pa.uuid():
        return pa.ExtensionArray.from_storage(array.type, _kept(array.storage, keep))
    return pa.compute.if_else(keep, array, pa.scalar(None, array.type))


def _nulled(columns, gap):
    """A table in which every `gap`-th value of a column is null, at other rows in each column."""
    arrays = {}
    for index, (name, array) in enumerate(columns.items()):
        keep = pa.array([gap == 0 or (row + index) % gap != 0 for row in range(len(array))])
        arrays[name] = _kept(array, keep) if gap else array
    fields = [pa.field(name, array.type, nullable=gap != 0) for name, array in arrays.items()]
    return pa.table(arrays, schema=pa.schema(fields))


def _spread(low, high, rows):
    """Integers spread over a range, including its ends."""
    steps = [low, high, 0, -1, 1, low + 1, high - 1]
    mixed = (low + (row * 0x9E3779B97F4A7C15F39CC0605CEDC835) % (high - low + 1) for row in range(rows))
    return [max(low, steps[row]) if row < len(steps) else value for row, value in enumerate(mixed)]


def every_type(rows=ROWS, gap=5):
    """All types of brc, with values that every program supports; every `gap`-th value is null unless `gap` is 0."""
    columns = {
        "bool": pa.array([row % 3 == 0 for row in range(rows)], pa.bool_()),
        "float64": pa.array([FLOATS[row % len(FLOATS)] if row % 2 else row / 100 for row in range(rows)], pa.float64()),
        "float32": pa.array([SHORT_FLOATS[row % 10] if row % 2 else row / 100 for row in range(rows)], pa.float32()),
        "uuid": pa.array([value.to_bytes(16) for value in _spread(0, 2**128 - 1, rows)], pa.uuid()),
        "uint64": pa.array(_spread(0, 2**64 - 1, rows), pa.uint64()),
        "date": _column([row * 11 - 9000 for row in range(rows)], pa.int32(), pa.date32()),
        "string": pa.array([STRINGS[row * row % len(STRINGS)] for row in range(rows)], pa.string()),
        "long string": pa.array([f"{row * row} is the square of {row}" for row in range(rows)], pa.string()),
        "binary": pa.array([bytes([row % 256, 255, 0]) * (row % 4) for row in range(rows)], pa.binary()),
    }
    for bits in (8, 16, 32, 64):
        columns[f"int{bits}"] = pa.array(_spread(-(1 << bits - 1), (1 << bits - 1) - 1, rows), f"int{bits}")
    for precision, scale in ((5, 2), (18, 1), (19, 0), (38, 10), (38, 38)):
        limit = 10**precision - 1
        values = [Decimal(value).scaleb(-scale, EXACT) for value in _spread(-limit, limit, rows)]
        columns[f"decimal({precision},{scale})"] = pa.array(values, pa.decimal128(precision, scale))
    for name, storage, kind, (low, high) in _times():
        columns[name] = _column(_spread(low, high, rows), storage, kind)
    return _nulled(columns, gap)


def only_others_have(rows=ROWS, gap=7):
    """Types that brc reads as a wider type."""
    columns = {
        "date64": _column([(row - 900) * DAY * 1000 for row in range(rows)], pa.int64(), pa.date64()),
        "fixed": pa.array([bytes([row % 256, 0, 255]) for row in range(rows)], pa.binary(3)),
        "large string": pa.array([STRINGS[row % len(STRINGS)] for row in range(rows)], pa.large_string()),
        "large binary": pa.array([b"\0\xff" * (row % 3) for row in range(rows)], pa.large_binary()),
        "decimal256": pa.array([Decimal(row * row).scaleb(-4) for row in range(rows)], pa.decimal256(50, 4)),
        "nothing": pa.nulls(rows),
    }
    for bits in (8, 16, 32):
        columns[f"uint{bits}"] = pa.array(_spread(0, (1 << bits) - 1, rows), f"uint{bits}")
    nothing = columns.pop("nothing")
    return _nulled(columns, gap).append_column("nothing", nothing)


def ends_of_the_ranges():
    """The minimum and maximum of types that some programs cannot represent in full."""
    bounds = {"date": (pa.int32(), pa.date32(), 32)}
    for unit in PER_SECOND:
        bounds |= {f"timestamp {unit}": (pa.int64(), pa.timestamp(unit), 64)}
        bounds |= {f"instant {unit}": (pa.int64(), pa.timestamp(unit, "UTC"), 64)}
    columns = {}
    for name, (storage, kind, bits) in bounds.items():
        least, greatest = -(1 << bits - 1), (1 << bits - 1) - 1
        columns[name] = _column([least, greatest, 0, least + 1, greatest - 1], storage, kind)
    return pa.table(columns)


def brc_schema(table):
    """The columns of a table as an argument for --schema."""
    return ",".join(f'"{field.name}":{brc_type(field.type)}' for field in table.schema)


def brc_type(kind):
    """brc's name of a type."""
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_time(kind):
        return f"time({kind.unit})"
    if pa.types.is_timestamp(kind):
        return f"timestamp({kind.unit}){' with zone' if kind.tz else ''}"
    names = {"float": "float32", "double": "float64", "date32[day]": "date", "extension<arrow.uuid>": "uuid"}
    return names.get(str(kind), str(kind))


def _bits(column, kind):
    """Comparable values of one type; floats are compared by their bits."""
    if pa.types.is_null(kind):
        return pa.chunked_array([column.is_valid()])
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind == pa.uuid():
        return _uuids(column)
    column = column.cast(kind)
    # Most programs do not keep the sign and payload of a NaN.
    if pa.types.is_floating(kind):
        nan = pa.scalar(float("nan"), kind)
        column = pa.compute.if_else(pa.compute.is_nan(column), nan, column)
        return pa.chunked_array([chunk.view(f"int{kind.bit_width}") for chunk in column.chunks], f"int{kind.bit_width}")
    return column


def _uuids(column):
    """The 16 bytes of UUIDs, which some programs represent as text."""
    value = lambda it: uuid.UUID(it) if isinstance(it, str) else uuid.UUID(bytes=it) if isinstance(it, bytes) else it
    return pa.chunked_array([pa.array([it and value(it).bytes for it in column.to_pylist()], pa.binary(16))])


def assert_same(found, expected, in_microseconds=()):
    """Asserts that tables have equal values, allowing for equivalent column types.

    Times in the columns `in_microseconds` are truncated to microseconds for the comparison.
    """
    found.validate(full=True)
    assert found.column_names == expected.column_names, f"columns {found.column_names}"
    assert len(found) == len(expected), f"{len(found)} rows instead of {len(expected)}"
    for name in expected.column_names:
        have, want = (_bits(table[name], expected[name].type) for table in (found, expected))
        if name in in_microseconds:
            have, want = (pa.compute.floor_temporal(column, unit="microsecond") for column in (have, want))
        if not have.equals(want):
            row = next(row for row in range(len(want)) if have.slice(row, 1) != want.slice(row, 1))
            raise AssertionError(f"column '{name}', row {row}: {found[name][row]!r} instead of {expected[name][row]!r}")
