"""Comparisons of encodings."""

import os
import re
import subprocess
import sys
import tempfile

from . import _brc


def _words(options):
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            yield option
        elif isinstance(value, (list, tuple)):
            yield f"{option}={','.join(map(str, value))}"
        elif value is not None and value is not False:
            yield f"{option}={value}"


def _failure(code, said):
    """What the program said, as an exception."""
    said = said.strip().removeprefix("brc: ").removeprefix("error: ")
    refused = re.match(r"(?P<path>.*): [^:]*: .* \(os error (?P<number>\d+)\)$", said.split("\n")[0])
    if refused:
        number = int(refused["number"])
        return OSError(number, os.strerror(number), refused["path"])
    lines = said.split("\nUsage:")[0].split("\nFor more information")[0].split("\n")
    kind = {2: _brc.UsageError, 3: _brc.BadRowError, 4: _brc.CorruptFileError}.get(code, _brc.Error)
    return kind("; ".join(line.strip() for line in lines if line.strip()))


def compare(*paths, out=None, **options):
    """Measures which encoding suits files best, and returns the results as a table with a row for each encoding, compression
    and query. The options are those of ``brc compare``: ``rows``, ``encodings``, ``compressions``, ``query``, ``runs`` …; ``out``
    keeps the reports in a directory.

    Each measurement is a process of its own.
    """
    with tempfile.TemporaryDirectory() as temporary:
        directory = os.fspath(out) if out is not None else os.path.join(temporary, "comparison")
        words = [*_words(options), f"--out={directory}", "--", *map(os.fspath, paths)]
        command = [sys.executable, "-m", "brc", "compare", *words]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        results = os.path.join(directory, "results.csv")
        if ran.returncode == 2 or not os.path.exists(results):
            raise _failure(ran.returncode, ran.stderr)
        with open(results, "rb") as file:
            return _brc.open(file.read())
