"""Tables written as JSON by several programs in all layouts, and the content of such texts.

The content is found by Python's own parser: for every column its name and the texts of its values, with None for a null
or a missing key. Numbers keep their digits.
"""

import json
import random
from decimal import Decimal

import pyarrow as pa

from .readers import duckdb_connection

FORMS = ["lines", "array", "pretty lines", "pretty array", "several a line"]


def random_form(rng, program):
    """The options of a writer."""
    if program == "duckdb":
        return {"form": rng.choice(["lines", "array"])}
    if program == "polars":
        return {"form": rng.choice(["lines", "array"])}
    return {
        "form": rng.choice(FORMS),
        "spaces": rng.random() < 0.5,
        "ascii": rng.random() < 0.5,
        "indent": rng.choice([1, 2, 4, "\t"]),
        "line_end": rng.choice(["\n", "\n", "\r\n"]),
        "last_line_end": rng.random() < 0.8,
        "blank_lines": rng.random() < 0.2,
        "bom": rng.random() < 0.1,
        # The keys of nulls are omitted, and the others are shuffled.
        "sparse": rng.random() < 0.3,
        "shuffled": rng.random() < 0.2,
        "nested": rng.random() < 0.2,
        "seed": rng.random(),
    }


def _plain(value):
    """A value for Python's JSON writer; decimals become numbers with all their digits."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Decimal):
        return _Digits(f"{value:f}")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


class _Digits(float):
    """A number that is written with exactly these digits."""

    def __new__(cls, digits):
        new = super().__new__(cls, digits)
        new.digits = digits
        return new

    def __repr__(self):
        return self.digits


def _dumps(row, form):
    """`json.dumps` that writes a `_Digits` value of the row as a number with exactly these digits."""
    indent = form["indent"] if form["form"].startswith("pretty") else None
    marks = {}

    def marked(value):
        if isinstance(value, _Digits):
            mark = f"@digits {len(marks)}@"
            marks[mark] = value.digits
            return mark
        return value

    separators = (", ", ": ") if form["spaces"] else (",", ":")
    row = {key: marked(value) for key, value in row.items()}
    text = json.dumps(row, ensure_ascii=form["ascii"], indent=indent, separators=separators if indent is None else None)
    for mark, digits in marks.items():
        text = text.replace(f'"{mark}"', digits)
    return text


def _python(path, table, form):
    rng = random.Random(form["seed"])
    objects = []
    for row in table.to_pylist():
        row = {key: _plain(value) for key, value in row.items()}
        if form["sparse"]:
            row = {key: value for key, value in row.items() if value is not None or rng.random() < 0.2}
        if form["shuffled"]:
            keys = list(row)
            rng.shuffle(keys)
            row = {key: row[key] for key in keys}
        if form["nested"]:
            row["nested"] = rng.choice([None, [1, {"a": "]}"}], {"b": []}, {}])
        objects.append(_dumps(row, form))
    between = form["line_end"] * (2 if form["blank_lines"] else 1)
    if form["form"].endswith("array"):
        text = "[" + rng.choice(["", between]) + ("," + rng.choice(["", between])).join(objects) + between + "]"
    elif form["form"] == "several a line":
        text = "".join(item + rng.choice(["", " ", between]) for item in objects)
    else:
        text = between.join(objects)
    text += form["line_end"] if form["last_line_end"] else ""
    path.write_bytes(text.encode("utf-8-sig" if form["bom"] else "utf-8"))


def _duckdb(path, table, form):
    connection = duckdb_connection()
    connection.register("t", table)
    connection.execute(f"COPY t TO '{path}' (FORMAT json, ARRAY {form['form'] == 'array'})")


def _polars(path, table, form):
    import polars

    # Polars has no UUIDs.
    for index, field in enumerate(table.schema):
        if field.type == pa.uuid():
            texts = [None if value is None else str(value) for value in table[index].to_pylist()]
            table = table.set_column(index, field.name, pa.array(texts, pa.string()))
    frame = polars.from_arrow(table)
    if form["form"] == "array":
        frame.write_json(path)
    else:
        frame.write_ndjson(path)


WRITERS = {"python": _python, "duckdb": _duckdb, "polars": _polars}


def _objects(text):
    """All objects of a text, in an array or not. Numbers are strings of a separate class."""
    decoder = json.JSONDecoder(parse_float=_Number, parse_int=_Number, parse_constant=_Number)
    objects, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found, at = decoder.raw_decode(text, at)
        objects.extend(found if isinstance(found, list) else [found])
    return objects


class _Number(str):
    """The digits of a number."""


def texts_of(path):
    """The columns of a file as texts, without those that contain only lists and objects."""
    objects = _objects(path.read_text(encoding="utf-8-sig"))
    columns = {}
    for number, row in enumerate(objects):
        for key, value in row.items():
            columns.setdefault(key, [None] * len(objects))[number] = value
    for key, values in list(columns.items()):
        there = [value for value in values if value is not None]
        if there and all(isinstance(value, (list, dict)) for value in there):
            del columns[key]
        else:
            columns[key] = [str(value).lower() if isinstance(value, bool) else value for value in values]
    return columns


def assert_kinds(found, table, expected, program):
    """Asserts that columns keep their types instead of becoming strings of the same text."""
    for field in table.schema:
        texts = [text for text in expected.get(field.name, []) if text is not None]
        if not texts:
            continue
        kind = found.schema.field(field.name).type
        assert _is_of_kind(kind, field.type, texts, program), f"column '{field.name}' is {kind}, and was {field.type}"


def _is_of_kind(kind, was, texts, program):
    is_number = pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_floating(kind)
    if pa.types.is_integer(was):
        return pa.types.is_integer(kind)
    if pa.types.is_floating(was):
        # brc writes them as strings. Such a string is read as a float only next to numbers: by itself, it may be a
        # name.
        return is_number or all(text in ("NaN", "Infinity", "-Infinity") for text in texts)
    if pa.types.is_decimal(was):
        # Polars writes decimals as strings.
        return pa.types.is_string(kind) if program == "polars" else is_number
    if pa.types.is_temporal(was):
        same = [pa.types.is_date, pa.types.is_time, pa.types.is_timestamp]
        return any(is_one(kind) and is_one(was) for is_one in same)
    # A UUID in a text is a string.
    if pa.types.is_string(was) or was == pa.uuid():
        return pa.types.is_string(kind)
    return kind == was
