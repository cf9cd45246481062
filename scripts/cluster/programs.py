"""A Ballista cluster on this machine: `brc-scheduler` and `brc-executor` processes."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from cluster.store import fetch

# For programs to start or stop, in seconds.
LIMIT = 60
# The scheduler gives up on an executor after this many seconds without a heartbeat.
EXECUTOR_TIMEOUT = 8
# The scheduler assigns a stage's tasks round-robin, even where one executor could take them all.
DISTRIBUTION = "round-robin"


def wait(what, is_so, limit=LIMIT):
    start = time.monotonic()
    while not is_so():
        if time.monotonic() - start > limit:
            raise RuntimeError(f"{what}: not within {limit} s")
        time.sleep(0.02)


class Executor:
    def __init__(self, name, process, directory):
        self.name, self.process, self.directory = name, process, directory


class Cluster:
    """A scheduler, and executors with two slots each. A context manager: all programs are stopped on exit."""

    def __init__(self, programs, network, directory, environment):
        self.programs, self.network, self.directory, self.environment = Path(programs), network, Path(directory), environment
        self.executors, self.lost, self.count = [], [], 0
        host, self.before = network.join("scheduler")
        self.address = f"{host}:{network.port()}"
        self._begin()

    def _begin(self):
        host, port = self.address.split(":")
        self.scheduler = self._start("scheduler", self.before, [
            "brc-scheduler", "--bind-host", host, "--external-host", host, "--bind-port", port,
            "--executor-timeout-seconds", EXECUTOR_TIMEOUT, "--expire-dead-executor-interval-seconds", 1,
            "--task-distribution", DISTRIBUTION,
        ])
        try:
            wait("the scheduler starts", lambda: self._is_up("scheduler", self.scheduler))
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _start(self, name, before, words):
        program, *words = words
        command = [*before, self.programs / program, *words, "--log-level-setting", "WARN"]
        with open(self.log(name), "wb") as log:
            outputs = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            return subprocess.Popen(list(map(str, command)), env=self.environment, **outputs)

    def log(self, name):
        return self.directory / f"{name}.log"

    def _is_up(self, name, process):
        if process.poll() is not None:
            raise RuntimeError(f"{name} ended:\n{self.log(name).read_text(errors='replace')[-2000:]}")
        try:
            self.api("state")
        except OSError:
            return False
        return True

    def api(self, path):
        return json.loads(fetch(f"http://{self.address}/api/{path}"))

    def known(self):
        return {executor["id"] for executor in self.api("executors")}

    def grow(self):
        """Starts an executor; waits until it is registered with the scheduler."""
        self.count += 1
        name = f"executor-{self.count}"
        host, before = self.network.join(name)
        directory = self.directory / name
        directory.mkdir()
        scheduler_host, scheduler_port = self.address.split(":")
        process = self._start(name, before, [
            "brc-executor", "--id", name, "--bind-host", host, "--external-host", host,
            "--scheduler-host", scheduler_host, "--scheduler-port", scheduler_port, "--bind-port", self.network.port(),
            "--bind-grpc-port", self.network.port(), "--bind-health-port", self.network.port(), "--work-dir", directory,
            "--vcores", 2, "--executor-heartbeat-interval-seconds", 1,
        ])
        self.executors.append(Executor(name, process, directory))
        wait(f"{name} starts", lambda: self._is_up(name, process) and name in self.known())

    def kill(self, executor):
        """Kills an executor with SIGKILL."""
        self.executors.remove(executor)
        self.lost.append(executor)
        end(executor.process)

    def settle(self, executors):
        """Starts executors up to the given number; waits until exactly these are registered with the scheduler."""
        while len(self.executors) < executors:
            self.grow()
        names = {executor.name for executor in self.executors}
        wait("the scheduler notices which executors are there", lambda: self.known() == names)
        self._forget_lost()

    def _forget_lost(self):
        while self.lost:
            executor = self.lost.pop()
            self.network.leave(executor.name)
            shutil.rmtree(executor.directory, ignore_errors=True)

    def restart(self):
        """Starts a new scheduler at the same address, without executors: the old one may hang."""
        self.close()
        self.lost, self.executors = self.executors + self.lost, []
        self._forget_lost()
        self._begin()

    def jobs(self):
        return {job["job_id"]: job for job in self.api("jobs")}

    def stages(self, job):
        """The number of each stage of a job, and its seconds from the first task's launch to the last task's end."""
        found = {}
        for stage in self.api(f"job/{job}/stages")["stages"]:
            tasks = [task for task in stage.get("tasks") or [] if task and task["finish_time"]]
            begin = min((task["launch_time"] for task in tasks), default=0)
            found[int(stage["stage_id"])] = (max((task["finish_time"] for task in tasks), default=0) - begin) / 1000
        return dict(sorted(found.items()))

    def written(self, job, executors=None):
        """The files that executors have written for a job, by stage number, with their sizes in bytes."""
        found = {}
        for executor in executors or self.executors + self.lost:
            place = executor.directory / job
            for directory, _, files in os.walk(place):
                for file in files:
                    path = Path(directory, file)
                    found[int(path.relative_to(place).parts[0]), str(path)] = size(path)
        return found

    def close(self):
        for executor in self.executors + self.lost:
            end(executor.process)
        end(self.scheduler)


def size(path):
    """The size of a file; 0 if it has just been removed."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def end(process):
    process.kill()
    process.wait(LIMIT)
