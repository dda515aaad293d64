"""A real nginx on a loopback port, and a client that sends requests unchanged."""

import os
import re
import select
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from generator.nginx.process import find_js_module, find_nginx
from tests.support import servers
from tests.support.servers import LIMIT

# nginx's folders for requests, for `http { }` of each main file. Those that it was compiled with are root's, and exist
# only where root has started it.
TEMPORARY_PATHS = " ".join(f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
_STARTED = re.compile(r"start worker process \d")


@dataclass(frozen=True)
class Answer:
    """An HTTP response; header names in lower case, repeated ones in order."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def __getitem__(self, name: str) -> str | None:
        values = self.all(name)
        assert len(values) < 2, f"{name} was sent {len(values)} times"
        return values[0] if values else None

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name.lower()]

    @property
    def fields(self) -> dict[str, str]:
        """Every header except Date, which must be present. No header may be repeated."""
        fields = dict(self.headers)
        assert len(fields) == len(self.headers), self.headers
        del fields["date"]
        return fields


@dataclass(frozen=True)
class Web:
    """A client of a server."""

    port: int
    folder: Path
    process: subprocess.Popen[bytes]

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT)

    def raw(self, data: bytes) -> bytes:
        """Send exactly `data` and read until the server closes the connection."""
        with self.connect() as client:
            client.sendall(data)
            return b"".join(iter(lambda: client.recv(65536), b""))

    def ask(self, path: str, method: str = "GET", version: str = "1.1", **headers: str) -> Answer:
        """Send a request. `If_None_Match="x"` is the header If-None-Match. The path is sent unchanged."""
        return parse(self.raw(request(path, method, version, Connection="close", **headers)), method)

    def converse(self, data: bytes, *methods: str) -> list[Answer]:
        """Send `data` at once and read one response for each method. Then the server must close the connection."""
        with self.connect() as client, client.makefile("rb") as stream:
            client.sendall(data)
            answers = [receive(stream, method) for method in methods]
            assert stream.read() == b""
            return answers

    def reload(self) -> None:
        """Load the configuration again, and wait for the end of the workers that have the earlier one."""
        workers = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        ending = [os.pidfd_open(int(worker)) for worker in workers]
        self.process.send_signal(signal.SIGHUP)
        for worker in ending:
            assert select.select([worker], [], [], LIMIT)[0], "nginx still has a worker of the earlier configuration"
            os.close(worker)

    def errors(self) -> str:
        return (self.folder / "dist/run/error.log").read_text()

    def complaints(self, *expected: str) -> list[str]:
        """The lines of the log with errors, except those that contain an expected text."""
        serious = re.compile(r"\[(?:error|crit|alert|emerg)\]")
        lines = (line for line in self.errors().splitlines() if serious.search(line))
        return [line for line in lines if not any(text in line for text in expected)]


def parse(data: bytes, method: str = "GET") -> Answer:
    """Parse a response. Its body must have exactly the length of Content-Length."""
    stream = BytesIO(data)
    answer = receive(stream, method)
    assert stream.read() == b"", data[:2000]
    return answer


def receive(stream: BinaryIO, method: str = "GET", *, has_length: bool = True) -> Answer:
    """The next response on a connection that may stay open.

    If it need not have a length, its body may have chunks, or the end of the connection.
    """
    head: list[str] = []
    while (line := stream.readline()) != b"\r\n":
        if not line:
            raise ConnectionError(f"closed after {head}")
        head.append(line.decode("latin-1"))
    status = int(head[0].split(" ")[1])
    if status == 100:
        return receive(stream, method, has_length=has_length)
    headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in head[1:])]
    answer = Answer(status, headers, b"")
    if method == "HEAD" or status in (204, 304):
        return answer
    length = int(answer["content-length"] or -1)
    assert length >= 0 or not has_length, answer
    is_chunked = answer["transfer-encoding"] == "chunked"
    body = b"".join(_chunks(stream)) if is_chunked else stream.read(length)
    assert length in (-1, len(body)), (answer, body[:2000])
    return Answer(status, headers, body)


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while size := int(stream.readline().partition(b";")[0], 16):
        yield stream.read(size)
        stream.readline()
    while stream.readline().strip():
        pass


def request(path: str, method: str = "GET", version: str = "1.1", **headers: str) -> bytes:
    """A request that leaves the connection open. `If_None_Match="x"` is the header If-None-Match."""
    lines = [f"{method} {path} HTTP/{version}", "Host: test"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


@contextmanager
def running(folder: Path, listener: socket.socket, conf: str = "nginx.conf", prefix: str = ".") -> Iterator[Web]:
    """nginx on a main file, with `folder` for its own working folder.

    It inherits a socket that listens already, so that no port is guessed.
    """
    command = [find_nginx(), "-p", prefix, "-e", "stderr", "-c", conf]
    directives, text = "daemon off; master_process on;", (folder / prefix / conf).read_text()
    assert len(re.findall(r"\b\w+_temp_path ", text)) == 5, f"{conf} needs TEMPORARY_PATHS"
    if "load_module" not in text:
        directives += f" load_module {find_js_module()};"
    if "user.con[f]" not in text and os.geteuid() == 0:
        # Started by root, a foreign main file names no account that may read this folder.
        directives += " user root;"
    port, environment = listener.getsockname()[1], {**os.environ, "NGINX": f"{listener.fileno()};"}
    command += ["-g", f"{directives} error_log stderr notice;"]
    with servers.running(command, _STARTED.search, listener=listener, cwd=folder, env=environment) as process:
        yield Web(port, folder, process)


@contextmanager
def listening() -> Iterator[socket.socket]:
    """A socket on a free port, as nginx.conf configures it."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("0.0.0.0", 0))
        listener.listen(511)
        # nginx takes an inherited socket for one of its own, and those never block.
        listener.setblocking(False)
        yield listener
