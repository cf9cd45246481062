"""Tables written in random dialects of CSV by several programs.

Each writer gives what the text says: for every column its name and the texts of its fields, with None for a null. An
empty field without quotes is a null, whatever the program took it from; `""` is an empty string.
"""

import csv
import io

import pyarrow as pa

from .readers import duckdb_connection

DELIMITERS = [",", ",", ";", "\t", "|"]


def random_dialect(rng, program):
    """What a program can be told of how to write."""
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
    if program == "polars":
        dialect["line_end"] = rng.choice(["\n", "\r\n"])
        dialect["bom"] = rng.random() < 0.2
    return dialect


def names_of(table, dialect):
    """The names that the columns get: without a header, numbers."""
    if dialect["header"]:
        return table.column_names
    return [f"column_{number + 1}" for number in range(table.num_columns)]


def _texts(column):
    """Values as Python writes them; None for nulls."""
    return [None if value is None else _text(value) for value in column.to_pylist()]


def _text(value):
    if isinstance(value, bool):
        return str(value).lower()
    if hasattr(value, "isoformat"):
        return str(value)
    return f"{value:f}" if type(value).__name__ == "Decimal" else str(value)


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
    if not dialect["last_line_end"]:
        text = text.removesuffix(dialect["line_end"])
    path.write_bytes(text.encode(dialect["encoding"]))
    # Python writes nulls and empty strings alike: with quotes if all have some, else without.
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

    frame = polars.from_arrow(table)
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
    return dict(zip(names_of(table, dialect), (_texts(column) for column in table.columns)))


WRITERS = {"python": _python, "duckdb": _duckdb, "polars": _polars}
