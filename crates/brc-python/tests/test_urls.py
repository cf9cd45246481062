"""Files on a local web server."""

import functools
import http.server
import pickle
import socket
import threading

import brc
import pytest


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def site(tmp_path):
    (tmp_path / "rides.csv").write_text("city,fare\n" + "Oslo,1.50\nRome,2.25\nOslo,3.00\n" * 5000)
    brc.convert(tmp_path / "rides.csv", tmp_path / "rides.buren")
    handler = functools.partial(Quiet, directory=str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize("name", ["rides.csv", "rides.buren"])
def test_urls_are_tables(site, name):
    table = brc.open(f"{site}/{name}")
    assert len(table) == 15000 and table.columns == ["city", "fare"]
    answer = table.query("select city, sum(fare) group by city order by 1")
    assert [(city, str(fare)) for city, fare in answer.rows()] == [("Oslo", "22500.00"), ("Rome", "11250.00")]
    assert table.query("select count(*)").rows() == table.query("select count(*)").rows() == [(15000,)]
    assert pickle.loads(pickle.dumps(table)).head(1).rows() == table.head(1).rows()


def test_urls_are_sniffed_and_converted(site, tmp_path):
    assert brc.sniff(f"{site}/rides.csv").encoding == "csv"
    ledger = brc.convert(f"{site}/rides.csv", tmp_path / "again.buren")
    assert ledger.rows_stored == 15000
    assert (tmp_path / "again.buren").read_bytes() == (tmp_path / "rides.buren").read_bytes()


def test_stores_that_do_not_answer_are_an_error(monkeypatch):
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    endpoint = f"127.0.0.1:{closed.getsockname()[1]}"
    for name, value in {
        "AWS_ENDPOINT": f"http://{endpoint}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "BRC_STORE_TIMEOUT": "1",
    }.items():
        monkeypatch.setenv(name, value)
    for address in ("s3://bucket/a.parquet", "s3://bucket/*.csv", "s3://bucket/a/", f"http://{endpoint}/a.csv"):
        with pytest.raises((brc.Error, OSError), match="a.parquet|csv|bucket"):
            brc.open(address)


def test_missing_files_are_errors(site):
    with pytest.raises(FileNotFoundError):
        brc.open(f"{site}/nothing.buren")
