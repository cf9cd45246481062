"""Tables written in random CSV dialects by several programs.

Each writer returns the content of the text: for every column its name and the texts of its fields, with None for a
null. An empty field without quotes is a null, whatever the program wrote it for; `""` is an empty string.
"""

import csv
import io
import itertools
import random

import pyarrow as pa

from .readers import duckdb_connection

DELIMITERS = [",", ",", ";", "\t", "|"]


def random_dialect(rng, program):
    """The options of a writer."""
    dialect = {
        "delimiter": rng.choice(DELIMITERS),
        "quote": '"',
        "header": rng.random() < 0.8,
        "quote_all": rng.random() < 0.2,
    }
    if program == "python":
        dialect["line_end"] = rng.choice(["\n", "\n", "\r\n", "\r"])
        dialect["encoding"] = rng.choice(["utf-8"] * 4 + ["utf-8-sig", "utf-16"])
        dialect["last_line_end"] = rng.random() < 0.8
        dialect["above"] = rng.choice(["", "", "titles", "comments", "sep", "blank"])
        dialect["among"] = rng.choice(["", "", "comments", "blank"])
        dialect["seed"] = rng.random()
    if program == "polars":
        dialect["line_end"] = rng.choice(["\n", "\r\n"])
        dialect["bom"] = rng.random() < 0.2
    return dialect


def names_of(table, dialect):
    """The resulting column names; numbers if there is no header."""
    if dialect["header"]:
        return table.column_names
    return [f"column_{number + 1}" for number in range(table.num_columns)]


def _texts(column):
    """Values as text, as Python formats them; None for nulls."""
    return [None if value is None else _text(value) for value in column.to_pylist()]


def _text(value):
    if isinstance(value, bool):
        return str(value).lower()
    if hasattr(value, "isoformat"):
        return str(value)
    return f"{value:f}" if type(value).__name__ == "Decimal" else str(value)


def lines_above(rng, kind, delimiter):
    """Random lines before the table that are not rows, and the kind that `brc` reports for them."""
    count = rng.randrange(1, 6)
    if kind == "titles":
        return [f"Report number {rng.randrange(100)} of all" for _ in range(count)], "before the table"
    if kind == "comments":
        return [f"# note {rng.randrange(100)}" for _ in range(rng.choice([count, 3000]))], "before the table"
    if kind == "sep":
        return [f"sep={delimiter}"], "before the table"
    if kind == "blank":
        return [""] * count, "blank"
    return [], None


def decorated(lines, dialect):
    """The rows of a table as text with non-row lines inserted, and the number of such lines by kind."""
    rng = random.Random(dialect["seed"])
    above, kind = lines_above(rng, dialect["above"], dialect["delimiter"])
    skipped = {kind: len(above)} if above else {}
    among = {"comments": ("# a note", "comment"), "blank": ("", "blank")}.get(dialect["among"])
    # A comment is recognised if it has other rows on both sides.
    if among and len(lines) > 4:
        line, kind = among
        count = rng.randrange(1, 4)
        # Comments are detected in the sample only.
        sampled = sum(1 for end in itertools.accumulate(map(len, lines)) if end < 20_000)
        last = len(lines) if kind == "blank" else max(min(len(lines), sampled), 4)
        for _ in range(count):
            lines.insert(rng.randrange(3, last), line)
        skipped[kind] = skipped.get(kind, 0) + count
    return above + lines, skipped


def may_be_decorated(table, dialect, text):
    """Whether non-row lines can be distinguished from rows: not if rows have one column or span several lines, or if
    the header is no more certain than a title."""
    is_text = lambda kind: pa.types.is_string(kind) or kind == pa.uuid()
    is_typed = any(not is_text(column.type) and column.null_count == 0 for column in table.columns)
    lines = text.removesuffix(dialect["line_end"]).split(dialect["line_end"])
    is_plain = len(lines) == table.num_rows + 1 and not any(line.startswith("#") or line == "" for line in lines)
    return dialect["header"] and is_typed and is_plain and table.num_columns > 2 and table.num_rows > 2


def _python(path, table, dialect):
    columns = [_texts(column) for column in table.columns]
    file = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if dialect["quote_all"] else csv.QUOTE_MINIMAL
    writer = csv.writer(
        file,
        delimiter=dialect["delimiter"],
        quotechar=dialect["quote"],
        lineterminator=dialect["line_end"],
        quoting=quoting,
    )
    if dialect["header"]:
        writer.writerow(table.column_names)
    writer.writerows(zip(*columns))
    text = file.getvalue()
    dialect["skipped"] = {}
    if may_be_decorated(table, dialect, text):
        end = dialect["line_end"]
        lines, dialect["skipped"] = decorated(text.removesuffix(end).split(end), dialect)
        text = end.join(lines) + end
    if not dialect["last_line_end"]:
        text = text.removesuffix(dialect["line_end"])
    path.write_bytes(text.encode(dialect["encoding"]))
    # Python writes nulls and empty strings alike: quoted if everything is, else unquoted.
    empty = "" if dialect["quote_all"] else None
    return dict(zip(names_of(table, dialect), ([text or empty for text in column] for column in columns)))


def _duckdb(path, table, dialect):
    connection = duckdb_connection()
    connection.register("t", table)
    options = f"DELIMITER '{dialect['delimiter']}', HEADER {dialect['header']}"
    quote = "''''" if dialect["quote"] == "'" else f"'{dialect['quote']}'"
    options += f", QUOTE {quote}, ESCAPE {quote}"
    if dialect["quote_all"]:
        options += ", FORCE_QUOTE *"
    connection.execute(f"COPY t TO '{path}' (FORMAT csv, {options})")
    casts = ", ".join(f'CAST("{name}" AS VARCHAR) AS "{name}"' for name in table.column_names)
    texts = connection.sql(f"SELECT {casts} FROM t").to_arrow_table()
    return dict(zip(names_of(table, dialect), (column.to_pylist() for column in texts.columns)))


def _polars(path, table, dialect):
    import polars

    # Polars has no UUIDs.
    as_text = lambda column: pa.array(_texts(column), pa.string()) if column.type == pa.uuid() else column
    frame = polars.from_arrow(pa.table({name: as_text(table[name]) for name in table.column_names}))
    style = "non_numeric" if dialect["quote_all"] else "necessary"
    frame.write_csv(
        path,
        separator=dialect["delimiter"],
        quote_char=dialect["quote"],
        include_header=dialect["header"],
        line_terminator=dialect["line_end"],
        include_bom=dialect["bom"],
        quote_style=style,
    )
    # Polars writes the shortest round-trip digits of 32-bit floats.
    short = lambda column: column.cast(pa.string()) if pa.types.is_float32(column.type) else column
    return dict(zip(names_of(table, dialect), (_texts(short(column)) for column in table.columns)))


WRITERS = {"python": _python, "duckdb": _duckdb, "polars": _polars}
