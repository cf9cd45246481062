"""Runs work in separate processes, timed or not."""

import multiprocessing
import os
import subprocess
import time


def run(command, threads, stdin=None, timed_by_itself=False):
    """The seconds of the whole process, or those that it reports itself, and its peak memory in bytes."""
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


# Short operations are repeated up to this number of times or seconds, as single samples vary.
MOST_RUNS = 9
A_WHILE = 0.5


def repeated(sample, runs):
    """At least `runs` samples of `sample`, which returns seconds and another value, after one warm-up."""
    sample()
    samples = []
    while len(samples) < runs or (len(samples) < MOST_RUNS and sum(seconds for seconds, _ in samples) < A_WHILE):
        samples.append(sample())
    return samples


def apart(function, *arguments):
    """Runs a function in a separate process, as its memory would otherwise count towards later child processes."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)
