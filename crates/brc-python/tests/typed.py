"""Code that must type-check."""

from pathlib import Path
from typing import Any

import brc

table = brc.open(Path("rides.csv"), delimiter=";", types={"id": "string"})
schema: dict[str, str] = table.schema
rows: list[tuple[Any, ...]] = table.query("select sum(fare)").rows()
grouped: brc.Result = table.query(by=["station"], agg="count(*)", order_by="station", limit=5)
scan: brc.Scan = table.scan(columns=["station"], where="fare > 1", limit=10, dictionary=True)
lengths: list[int] = [len(batch) for batch in scan]
ledger: brc.Ledger = brc.convert(table, "rides.parquet", compression="zstd", progress=lambda rows, size: print(rows, size))
stored: int = brc.write(scan, Path("rides.buren"), force=True).rows_stored
dialect: dict[str, str] = brc.sniff(b"a,b").dialect
results: brc.Table = brc.compare("rides.csv", rows=1000)
try:
    brc.open(open("rides.csv", "rb")).verify()
except brc.BadRowError as error:
    place: tuple[str, int, int, str | None, str] = (error.path, error.line, error.byte, error.column, error.reason)
except brc.Error as error:
    hints: list[str] = error.hints
