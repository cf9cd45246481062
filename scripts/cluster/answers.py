"""Results of `brc-sql`, and how to compare them."""

import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from interop.clickbench import difference, window, without_limit

# For a process that runs a batch of queries, in seconds.
LIMIT = 150
# Queries per process.
BATCH = 12


class Question:
    """A query's name, its text, and the result columns it is ordered by; None if it is ordered by other columns."""

    def __init__(self, name, text, keys):
        self.name, self.text, self.keys = name, text, keys

    def whole(self):
        """The query without its limit."""
        return without_limit(self.text)

    def reference(self):
        """The query with its sort keys as additional columns."""
        hidden = re.search(r"(?i) order by (.*)$", self.whole())[1].split(", ") if self.keys is None else []
        more = "".join(f", {key} as hidden_{at}" for at, key in enumerate(hidden))
        return re.sub(r"(?i)\sfrom\s", f"{more} from ", self.whole(), count=1), len(hidden)


class Client:
    """`brc-sql` with files as tables, on this machine or, with `--cluster`, on a scheduler's cluster."""

    def __init__(self, program, tables, environment, *more):
        files = [f"{table}={address}" for table, address in tables.items()]
        self.command = [str(word) for word in (program, *files, "--format", "json", "--timer", *more)]
        self.environment = environment

    def start(self, statements):
        command = [*self.command, ";\n".join(statements)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)

    def finish(self, process, limit=LIMIT):
        """The results of the successful queries, the error of the next one, and the seconds of each statement."""
        try:
            out, err = process.communicate(timeout=limit)
            failed = None
            if process.returncode:
                message = re.sub(r"(?m)^\d+ rows in [\d.]+ s\n?", "", err).strip()
                failed = message[:2000] or f"status {process.returncode}"
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            failed = f"no answer within {limit} s"
        finally:
            process.kill()
            process.wait()
        seconds = [float(found) for found in re.findall(r"(?m)^\d+ rows in ([\d.]+) s$", err)]
        return list(arrays(out)), failed, seconds

    def ask(self, questions, settings=()):
        """The result of each query, or an error message. Queries after a failed one are run again."""
        answers = []
        while len(answers) < len(questions):
            batch = questions[len(answers) : len(answers) + BATCH]
            found, failed, _ = self.finish(self.start([*settings, *batch]))
            answers += found[: len(batch)]
            if len(found) < len(batch):
                answers.append(failed or "no answer")
        return answers


def arrays(text):
    """Parses consecutive JSON arrays; numbers keep their text."""
    decoder = json.JSONDecoder(parse_float=str)
    at = 0
    while at < len(text.rstrip()):
        try:
            found, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield found
        at += len(text[at:]) - len(text[at:].lstrip())


class Reference:
    """The result on one machine: all rows, in order, and the types of their columns."""

    def __init__(self, question, types, rows, hidden):
        self.question = question
        self.columns = [column["column_name"] for column in types]
        self.floats = [column["data_type"].startswith("Float") for column in types]
        shown = len(self.columns) - hidden
        rows = [self._row(row) for row in rows]
        keys = range(shown, len(self.columns)) if question.keys is None else question.keys
        self.keys = [tuple(row[key] for key in keys) for row in rows]
        self.rows = [row[:shown] for row in rows]
        self.shown = shown

    def _row(self, row, shown=None):
        """Rounds floats to ten digits, as sums depend on the order of addition; other values are compared as text."""
        values = [row.get(column) for column in self.columns[:shown]]
        return tuple(float(f"{float(value):.10g}") if is_float and value is not None else value
                     for value, is_float in zip(values, self.floats))

    def difference(self, answer, is_whole=False):
        """Describes the first difference from the expected result; None if there is none."""
        if isinstance(answer, str):
            return answer
        start, end = (0, None) if is_whole else window(self.question.text)
        rows = [self._row(row, self.shown) for row in answer]
        surplus = {column for row in answer for column in row} - set(self.columns)
        return f"columns {sorted(surplus)}" if surplus else difference(rows, self.rows, self.keys, start, end)


def references(client, questions):
    """The results of all queries on one machine."""
    asked = []
    for question in questions:
        text, _ = question.reference()
        asked += [f"create or replace view answer as {text}", "describe answer", text]
    answers, each = [], 3 * BATCH
    for first in range(0, len(asked), each):
        found, failed, _ = client.finish(client.start(asked[first : first + each]))
        if failed:
            raise RuntimeError(f"one machine: {failed}")
        answers += found
    # A view has no result.
    pairs = zip(answers[::2], answers[1::2])
    return [Reference(question, types, rows, question.reference()[1]) for question, (types, rows) in zip(questions, pairs)]


def timed(client, text, watch, limit):
    """Runs a query in a separate, monitored process; returns its result or error message, and its seconds."""
    start = time.perf_counter()
    process = client.start([text])
    # Output is read continuously, so that the process never blocks on a full pipe.
    with ThreadPoolExecutor(1) as pool:
        finished = pool.submit(client.finish, process, limit)
        try:
            watch(process)
        finally:
            if sys.exc_info()[0]:
                process.kill()
            found, failed, seconds = finished.result()
    if failed or not found:
        return failed or "no answer", time.perf_counter() - start
    return found[0], seconds[-1]
