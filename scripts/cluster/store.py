"""Storage for table files that all machines of a cluster can read."""

import logging
import os
import shutil
import urllib.request

BUCKET = "tables"


class ObjectStore:
    """moto's Amazon S3, served by this process (PyPI: moto[s3,server])."""

    name = "an object store, moto's Amazon S3"

    def __init__(self, host):
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.server = ThreadedMotoServer(ip_address=host, port=0, verbose=False)
        self.server.start()
        endpoint = "http://{}:{}".format(*self.server.get_host_and_port())
        keys = {"AWS_ACCESS_KEY_ID": "some", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
        self.environment = {**direct(), **keys, "AWS_ENDPOINT": endpoint, "AWS_ALLOW_HTTP": "true"}
        fetch(f"{endpoint}/{BUCKET}", "PUT")

    def address(self, key):
        return f"s3://{BUCKET}/{key}"

    def close(self):
        self.server.stop()


class Directory:
    """A directory, which all programs on this machine share."""

    name = "a directory that all programs see"

    def __init__(self, path):
        self.path, self.environment = path, direct()

    def address(self, key):
        path = self.path / key
        path.parent.mkdir(parents=True, exist_ok=True)
        return str(path) + ("/" if key.endswith("/") else "")

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)


def direct():
    """The environment without proxies, which cannot reach this machine."""
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}


def fetch(address, method="GET", limit=10):
    """The body of a server's response, in bytes."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(address, method=method), timeout=limit) as answer:
        return answer.read()


def store(host, directory):
    """An object store at the address, or a directory if moto is not installed; prints which."""
    try:
        found, reason = ObjectStore(host), ""
    except ImportError as error:
        found, reason = Directory(directory), f": no object store without moto[s3,server] ({error})"
    print(f"tables: in {found.name}{reason}", flush=True)
    return found
