#!/usr/bin/env python3
"""Measures how fast brc reads text and binary PPM images, compared with a raw read, netpbm and Pillow.

    apt-get install netpbm; python3 -m venv /tmp/ppm && /tmp/ppm/bin/pip install pillow
    /tmp/ppm/bin/python scripts/bench-ppm.py [--sizes 0.3,5,56,1000] [--runs 15] [--data DIR]
                                             [--out bench-results/DATE-ppm]

The sizes are those of the text, in MB. The samples are random bytes, the worst case for branch prediction. RAW, P3 and
P6 are measured within one process (`examples/ppm_floor.rs`) that reads the file again in each run: RAW only reads the
bytes; the others parse and validate them and deliver all columns. netpbm (`pnmtopnm -plain` from P6 and `pnmtopnm` from
P3, both to P6; `ppmtoppm` only copies) is timed as a whole process, and Pillow (open and load) as a call. "Cold" means
that the file was dropped from the page cache before each run. Cycles are computed from the clock rate measured just
before, as virtual machines often have no cycle counter. The runs of all rows are interleaved.
"""

import argparse
import datetime
import json
import math
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The 97.5 % quantile of Student's t-distribution by degrees of freedom; 1.96 beyond the table.
STUDENT = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09]


def build():
    for arguments in (["-p", "brc-cli"], ["-p", "brc-encodings", "--example", "ppm_floor"]):
        subprocess.run(["cargo", "build", "--release", "--locked", *arguments], cwd=ROOT, check=True)
    target = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release")
    return os.path.join(target, "brc"), os.path.join(target, "examples", "ppm_floor")


def make_images(brc, data, size):
    """A binary image, and the same image as text of about `size` MB."""
    pixels = int(size * 1e6 / 10.71)
    width = max(1, math.isqrt(pixels * 3 // 2))
    height = max(1, pixels // width)
    p6, p3 = (os.path.join(data, f"{size:g}-{form}.ppm") for form in ("p6", "p3"))
    if not os.path.exists(p6):
        with open(p6, "wb") as file:
            file.write(b"P6\n%d %d\n255\n" % (width, height))
            for _ in range(height):
                file.write(random.randbytes(3 * width))
    if not os.path.exists(p3):
        subprocess.run([brc, "convert", p6, p3, "--ascii", "--no-sync"], check=True, stderr=subprocess.DEVNULL)
    return {"P6": p6, "P3": p3}


def forget(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def in_process(floor, mode, threads):
    def run(path):
        out = subprocess.run([floor, mode, path, str(threads), "1"], stdout=subprocess.PIPE, check=True, text=True).stdout
        _, clock, nanoseconds = out.split()
        return float(nanoseconds), float(clock)
    return run


def process(*command):
    def run(path):
        with open(path, "rb") as file:
            start = time.perf_counter_ns()
            subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, check=True)
            return time.perf_counter_ns() - start, None
    return run


def pillow(path):
    from PIL import Image
    Image.MAX_IMAGE_PIXELS = None
    start = time.perf_counter_ns()
    with Image.open(path) as image:
        image.load()
    return time.perf_counter_ns() - start, None


def rows(floor, threads, size):
    """Name, format, how to run it, and the maximum number of runs."""
    listed = []
    for count in sorted({1, threads}):
        of = f", {count} thread{'s' * (count > 1)}"
        listed += [(f"RAW P3{of}", "P3", in_process(floor, "raw", count), None)]
        listed += [(f"brc P3{of}", "P3", in_process(floor, "table", count), None)]
        listed += [(f"RAW P6{of}", "P6", in_process(floor, "raw", count), None)]
        listed += [(f"brc P6{of}", "P6", in_process(floor, "table", count), None)]
    few = 3 if size > 20 else None
    listed += [("netpbm pnmtopnm P3", "P3", process("pnmtopnm"), few), ("netpbm ppmtoppm P3", "P3", process("ppmtoppm"), few)]
    listed += [("netpbm pnmtopnm P6", "P6", process("pnmtopnm"), few), ("Pillow P6", "P6", pillow, few)]
    if size < 100:
        listed += [("Pillow P3", "P3", pillow, few)]
    return listed


def measure(listed, images, runs, is_cold):
    times = {name: [] for name, *_ in listed}
    clocks = []
    for turn in range(-1, runs):
        for name, form, run, most in listed:
            if most and turn >= most:
                continue
            if is_cold:
                forget(images[form])
            nanoseconds, clock = run(images[form])
            if turn >= 0:
                times[name].append(nanoseconds)
                clocks += [clock] if clock else []
    return times, statistics.median(clocks)


def summary(nanoseconds, size, clock):
    mean = statistics.fmean(nanoseconds)
    count = len(nanoseconds)
    quantile = STUDENT[count - 2] if 2 <= count <= len(STUDENT) + 1 else 1.96
    half = quantile * statistics.stdev(nanoseconds) / math.sqrt(count) if count > 1 else float("nan")
    return {
        "runs": count, "mean_ns": mean, "half_ns": half, "median_ns": statistics.median(nanoseconds), "bytes": size,
        "cycles_per_byte": mean * clock / size, "half_cycles": half * clock / size, "gigabytes_per_second": size / mean,
        "nanoseconds": nanoseconds,
    }


def table(results):
    lines = []
    for result in results:
        cache = "cold" if result["cold"] else "warm"
        lines += [f"### {result['size']:g} MB of text, {cache}", ""]
        lines += ["| | cycles a byte | 95 % of the mean | GB/s | runs |", "|---|---:|---:|---:|---:|"]
        for name, row in result["rows"].items():
            lines.append(
                f"| {name} | {row['cycles_per_byte']:.2f} | ± {row['half_cycles']:.2f} "
                f"| {row['gigabytes_per_second']:.2f} | {row['runs']} |"
            )
        lines.append("")
    return "\n".join(lines)


def environment(clock):
    def first_line(*command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.stdout.splitlines()[0] if done.stdout else "?"
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    import PIL
    return {
        "processor": model, "cores": os.cpu_count(), "clock in GHz": round(clock, 2), "kernel": platform.release(),
        "rustc": first_line("rustc", "--version"), "netpbm": first_line("pnmtopnm", "--version"),
        "Pillow": PIL.__version__, "commit": first_line("git", "-C", ROOT, "rev-parse", "--short", "HEAD"),
        "load before": os.getloadavg()[0],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="0.3,5,56,1000")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--data")
    parser.add_argument("--no-build", nargs=2, metavar=("BRC", "PPM_FLOOR"), help="use these binaries")
    parser.add_argument("--out", default=os.path.join(ROOT, "bench-results", f"{datetime.date.today()}-ppm"))
    options = parser.parse_args()
    brc, floor = options.no_build or build()
    load = os.getloadavg()[0]
    results, clocks = [], []
    with tempfile.TemporaryDirectory() as scratch:
        data = options.data or scratch
        os.makedirs(data, exist_ok=True)
        for size in map(float, options.sizes.split(",")):
            images = make_images(brc, data, size)
            for is_cold in (False, True):
                listed = rows(floor, options.threads, size)
                times, clock = measure(listed, images, options.runs, is_cold)
                clocks.append(clock)
                forms = {name: form for name, form, *_ in listed}
                found = {name: summary(t, os.path.getsize(images[forms[name]]), clock) for name, t in times.items()}
                results.append({"size": size, "cold": is_cold, "rows": found})
                print(table(results[-1:]), file=sys.stderr)
    about = environment(statistics.median(clocks)) | {"load before": load}
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "results.json"), "w") as file:
        json.dump({"environment": about, "results": results}, file, indent=1)
    with open(os.path.join(options.out, "README.md"), "w") as file:
        facts = "\n".join(f"- {key}: {value}" for key, value in about.items())
        file.write(f"# PPM images\n\nMade by `scripts/bench-ppm.py`, whose first lines tell how.\n\n{facts}\n\n{table(results)}")


if __name__ == "__main__":
    main()
