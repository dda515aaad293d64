"""Sites to import from: a small server with the responses of a test, and a clock that advances only while waiting."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from generator import encoding
from generator.authoring.site_import import run
from generator.authoring.site_import.run import ImportOptions, ImportResult
from generator.server_url import ServerUrl
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
    clients: set[int] = field(default_factory=set)
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
            found = Said(body=encoding.json(found))
        return found

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.time += seconds
        if seconds:
            self.slept.append(seconds)

    def wanted(self, folder: Path, **told: Any) -> ImportOptions:
        given: dict[str, Any] = {"key": None, "rate": 4.0, "now": AS_OF, **told}
        return ImportOptions(
            site=ServerUrl.of(self.url),
            catalog=folder / "catalog_src",
            cache=folder / "cache",
            clock=lambda: self.time,
            sleep=self.sleep,
            **given,
        )

    def imported(self, folder: Path, **told: Any) -> ImportResult:
        return run.run(self.wanted(folder, **told))


@dataclass
class Turns:
    """One answer after the other."""

    answers: list[Any]

    def next(self) -> Any:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle of an answer is what some tests are about."""


@contextmanager
def elsewhere(answers: dict[str, Any]) -> Iterator[Elsewhere]:
    site = Elsewhere(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # An answer in two packets would wait for the client between them.
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            site.clients.add(self.client_address[1])
            said = site.answer(self.path, dict(self.headers.items()))
            self.send_response_only(said.status)
            length = len(said.body) if said.length is None else said.length
            fields = {**JSON, "Content-Length": str(length)} if said.status != 304 else {}
            for name, value in {**fields, **said.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said.body)
            self.close_connection = self.close_connection or said.length is not None

        def log_message(self, format: str, *args: object) -> None:
            """Tests read what they need from `asked`."""

    with Server(("127.0.0.1", 0), Handler) as server:
        site.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


def small() -> dict[str, Any]:
    """A site of one series with two chapters, as its second and its first version tell of it; without dates."""
    media = "https://comics.example/media/series/one"
    person = {"id": 4, "name": "Ada", "aliases": ["A."], "series": [{"slug": "one", "title": "One", "aliases": []}]}
    artist = {**person, "id": 7, "name": "Bo", "aliases": []}
    group = {"id": 2, "name": "Night Shift", "website": "", "description": "", "email": "", "discord": "n"}
    group |= {"twitter": "", "reddit": "", "irc": "", "logo": None, "members": ["Editor: Wren"]}
    detail = {"slug": "one", "title": "One", "url": "/reader/one/", "cover": f"{media}/cover.jpg"}
    detail |= {"description": "About.", "views": 3, "status": "hiatus", "completed": False, "licensed": False}
    detail |= {"aliases": ["Uno"], "authors": ["Ada"], "artists": ["Bo"], "categories": ["Drama"]}
    chapters = [chapter(12, 2.0), chapter(11, 1.0, views=3)]
    return {
        "/api/v2/series": {"total": 1, "last": True, "results": [{"slug": "one", "title": "One"}]},
        "/api/v2/series/one": detail,
        "/api/v2/series/one/chapters": {"results": chapters},
        "/api/v2/cubari/one": {"chapters": {str(one["id"]): reader_chapter(one) for one in chapters}},
        "/api/v2/authors": {"results": [{"id": 4, "name": "Ada"}]},
        "/api/v2/artists": {"results": [{"id": 7, "name": "Bo"}]},
        "/api/v2/categories": {"results": [{"name": "Drama", "description": "Sad."}]},
        "/api/v2/groups": {"results": [group]},
        "/api/v2/members": {"results": [{"id": 9, "name": "Wren", "twitter": "", "discord": "", "irc": "w"}]},
        "/api/v1/series": [{"slug": "one", "url": "https://comics.example/reader/one/"}],
        "/api/v1/series/one": old_series(),
        "/api/v1/authors": [person],
        "/api/v1/artists": [artist],
        "/api/v1/categories": [{"id": "drama", "name": "Drama", "description": "Sad."}],
        "/api/v1/groups": [{**group, "members": [{"id": 9, "name": "Wren", "roles": ["Editor"]}], "series": []}],
    }


def chapter(id: int, number: float, **fields: Any) -> dict[str, Any]:
    told = {"id": id, "title": f"Part {number:g}", "number": number, "volume": 1, "published": "2026-01-01T00:00:00Z"}
    told |= {"views": 0, "final": False, "series": "one", "groups": ["Night Shift"]}
    return told | {"full_title": f"Vol. 1, Ch. {number:g}: Part {number:g}"} | fields


def reader_chapter(one: dict[str, Any]) -> dict[str, Any]:
    folder = f"https://comics.example/media/series/one/{one['volume'] or 0}/{one['number']:g}/"
    pages = [f"{folder}{name}.png" for name in ("1", "2", "3")]
    told = {"title": one["title"], "volume": str(one["volume"]), "number": f"{one['number']:g}"}
    return told | {"groups": {"Night Shift": pages}, "last_updated": "1767225600"}


def old_series() -> dict[str, Any]:
    return {
        "slug": "one",
        "title": "One",
        "aliases": ["Uno"],
        "url": "https://comics.example/reader/one/",
        "description": "About.",
        "authors": [["Ada", "A."]],
        "artists": [["Bo"]],
        "categories": [{"name": "Drama", "description": "Sad."}],
        "cover": "https://comics.example/media/series/one/cover.jpg",
        "completed": False,
        "volumes": {"1": {"1": old_chapter("1"), "2": old_chapter("2")}},
    }


def old_chapter(number: str) -> dict[str, Any]:
    return {
        "title": f"Part {number}",
        "full_title": f"Vol. 1, Ch. {number}: Part {number}",
        "pages_root": f"https://comics.example/media/series/one/1/{number}/",
        "pages_list": ["1.png", "2.png", "3.png"],
        "date": "Thu, 01 Jan 2026 00:00:00 GMT",
        "final": number == "2",
        "groups": [{"id": 2, "name": "Night Shift"}],
    }
