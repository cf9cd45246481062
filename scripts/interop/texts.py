"""Compares typed values with the texts they were read from."""

from datetime import date, datetime, time
from decimal import Decimal

import pyarrow as pa


NULL_TOKENS = {"", "-", "--", ".", "?", "NA", "N/A", "n/a", "NULL", "null", "None", "NaN", "nan", "(null)", "\\N", "#N/A"}


def _is_same(value, text):
    """Whether a value equals the meaning of a field's text."""
    if value is None or text is None:
        return value is None and text is None
    if isinstance(value, str):
        return value == text
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if isinstance(value, (int, Decimal)):
        return Decimal(text) == value
    if isinstance(value, float):
        return float(text) == value or value != value and text.lower() == "nan"
    if isinstance(value, datetime):
        return datetime.fromisoformat(text) == value
    if isinstance(value, date):
        return date.fromisoformat(text) == value
    if isinstance(value, time):
        return time.fromisoformat(text) == value
    raise TypeError(f"a value of {type(value)}")


def assert_texts(found, expected):
    """Asserts that a table has the names of these text columns and the values they mean."""
    assert found.column_names == list(expected), f"columns {found.column_names} instead of {list(expected)}"
    rows = len(next(iter(expected.values())))
    assert found.num_rows == rows, f"{found.num_rows} rows instead of {rows}"
    for name, texts in expected.items():
        is_text = pa.types.is_string(found[name].type)
        for row, (value, text) in enumerate(zip(found[name].to_pylist(), texts)):
            # Words for missing values are null in columns of numbers, dates and booleans.
            if not is_text and value is None and text in NULL_TOKENS:
                text = None
            assert _is_same(value, text), f"column '{name}' ({found[name].type}), row {row}: {value!r} instead of {text!r}"
