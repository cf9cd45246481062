#!/usr/bin/env python3
"""Checks that `brc` reads and writes files in an object store like local ones, and with few requests.

    scripts/check-stores.py target/release/brc

The store is moto's Amazon S3 (PyPI: moto[s3,server]), which this script starts locally. Invalid server responses are
covered by the tests of the crate brc-store.
"""

import argparse
import functools
import http.server
import itertools
import logging
import os
import re
import subprocess
import tempfile
import threading
from pathlib import Path

import boto3
from moto.server import ThreadedMotoServer

TIMEOUT = 120
BUCKET = "tables"

# For buren: one request for the footer and a few for the blocks a query needs, with little excess.
MOST_REQUESTS = 4
MOST_BYTES = 1.1
# The bytes read together with the footer.
LITTLE = 70_000
# The excess for a clustered row group: bytes that arrive faster than another request would, and a block that turns out
# to contain no selected row.
LITTLE_OF_RUNS = 250_000


class Place:
    """The program, a store, and a directory with the same files."""

    def __init__(self, brc, directory, endpoint):
        self.brc = str(Path(brc).resolve())
        self.directory = Path(directory)
        keys = {"AWS_ACCESS_KEY_ID": "some", "AWS_SECRET_ACCESS_KEY": "secret"}
        self.environment = {**os.environ, **keys, "AWS_ENDPOINT": endpoint, "AWS_ALLOW_HTTP": "true"}
        self.environment.update(AWS_REGION="us-east-1", TMPDIR=str(self.directory))
        self.s3 = boto3.client(
            "s3", endpoint_url=endpoint, region_name="us-east-1",
            aws_access_key_id="some", aws_secret_access_key="secret",
        )
        self.s3.create_bucket(Bucket=BUCKET)

    def run(self, *words, code=0, stdin=None):
        run = subprocess.run(
            [self.brc, *map(str, words)], cwd=self.directory, env=self.environment, timeout=TIMEOUT,
            capture_output=True, input=stdin,
        )
        assert run.returncode == code, f"{words}: {run.returncode}\n{run.stderr.decode()}"
        return run

    def upload(self, name, key=None):
        self.s3.upload_file(str(self.directory / name), BUCKET, key or name)
        return f"s3://{BUCKET}/{key or name}"

    def content(self, key):
        return self.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def keys(self):
        return [found["Key"] for found in self.s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])]


def make_tables(place):
    """Tables whose bytes are read differently: by range, sequentially, decompressed, with and without clustering."""
    place.run("generate", "--preset", "uservisits", "--rows", 400_000, "visits.csv")
    place.run("generate", "--rows", 2_000_000, "measurements.txt")
    place.run("convert", "visits.csv", "visits.buren")
    place.run("convert", "visits.csv", "clustered.buren", "--key", "country_code", "--compression", "lz4")
    place.run("convert", "visits.csv", "visits.parquet", "--compression", "zstd")
    place.run("convert", "visits.csv", "visits.arrow")
    place.run("convert", "measurements.txt", "measurements.buren")
    place.run("query", "visits.csv", "select * order by visit_date", "-o", "sorted.buren")
    place.run("head", "visits.csv", "-n", 5000, "-o", "few.json")
    place.run("head", "visits.csv", "-n", 5000, "-o", "few.avro")
    place.run("convert", "visits.csv", "visits.csv.gz")


VISITS = [
    "select country_code, count(*), sum(ad_revenue), max(visit_date) group by country_code order by 1",
    "select count(*), sum(duration) where country_code = 'USA' and duration < 100",
    "select source_ip, duration where ad_revenue > 999 order by 1, 2 limit 20",
    "select count(distinct search_word), min(user_agent)",
    "select * order by visit_date, source_ip limit 3",
    "select * limit 2",
]
MEASUREMENTS = [
    "select station, min(temperature), mean(temperature), max(temperature) group by station order by 1",
    "select count(*), mean(temperature) where station = 'Hamburg'",
    "select count(*), max(temperature) where temperature > 30",
]


def check_answers(place):
    """Queries give the same results in the store as locally."""
    names = ["visits.buren", "clustered.buren", "sorted.buren", "visits.parquet", "visits.arrow", "visits.csv", "visits.csv.gz"]
    few = [(name, VISITS) for name in ("few.json", "few.avro")]
    files = [(name, VISITS) for name in names] + few + [("measurements.buren", MEASUREMENTS), ("measurements.txt", MEASUREMENTS)]
    for name, questions in files:
        address = place.upload(name)
        for question in questions:
            for options in ([], ["--no-statistics"]):
                here = place.run("query", name, question, *options).stdout
                there = place.run("query", address, question, *options).stdout
                assert here == there, f"{name}: {question}\n{here.decode()[:500]}\n{there.decode()[:500]}"
        # The uncompressed size of a compressed file is unknown until it has been read.
        commands = ["head", "count", "schema", "tail"] + ["verify"] * (not name.endswith(".gz"))
        for command in ([command] for command in commands):
            here, there = (place.run(*command, file).stdout for file in (name, address))
            assert here == there.replace(address.encode(), name.encode()), f"{command} {name}"


def usage(run):
    found = re.search(r"requests +([\d,]+), bytes fetched: ([\d.,]+ \w+), needed: ([\d.,]+ \w+)", run.stderr.decode())
    assert found, run.stderr.decode()
    units = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
    size = lambda text: float(text.split()[0].replace(",", "")) * units[text.split()[1]]
    return int(found[1].replace(",", "")), size(found[2]), size(found[3])


def check_requests(place):
    """A filter that keeps one row group of a buren file reads little more than that row group."""
    place.run("generate", "--preset", "uservisits", "--rows", 3_000_000, "many.csv")
    place.run("query", "many.csv", "select * order by visit_date", "-o", "many.buren")
    place.run("convert", "many.buren", "runs.buren", "--key", "country_code")
    address, of_runs = map(place.upload, ("many.buren", "runs.buren"))
    questions = (
        "select count(*), sum(ad_revenue) where visit_date between date '1990-03-01' and date '1990-04-01'",
        "select max(duration) where visit_date = date '1990-03-01'",
        "select country_code, count(*) where visit_date < date '1970-02-01' group by country_code",
    )
    for file, question in itertools.product((address, of_runs), questions):
        run = place.run("query", file, question, "--explain")
        assert run.stdout == place.run("query", "many.buren", question).stdout
        requests, fetched, needed = usage(run)
        print(f"{requests} requests, {fetched / needed:.2f} bytes for one: {question}")
        assert requests <= MOST_REQUESTS, run.stderr.decode()
        little = LITTLE_OF_RUNS if file == of_runs else LITTLE
        assert fetched <= MOST_BYTES * needed + little, run.stderr.decode()
    run = place.run("query", address, "select sum(duration), count(distinct source_ip)", "--explain")
    requests, fetched, needed = usage(run)
    print(f"{requests} requests, {fetched / needed:.2f} bytes for one: two whole columns")
    assert fetched <= MOST_BYTES * needed + LITTLE, run.stderr.decode()


def check_patterns(place):
    for year in (2023, 2024):
        for part in (1, 2):
            place.run("query", "visits.csv", f"select * limit {year + part}", "-o", f"part-{year}-{part}.parquet")
            place.upload(f"part-{year}-{part}.parquet", f"trips/year={year}/{part}.parquet")
    place.s3.put_object(Bucket=BUCKET, Key="trips/_SUCCESS", Body=b"")
    question = "select year, count(*) group by year order by 1"
    expected = b"2023" , b"4049", b"2024", b"4051"
    for pattern in ("trips/year=*/*.parquet", "trips/", "trips/year=202[34]/?.parquet"):
        answer = place.run("query", f"s3://{BUCKET}/{pattern}", question).stdout
        assert all(word in answer for word in expected), f"{pattern}: {answer}"
    error = place.run("query", f"s3://{BUCKET}/trips/*.csv", "select count(*)", code=2).stderr
    assert b"no file matches this pattern" in error, error


def check_writing(place):
    """A written object appears only once it is complete, with the same bytes as a local file."""
    target = f"s3://{BUCKET}/out/visits.buren"
    place.run("convert", "visits.csv", target)
    assert place.content("out/visits.buren") == (place.directory / "visits.buren").read_bytes()
    error = place.run("convert", "visits.csv", target, code=2).stderr
    assert b"already exists (--force replaces it)" in error, error
    place.run("convert", "measurements.txt", target, "--force")
    assert place.content("out/visits.buren") == (place.directory / "measurements.buren").read_bytes()
    place.run("convert", f"s3://{BUCKET}/visits.csv", f"s3://{BUCKET}/out/again.parquet", "--compression", "zstd")
    assert place.content("out/again.parquet") == (place.directory / "visits.parquet").read_bytes()
    place.run("query", target, "select station, count(*) group by station", "-o", f"s3://{BUCKET}/out/stations.csv")
    local = place.run("query", "measurements.buren", "select station, count(*) group by station", "--format", "csv").stdout
    assert place.content("out/stations.csv") == local
    (place.directory / "bad.csv").write_text("a,b\n" + "1,2\n" * 100_000 + "3\n")
    place.run("convert", "bad.csv", f"s3://{BUCKET}/out/bad.buren", code=3)
    assert "out/bad.buren" not in place.keys()
    uploads = place.s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])
    assert not uploads, uploads
    error = place.run("convert", target, target, "--force", code=2).stderr
    assert b"input and output are the same file" in error, error
    for words in (["convert", "visits.csv", target, "--append"], ["convert", "visits.csv", f"s3://{BUCKET}/p", "--partition-by", "country_code"]):
        assert b"local" in place.run(*words, code=2).stderr


def check_errors(place):
    error = place.run("query", f"s3://{BUCKET}/nothing.buren", "select count(*)", code=1).stderr.decode()
    assert f"s3://{BUCKET}/nothing.buren: cannot open: there is no such file" in error, error
    error = place.run("query", "s3://nowhere/x.csv", "select count(*)", code=1).stderr.decode()
    assert "there is no such file" in error, error
    damaged = bytearray((place.directory / "visits.buren").read_bytes())
    damaged[len(damaged) // 3] ^= 1
    place.s3.put_object(Bucket=BUCKET, Key="damaged.buren", Body=bytes(damaged))
    error = place.run("verify", f"s3://{BUCKET}/damaged.buren", code=4).stderr.decode()
    assert "corrupt file" in error, error


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def check_web(place):
    """A web server without range requests: files are read sequentially, and copied where ranges are needed."""
    handler = functools.partial(Quiet, directory=str(place.directory))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    # The client closes the connection when its range request is ignored.
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in ("visits.buren", "visits.csv", "visits.csv.gz", "visits.parquet"):
        address = f"http://127.0.0.1:{server.server_port}/{name}?signature=1"
        assert place.run("query", address, VISITS[0]).stdout == place.run("query", name, VISITS[0]).stdout, name
    error = place.run("query", f"http://127.0.0.1:{server.server_port}/nothing.csv", "select count(*)", code=1).stderr
    assert b"there is no such file" in error, error
    error = place.run("convert", "visits.csv", f"http://127.0.0.1:{server.server_port}/x.buren", code=2).stderr
    assert b"does not write" in error, error
    server.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("brc")
    brc = parser.parse_args().brc
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with tempfile.TemporaryDirectory() as directory:
        place = Place(brc, directory, f"http://{host}:{port}")
        make_tables(place)
        for check in (check_answers, check_requests, check_patterns, check_writing, check_errors, check_web):
            check(place)
            print(f"{check.__name__}: well")
    server.stop()


main()
