"""Tables as lazy frames of Polars."""

import datetime
import decimal
import io
import json

from . import _brc

_COMPARISONS = {"Eq": "=", "NotEq": "<>", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}

# Polars sorts NaN above all numbers and equal to itself, so only comparisons that NaN never satisfies are pushed down.
_FLOAT_COMPARISONS = {"Lt": "<", "LtEq": "<="}

_CONDITIONS = {"And": "and", "LogicalAnd": "and", "Or": "or", "LogicalOr": "or"}


# Polars requests fewer rows at a time, but each frame has a fixed cost in the interpreter.
_BATCH_ROWS = 1 << 17


class _Unknown(Exception):
    """An expression that is not pushed down."""


def scan_polars(source, **options):
    """A ``polars.LazyFrame`` over a table; the options are those of ``open``. Columns that are not needed are not
    read, and rows that a condition excludes are dropped before they become a frame.

    >>> import polars as pl
    >>> lazy = brc.scan_polars(b"city,n\\nRome,1\\nOslo,2\\nRome,3\\n")
    >>> lazy.filter(pl.col("city") == "Rome").select(pl.col("n").sum()).collect().item()
    4
    """
    import polars
    from polars.io.plugins import register_io_source

    table = source if isinstance(source, _brc.Table) else _brc.open(source, **options)
    types = table.schema

    def read(columns, predicate, n_rows, batch_size):
        # With a row limit, the limit applies before the condition.
        where, rest = (None, predicate) if n_rows is not None else _divide(predicate, types)
        wanted = list(types) if columns is None else columns
        also = [] if rest is None else [name for name in rest.meta.root_names() if name not in wanted]
        # A frame without columns would have no rows.
        read = [*wanted, *also] or [next(iter(types))]
        scan = table.scan(columns=read, where=where, limit=n_rows, batch_size=max(batch_size or 0, _BATCH_ROWS))
        for batch in scan:
            frame = polars.DataFrame(batch)
            if rest is not None:
                frame = frame.filter(rest)
            yield frame if len(read) == len(wanted) else frame.select(wanted)

    empty = polars.DataFrame(table.scan(limit=0))
    return register_io_source(read, schema=empty.schema, is_pure=True)


def _divide(predicate, types):
    """Splits a predicate into the SQL condition for brc and the predicate left to Polars."""
    if predicate is None:
        return None, None
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
    except Exception:
        return None, predicate
    supported, is_whole = [], True
    for conjunct in _conjuncts(tree):
        try:
            supported.append(_condition(conjunct, types))
        except Exception:
            is_whole = False
    return " and ".join(supported) or None, None if is_whole else predicate


def _conjuncts(tree):
    binary = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    if binary and _CONDITIONS.get(binary["op"]) == "and":
        return [*_conjuncts(binary["left"]), *_conjuncts(binary["right"])]
    return [tree]


def _condition(tree, types):
    ((kind, of),) = tree.items()
    if kind == "Column":
        return f"{_column(of, types, 'bool')} = true"
    if kind == "BinaryExpr":
        if of["op"] in _CONDITIONS:
            sides = (_condition(of[side], types) for side in ("left", "right"))
            return "(" + f" {_CONDITIONS[of['op']]} ".join(sides) + ")"
        return _comparison(of, types)
    if kind != "Function":
        raise _Unknown
    function, inputs = of["function"], of["input"]
    of_booleans = function.get("Boolean") if isinstance(function, dict) else None
    of_strings = function.get("StringExpr") if isinstance(function, dict) else None
    if of_booleans == "Not":
        return f"not ({_condition(inputs[0], types)})"
    if of_booleans in ("IsNull", "IsNotNull"):
        return f"{_column(inputs[0]['Column'], types)} is {'not ' if of_booleans == 'IsNotNull' else ''}null"
    if isinstance(of_booleans, dict) and "IsIn" in of_booleans and not of_booleans["IsIn"].get("nulls_equal"):
        name = inputs[0]["Column"]
        values = list(_value(inputs[1]))
        if None in values or not values or _kind(types[name]).startswith("float"):
            raise _Unknown
        return f"{_column(name, types)} in ({', '.join(_literal(value, types[name]) for value in values)})"
    if isinstance(of_booleans, dict) and "IsBetween" in of_booleans:
        closed = of_booleans["IsBetween"]["closed"]
        low = {"left": inputs[0], "op": "GtEq" if closed in ("Both", "Left") else "Gt", "right": inputs[1]}
        high = {"left": inputs[0], "op": "LtEq" if closed in ("Both", "Right") else "Lt", "right": inputs[2]}
        return f"({_comparison(low, types)} and {_comparison(high, types)})"
    if of_strings in ("StartsWith", "EndsWith"):
        name = {"StartsWith": "starts_with", "EndsWith": "ends_with"}[of_strings]
        return f"{name}({_column(inputs[0]['Column'], types, 'string')}, {_text(_value(inputs[1]))})"
    if isinstance(of_strings, dict) and of_strings.get("Contains", {}).get("literal"):
        return f"contains({_column(inputs[0]['Column'], types, 'string')}, {_text(_value(inputs[1]))})"
    raise _Unknown


def _comparison(of, types):
    left, op, right = of["left"], of["op"], of["right"]
    if "Column" not in left:
        mirrored = {"Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}
        left, op, right = right, mirrored.get(op, op), left
    name = left["Column"]
    operators = _FLOAT_COMPARISONS if _kind(types[name]).startswith("float") else _COMPARISONS
    if op not in operators:
        raise _Unknown
    return f"{_column(name, types)} {operators[op]} {_literal(_value(right), types[name])}"


def _kind(logical_type):
    return logical_type.removesuffix(" not null")


def _column(name, types, kind=None):
    if name not in types or kind not in (None, _kind(types[name])):
        raise _Unknown
    return '"' + name.replace('"', '""') + '"'


def _value(tree):
    """The constant value of an expression."""
    match tree:
        case {"Literal": {"Dyn": {"Int": int(value)}}} | {"Literal": {"Scalar": {"String": str(value)}}}:
            return value
    if _names_columns(tree):
        raise _Unknown
    import polars

    expression = polars.Expr.deserialize(io.StringIO(json.dumps(tree)), format="json")
    value = polars.select(expression).to_series()
    if value.dtype in (polars.Datetime("ns"), polars.List(polars.Datetime("ns"))):
        # Python's datetime would round it.
        raise _Unknown
    return value.item()


def _names_columns(tree):
    if isinstance(tree, dict):
        return any(key in ("Column", "Selector") or _names_columns(value) for key, value in tree.items())
    return isinstance(tree, list) and any(map(_names_columns, tree))


def _text(value):
    if not isinstance(value, str) or "\0" in value:
        raise _Unknown
    return "'" + value.replace("'", "''") + "'"


def _literal(value, logical_type):
    """A SQL literal to compare a column with, if brc and Polars compare it alike."""
    kind = _kind(logical_type)
    is_number = kind.startswith(("int", "uint", "decimal"))
    if isinstance(value, bool):
        if kind == "bool":
            return "true" if value else "false"
    elif isinstance(value, int):
        if is_number and abs(value) < 1 << 63:
            return str(value)
    elif isinstance(value, decimal.Decimal):
        if is_number and value.is_finite():
            return format(value, "f")
    elif isinstance(value, float):
        if kind == "float64" and value == value and abs(value) < 1e15 and abs(value) > 1e-5:
            return repr(value)
    elif isinstance(value, str):
        if kind == "string":
            return _text(value)
    elif isinstance(value, datetime.datetime):
        if kind.startswith("timestamp") and "zone" not in kind and value.tzinfo is None:
            return f"timestamp '{value.isoformat(sep=' ')}'"
    elif isinstance(value, datetime.date):
        if kind == "date":
            return f"date '{value.isoformat()}'"
    raise _Unknown
