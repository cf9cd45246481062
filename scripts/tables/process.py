"""Processes of their own, timed or not."""

import multiprocessing
import os
import subprocess
import time


def run(command, threads, stdin=None, timed_by_itself=False):
    """Seconds of the whole process, or those that it prints itself, and peak memory in bytes."""
    environment = {**os.environ, "POLARS_MAX_THREADS": str(threads), "RAYON_NUM_THREADS": str(threads)}
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE if timed_by_itself else subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    message = process.stderr.read().decode(errors="replace")
    if status != 0:
        raise RuntimeError(message.strip().splitlines()[-1] if message.strip() else f"status {status}")
    if timed_by_itself:
        seconds = float(process.stdout.read().split()[-1])
    return seconds, usage.ru_maxrss * 1024


# What takes little time is repeated up to so often, until so many seconds are over: single samples of it vary.
MOST_RUNS = 9
A_WHILE = 0.5


def repeated(sample, runs):
    """Samples of what `sample` returns seconds and something else of, at least `runs` of them, after one to warm up."""
    sample()
    samples = []
    while len(samples) < runs or (len(samples) < MOST_RUNS and sum(seconds for seconds, _ in samples) < A_WHILE):
        samples.append(sample())
    return samples


def apart(function, *arguments):
    """What a function returns in a process of its own: the memory that it takes would count as that of all later ones."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)
