"""Runs wrk on lists of requests."""

import http.client
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from .servers import Server

SCRIPT = Path(__file__).with_name("walk.lua")


@dataclass(frozen=True)
class Request:
    path: str
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def line(self) -> str:
        return "\t".join([self.path, *(f"{name}: {value}" for name, value in self.fields)])


@dataclass(frozen=True)
class Mix:
    """Requests in a file, with the status that all of them must get."""

    file: Path
    status: int
    sample: Sequence[Request]


@dataclass(frozen=True)
class Load:
    # Correct responses only.
    per_second: float
    # Per second of the worker's processor time: other processes change it little, and wrk cannot be the limit.
    per_processor_second: float
    # 99th percentile of the response time, in milliseconds.
    p99: float
    asked: int
    failed: int


def have_wrk() -> bool:
    return shutil.which("wrk") is not None


def mix(file: Path, requests: Iterable[Request], status: int = 200) -> Mix:
    requests = list(requests)
    file.write_text("".join(f"{one.line}\n" for one in requests))
    return Mix(file, status, list(islice(requests, 0, None, max(1, len(requests) // 50))))


def check(server: Server, asked: Mix) -> None:
    """Check a sample of responses; a wrong response may be fast."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        for one in asked.sample:
            connection.request("GET", one.path, headers=dict(one.fields))
            answer = connection.getresponse()
            answer.read()
            if answer.status != asked.status:
                raise SystemExit(f"bench: {server.name}: {one}: status {answer.status} instead of {asked.status}")


def run(server: Server, asked: Mix, *, connections: int, seconds: int) -> Load:
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "-s", str(SCRIPT)]
    command += [f"http://127.0.0.1:{server.port}", "--", str(asked.file)]
    before = server.processor_time()
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    processor = server.processor_time() - before
    requests, taken, p99, failed = map(int, output.splitlines()[-1].split())
    correct = requests - failed
    return Load(correct / taken * 1e6, correct / processor * 1e9, p99 / 1e3, requests, failed)


def failures(what: str, loads: Sequence[Load]) -> list[str]:
    """A remark about wrong responses, if there were any."""
    asked, failed = sum(one.asked for one in loads), sum(one.failed for one in loads)
    return [f"**{what}: {failed:,} of {asked:,} responses were wrong** and are not counted."] if failed else []
