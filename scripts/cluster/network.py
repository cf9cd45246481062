"""The network of a cluster: a network namespace per machine, or loopback for all."""

import ctypes
import os
import random
import shutil
import socket
import subprocess

CLONE_NEWNET = 0x40000000
# Below the ephemeral port range, so that no outgoing connection takes one of these ports.
PORTS = range(15_000, 30_000)


class Loopback:
    """All members on the loopback address, with different ports."""

    name = "all programs on loopback"
    hub = "127.0.0.1"

    def __init__(self):
        self.used = set()

    def join(self, _):
        """The address of a new member, and the command prefix to run programs on it."""
        return self.hub, []

    def port(self):
        while True:
            port = random.choice(PORTS)
            if port not in self.used and is_free(port):
                self.used.add(port)
                return port

    def leave(self, _):
        pass

    def close(self):
        pass


def is_free(port):
    with socket.socket() as listener:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


class Namespaces:
    """A namespace per member, joined by a bridge in one more namespace, which this process enters as well."""

    name = "each program in a network namespace of its own, joined by a bridge"
    hub = "10.0.0.1"

    def __init__(self):
        self.prefix = f"brc-{os.getpid()}"
        self.members, self.ports = [], iter(PORTS)
        try:
            bridge = self._add("hub")
            ip("-n", bridge, "link", "add", "bridge", "type", "bridge")
            ip("-n", bridge, "address", "add", f"{self.hub}/16", "dev", "bridge")
            ip("-n", bridge, "link", "set", "bridge", "up")
            enter(bridge)
        except BaseException:
            self.close()
            raise

    def _add(self, member):
        namespace = f"{self.prefix}-{member}"
        ip("netns", "add", namespace)
        self.members.append(member)
        ip("-n", namespace, "link", "set", "lo", "up")
        return namespace

    def join(self, member):
        """The address of a new member, and the command prefix to run programs on it."""
        number = next(self.ports)
        bridge, namespace = f"{self.prefix}-hub", self._add(member)
        address = f"10.0.{1 + number // 250 % 250}.{1 + number % 250}"
        ip("-n", bridge, "link", "add", f"v{number}", "type", "veth", "peer", "name", "eth0", "netns", namespace)
        ip("-n", bridge, "link", "set", f"v{number}", "master", "bridge", "up")
        ip("-n", namespace, "address", "add", f"{address}/16", "dev", "eth0")
        ip("-n", namespace, "link", "set", "eth0", "up")
        return address, ["ip", "netns", "exec", namespace]

    def port(self):
        return next(self.ports)

    def leave(self, member):
        if member in self.members:
            ip("netns", "delete", f"{self.prefix}-{member}")
            self.members.remove(member)

    def close(self):
        for member in list(self.members):
            self.leave(member)


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=20)


def enter(namespace):
    """Moves this thread, and the threads and processes it starts, into a namespace."""
    library = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{namespace}", "rb") as file:
        if library.setns(file.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")


def network(wants_namespaces=True):
    """Namespaces if this user may create them, else loopback; prints which."""
    if not wants_namespaces:
        reason = ""
    elif os.geteuid() != 0:
        reason = ": namespaces need root"
    elif not shutil.which("ip"):
        reason = ": there is no program ip (Debian: iproute2)"
    else:
        try:
            found, reason = Namespaces(), None
        except (OSError, subprocess.SubprocessError) as error:
            reason = f": namespaces do not work here: {getattr(error, 'stderr', None) or error}".rstrip()
    if reason is not None:
        found = Loopback()
    print(f"network: {found.name}{reason or ''}", flush=True)
    return found
