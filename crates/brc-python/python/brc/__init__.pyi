from os import PathLike
from typing import Any, TypeAlias

import polars

from ._brc import (
    BadRowError as BadRowError,
    CorruptFileError as CorruptFileError,
    Error as Error,
    Ledger as Ledger,
    Result as Result,
    Scan as Scan,
    Sniffed as Sniffed,
    Table as Table,
    UnsupportedError as UnsupportedError,
    UsageError as UsageError,
    __version__ as __version__,
    convert as convert,
    open as open,
    sniff as sniff,
    write as write,
)
from ._brc import _Source  # pyright: ignore[reportPrivateUsage]

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

_Path: TypeAlias = str | PathLike[str]

def query(source: _Source, sql: str, **options: Any) -> Result: ...
def compare(*paths: _Path, out: _Path | None = None, **options: Any) -> Table: ...
def scan_polars(source: _Source | Table, **options: Any) -> polars.LazyFrame: ...
