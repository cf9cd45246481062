"""Comparisons of encodings."""

import os
import re
import subprocess
import sys
import tempfile

from . import _brc


def _failure(code, message):
    """The error message of the program as an exception."""
    message = message.strip().removeprefix("brc: ").removeprefix("error: ")
    refused = re.match(r"(?P<path>.*): [^:]*: .* \(os error (?P<number>\d+)\)$", message.split("\n")[0])
    if refused:
        number = int(refused["number"])
        return OSError(number, os.strerror(number), refused["path"])
    lines = message.split("\nUsage:")[0].split("\nFor more information")[0].split("\n")
    kind = {2: _brc.UsageError, 3: _brc.BadRowError, 4: _brc.CorruptFileError}.get(code, _brc.Error)
    return kind("; ".join(line.strip() for line in lines if line.strip()))


def compare(*paths, out=None, **options):
    """Measures which encoding suits files best; returns a table with one row per encoding, compression and query. The
    options are those of ``brc compare``: ``rows``, ``encodings``, ``compressions``, ``query``, ``runs`` …;
    ``out`` is a directory in which to keep the reports.

    Each measurement runs in a separate process.
    """
    with tempfile.TemporaryDirectory() as temporary:
        directory = os.fspath(out) if out is not None else os.path.join(temporary, "comparison")
        words = [*_brc.option_words(**options), f"--out={directory}", "--", *map(os.fspath, paths)]
        command = [sys.executable, "-m", "brc", "compare", *words]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        results = os.path.join(directory, "results.csv")
        if ran.returncode == 2 or not os.path.exists(results):
            raise _failure(ran.returncode, ran.stderr)
        with open(results, "rb") as file:
            return _brc.open(file.read())
