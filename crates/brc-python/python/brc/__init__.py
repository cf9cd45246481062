"""Reads, converts and queries tables: CSV and other text, Parquet, Arrow, Avro, JSON, buren and others, in local files,
object stores and on web servers.

>>> import brc
>>> table = brc.open(b"city,price\\nRome,2.50\\nOslo,4.00\\nRome,1.25\\n")
>>> table.schema
{'city': 'string', 'price': 'decimal(18,2)'}
>>> table.query("select city, sum(price) group by city").rows()
[('Oslo', Decimal('4.00')), ('Rome', Decimal('3.75'))]

Rows are exchanged with pyarrow, Polars, pandas, DuckDB and other libraries as Arrow streams; none of them is required.
Keyword arguments are the options of the program ``brc``:
``brc.open(path, delimiter=";", null=["NA"], types={"id": "string"})``.
"""

from ._brc import (
    BadRowError,
    CorruptFileError,
    Error,
    Ledger,
    Result,
    Scan,
    Sniffed,
    Table,
    UnsupportedError,
    UsageError,
    __version__,
    convert,
    open,
    sniff,
    write,
)
from ._compare import compare
from ._polars import scan_polars

__all__ = [
    "BadRowError",
    "CorruptFileError",
    "Error",
    "Ledger",
    "Result",
    "Scan",
    "Sniffed",
    "Table",
    "UnsupportedError",
    "UsageError",
    "__version__",
    "compare",
    "convert",
    "open",
    "query",
    "scan_polars",
    "sniff",
    "write",
]


def query(source, sql, **options):
    """Runs a SQL query on a table; the options are those of ``open``.

    >>> import brc
    >>> brc.query(b"n\\n1\\n2\\n", "select sum(n)").rows()
    [(Decimal('3'),)]
    """
    return open(source, **options).query(sql)


def _reopen(paths, options):
    """Opens a table in another process."""
    return open([*paths], **options)
