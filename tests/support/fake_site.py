"""A fake site to import from, and a fake clock that advances when the import sleeps."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generator import encoding
from generator.catalog.yaml import reader
from generator.imports import run
from generator.imports.run import ImportOptions, ImportResult
from generator.server_url import ServerUrl
from tests.conftest import AS_OF
from tests.support import linked_catalog, servers

JSON = {"Content-Type": "application/json"}


@dataclass
class Reply:
    """A response other than 200 with JSON."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class FakeSite:
    """Responses by path. Values become JSON."""

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

    def answer(self, path: str, headers: dict[str, str]) -> Reply:
        self.asked.append((path, headers))
        reply = self.answers.get(path, Reply(404, b'{"detail":"Not found."}'))
        if isinstance(reply, Replies):
            reply = reply.next()
        if not isinstance(reply, Reply):
            reply = Reply(body=encoding.json(reply))
        return reply

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.time += seconds
        if seconds:
            self.slept.append(seconds)

    def import_options(self, folder: Path, **values: Any) -> ImportOptions:
        options: dict[str, Any] = {"key": None, "rate": 4.0, "now": AS_OF, **values}
        return ImportOptions(
            site=ServerUrl.of(self.url),
            catalog=folder / "catalog_src",
            cache=folder / "cache",
            clock=lambda: self.time,
            sleep=self.sleep,
            **options,
        )

    def imported(self, folder: Path, **values: Any) -> ImportResult:
        """Import the site; the responses of most tests are incomplete."""
        return run.run(self.import_options(folder, **{"allows_missing_ids": True, **values}))


def imported(answers: dict[str, Any], folder: Path, **options: Any) -> ImportResult:
    """Import a site with these responses; the catalog is valid afterwards."""
    with serving(answers) as site:
        done = site.imported(folder, **options)
    linked_catalog.read_catalog(folder / "catalog_src", AS_OF)
    return done


def again(site: FakeSite, catalog: Path, **options: Any) -> ImportResult:
    """Import into a catalog, which is valid afterwards."""
    done = site.imported(catalog.parent, **options)
    linked_catalog.read_catalog(catalog, AS_OF)
    return done


def rename(site: FakeSite, before: str, after: str) -> None:
    """Rename something in all responses."""
    text = encoding.json(site.answers).decode()
    site.answers = encoding.parse(text.replace(before, after).encode())


def publish_third_chapter(site: FakeSite) -> None:
    """Add a third chapter to the site."""
    third = chapter(13, 3.0)
    site.answers["/api/v2/series/one/chapters"]["results"].insert(0, third)
    site.answers["/api/v2/cubari/one"]["chapters"]["13"] = cubari_chapter(third)


def withdraw_series(site: FakeSite) -> None:
    """Remove the series from the lists, which name another one without a response."""
    site.answers |= {"/api/v2/series": {"total": 1, "last": True, "results": [{"slug": "x"}]}, "/api/v1/series": []}


def read(catalog: Path, file: str) -> Any:
    return reader.load((catalog / file).read_bytes())


def edit(catalog: Path, file: str, before: str, after: str) -> None:
    text = (catalog / file).read_text()
    assert before in text
    (catalog / file).write_text(text.replace(before, after))


def texts(catalog: Path) -> dict[str, str]:
    return {str(path.relative_to(catalog)): path.read_text() for path in catalog.rglob("*.yaml")}


@dataclass
class Replies:
    """One response after the other; the last one is repeated."""

    answers: list[Any]

    def next(self) -> Any:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def serving(answers: dict[str, Any]) -> Iterator[FakeSite]:
    site = FakeSite(answers)

    class Handler(servers.Handler):
        def do_GET(self) -> None:
            site.clients.add(self.client_address[1])
            reply = site.answer(self.path, dict(self.headers.items()))
            self.reply(reply.status, {**(JSON if reply.status != 304 else {}), **reply.headers}, reply.body)

    with servers.answering(Handler) as site.port:
        yield site


def small() -> dict[str, Any]:
    """A site of one series with two chapters in versions 1 and 2, without Last-Modified."""
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
        "/api/v2/cubari/one": {"chapters": {str(one["id"]): cubari_chapter(one) for one in chapters}},
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
    listed = {"id": id, "title": f"Part {number:g}", "number": number, "volume": 1, "published": "2026-01-01T00:00:00Z"}
    listed |= {"views": 0, "final": False, "series": "one", "groups": ["Night Shift"]}
    return listed | {"full_title": f"Vol. 1, Ch. {number:g}: Part {number:g}"} | fields


def cubari_chapter(listed: dict[str, Any]) -> dict[str, Any]:
    folder = f"https://comics.example/media/series/one/{listed['volume'] or 0}/{listed['number']:g}/"
    pages = [f"{folder}{name}.png" for name in ("1", "2", "3")]
    cubari = {"title": listed["title"], "volume": str(listed["volume"]), "number": f"{listed['number']:g}"}
    return cubari | {"groups": {"Night Shift": pages}, "last_updated": "1767225600"}


def old_series() -> dict[str, Any]:
    url = "https://comics.example"
    series = {"slug": "one", "title": "One", "url": f"{url}/reader/one/", "description": "About.", "aliases": ["Uno"]}
    series |= {
        "authors": [["Ada", "A."]],
        "artists": [["Bo"]],
        "categories": [{"name": "Drama", "description": "Sad."}],
    }
    series |= {"cover": f"{url}/media/series/one/cover.jpg", "completed": False}
    return series | {"volumes": {"1": {"1": old_chapter("1"), "2": old_chapter("2")}}}


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
