"""The summary of all results, as Markdown."""

from .questions import QUESTIONS


def summary(results):
    machine = results["machine"]
    lines = [
        "# Converting CSV, and asking questions", "",
        f"{machine['cores']} cores of an {machine['cpu']}, Linux {machine['kernel']}, {machine['date']}; threads: {results['threads']}; "
        f"warm page cache; medians of {results['runs']} runs or more, made by `scripts/bench-tables.py`, whose text says what is timed. "
        "Peak memory in MiB, sizes in MB (10^6). Each engine builds its answer as a table in memory, `brc` writes it as an Arrow stream; "
        "where DuckDB's shell is a peer, both print CSV. All may answer from statistics: `brc` has counts of a dictionary's values, "
        "with which it answers \"ten URLs\" and \"like in a dictionary\".", "",
    ]
    for table, found in results["tables"].items():
        lines += [f"## {table}: {found['csv_bytes'] / 1e6:,.0f} MB of CSV", ""]
        if "cells" in found:
            lines += conversions(found["cells"])
        if "questions" in found:
            lines += questions(table, found["questions"])
    return "\n".join(lines)


def conversions(cells):
    lines = ["| | s | MB | MiB |", "|---|---:|---:|---:|"]
    for cell in cells:
        if "failure" in cell:
            lines.append(f"| {cell['cell']} | failed: {cell['failure']} | | |")
        else:
            lines.append(f"| {cell['cell']} | {cell['median']:.2f} | {cell['bytes'] / 1e6:.1f} | {cell['memory'] / 2**20:.0f} |")
    return [*lines, ""]


def questions(table, found):
    lines = [
        "Milliseconds; `wanted` and the ratios are the best peer's time by that of `brc`.", "",
        "| | brc, buren | MiB | best peer | which | ratio | wanted | brc, its Parquet | DuckDB, the same Parquet | ratio | brc, CSV | best peer, CSV | ratio |",
        "|---|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for question, (_, wanted) in QUESTIONS[table].items():
        ours, (engine, peer) = found["brc of buren"].get(question), best(found["peers"], question)
        parquet, duckdb = found["brc of parquet"].get(question), found["duckdb of the same parquet"].get(question)
        text, (text_engine, text_peer) = found.get("brc of csv", {}).get(question), best(found.get("peers of csv", {}), question)
        answer = f"{question} (**another answer**)" if question in found["wrong"] else question
        ours_seconds, parquet_seconds, text_seconds = (cell and cell["seconds"] for cell in (ours, parquet, text))
        memory = f"{ours['memory'] / 2**20:.0f}" if ours else ""
        lines.append(
            f"| {answer} | {shown(ours_seconds)} | {memory} | {shown(peer)} | {engine} | {ratio(peer, ours_seconds)} | {wanted} | "
            f"{shown(parquet_seconds)} | {shown(duckdb)} | {ratio(duckdb, parquet_seconds)} | "
            f"{shown(text_seconds)} | {shown(text_peer)} {text_engine.removesuffix('-file')} | {ratio(text_peer, text_seconds)} |"
        )
    return [*lines, ""]


def best(engines, question):
    times = [(seconds[question], engine) for engine, seconds in engines.items() if question in seconds]
    return tuple(reversed(min(times))) if times else ("", None)


def shown(seconds):
    return "" if seconds is None else f"{seconds * 1e3:,.1f}" if seconds < 0.1 else f"{seconds * 1e3:,.0f}"


def ratio(theirs, ours):
    return f"{theirs / ours:.1f}" if theirs and ours else ""
