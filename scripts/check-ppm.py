#!/usr/bin/env python3
"""Passes random images through brc, netpbm and Pillow in both directions, and compares the results.

    apt-get install netpbm; python3 -m venv /tmp/ppm && /tmp/ppm/bin/pip install pillow
    /tmp/ppm/bin/python scripts/check-ppm.py target/release/brc [COUNT]
"""

import io
import os
import random
import subprocess
import sys
import tempfile

from PIL import Image


def run(*command, data=None):
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def brc_convert(brc, image, name, *options):
    """The image as `brc` writes it after converting it via that file."""
    with tempfile.TemporaryDirectory() as place:
        paths = [os.path.join(place, file) for file in ("in.ppm", name, "out.ppm")]
        with open(paths[0], "wb") as file:
            file.write(image)
        for source, target in zip(paths, paths[1:]):
            extra = options if target == paths[2] else ()
            subprocess.run([brc, "convert", source, target, *extra], check=True, stderr=subprocess.DEVNULL)
        with open(paths[2], "rb") as file:
            return file.read()


def pixels(image):
    """Size and samples of an image with one byte per sample, as read by Pillow."""
    opened = Image.open(io.BytesIO(image))
    return opened.size, opened.convert("RGB").tobytes()


def check(brc, chance):
    width, height = chance.randint(1, 90), chance.randint(1, 60)
    maximum = chance.choice([255, 255, 255, 1, 100, 256, 1000, 65535])
    size = 1 if maximum < 256 else 2
    samples = b"".join(chance.randint(0, maximum).to_bytes(size, "big") for _ in range(3 * width * height))
    binary = b"P6\n%d %d\n%d\n" % (width, height, maximum) + samples
    plain = run("pnmtopnm", "-plain", data=binary)
    name = chance.choice(["t.buren", "t.parquet", "t.arrow", "t.ppm", "t.ppm.gz"])
    ours = brc_convert(brc, binary, name, "--ascii")
    results = {
        "brc: netpbm's binary": brc_convert(brc, run("pnmtopnm", data=binary), name),
        "brc: netpbm's text": brc_convert(brc, plain, name),
        "netpbm: brc's text": run("pnmtopnm", data=ours),
        "netpbm: brc's binary": run("pnmtopnm", data=brc_convert(brc, binary, name)),
    }
    for what, result in results.items():
        assert result == binary, f"{what}: {width}x{height}, {maximum}, {name}"
    if maximum == 255:
        by_pillow = io.BytesIO()
        Image.frombytes("RGB", (width, height), samples).save(by_pillow, "PPM")
        assert brc_convert(brc, by_pillow.getvalue(), name) == binary, "brc: Pillow's binary"
        for what, image in [("text", ours), ("binary", results["brc: netpbm's binary"])]:
            assert pixels(image) == ((width, height), samples), f"Pillow: brc's {what}"


def main():
    brc, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50
    for seed in range(count):
        check(brc, random.Random(seed))
    print(f"{count} images came back equal")


if __name__ == "__main__":
    main()
