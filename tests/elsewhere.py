"""Sites to import from: a small server that answers what a test says, and time that passes only when somebody waits."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from generator import encode, importing
from generator.importing import Done, Wanted
from generator.importing.wire import Address
from tests.conftest import AS_OF

JSON = {"Content-Type": "application/json"}


@dataclass
class Said:
    """An answer that is no plain 200 with JSON. Without a length, the connection ends with the body."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None


@dataclass
class Elsewhere:
    """A site, by path: values become JSON; a list of answers is given one after the other, the last for ever."""

    answers: dict[str, Any]
    port: int = 0
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    time: float = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def answer(self, path: str, headers: dict[str, str]) -> Said:
        self.asked.append((path, headers))
        found = self.answers.get(path, Said(404, b'{"detail":"Not found."}'))
        if isinstance(found, Turns):
            found = found.next()
        if not isinstance(found, Said):
            found = Said(body=encode.json(found))
        return found

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.time += seconds
        if seconds:
            self.slept.append(seconds)

    def wanted(self, folder: Path, **told: Any) -> Wanted:
        given: dict[str, Any] = {"key": None, "rate": 4.0, "now": AS_OF, **told}
        return Wanted(
            address=Address.of(self.url),
            catalog=folder / "catalog_src",
            cache=folder / "cache",
            clock=lambda: self.time,
            sleep=self.sleep,
            **given,
        )

    def imported(self, folder: Path, **told: Any) -> Done:
        return importing.run(self.wanted(folder, **told))


@dataclass
class Turns:
    """One answer after the other."""

    answers: list[Any]

    def next(self) -> Any:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def elsewhere(answers: dict[str, Any]) -> Iterator[Elsewhere]:
    site = Elsewhere(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            said = site.answer(self.path, dict(self.headers.items()))
            self.send_response(said.status)
            length = len(said.body) if said.length is None else said.length
            fields = {**JSON, "Content-Length": str(length)} if said.status != 304 else {}
            for name, value in {**fields, **said.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said.body)
            self.close_connection = self.close_connection or said.length is not None

        def log_message(self, format: str, *args: object) -> None:
            """Tests read what they need from `asked`."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        site.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
