"""The read calls of Komga: all that its app in the Mihon family requests, and what no client may read."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from generator.api.payloads.resources import JSON
from tests.conftest import SITES, Site, serving
from tests.data.clients import komga
from tests.data.clients.komga import ROOT
from tests.data.clients.strict import parse
from tests.support import core_server, same_answers
from tests.support.core_server import needs_node
from tests.support.nginx_client import Answer, Web
from tests.support.odd_requests import Request
from tests.support.paths import ROOT as PROJECT
from tests.support.site_variants import SMALL, served
from tests.support.tables import each

APPS = "apps: [komga]"
MODIFIED = "modified: 2026-01-01T00:00:00Z"
# Names with the commas that separate names, and chapters whose numbers begin again.
ODD_NAMES = f"""title: '{{title}} $host, "quoted" </script> 😀'
kind: webtoon
language: zh-Hant
authors: [901, 902]
artists: [901]
categories: [wss]
status: completed
cover: "https://images.example/a%20b.jpg?c=1"
{MODIFIED}
chapters:
  - {{id: 9001, volume: 1, number: 2, title: "", published: 2026-01-01, {MODIFIED}, pages: [1.webp], groups: [903]}}
  - {{id: 9002, number: 1, title: x, published: 2026-01-02, {MODIFIED}, pages: ["1.x?", 2.png]}}
  - {{id: 9003, number: 1, title: y, published: 2026-01-03, {MODIFIED}, pages: [], groups: [903]}}
"""
ADDED = {
    "authors.yaml": f"- {{id: 901, name: 'Sato, Ann', {MODIFIED}}}\n- {{id: 902, name: 'Ärger ẞ', {MODIFIED}}}\n",
    "artists.yaml": f"- {{id: 901, name: 'Sato, Ann', {MODIFIED}}}\n",
    "categories.yaml": f"- {{id: wss, name: 'Wind, sand, stars', {MODIFIED}}}\n",
    "groups.yaml": f"- {{id: 903, name: 'Tea, & Co.', {MODIFIED}}}\n",
}


def with_odd_names(name: str) -> dict[str, str]:
    """Files that add a series with odd names to a test site."""
    texts = {path: (SITES / name / path).read_text(encoding="utf-8") + text for path, text in ADDED.items()}
    return {**texts, "series/Odd_Names.yaml": ODD_NAMES}


@contextmanager
def example(folder: Path) -> Iterator[tuple[Site, Web]]:
    """The catalog of the project."""
    made = Site(folder)
    shutil.copytree(PROJECT / "catalog_src", folder / "catalog_src")
    settings = folder / "catalog_src/site.yaml"
    settings.write_text(re.sub("^apps: .*$", APPS, settings.read_text(), flags=re.MULTILINE))
    with serving(made) as web:
        yield made, web


SITES_OF_APPS: dict[str, Callable[[Path], Any]] = {
    "example": example,
    "odd names": lambda folder: served(folder, "everything", settings=APPS, files=with_odd_names("everything")),
    "hostile": lambda folder: served(folder, "hostile", settings=APPS),
}


@pytest.fixture(scope="module", params=SITES_OF_APPS)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Web]]:
    with SITES_OF_APPS[request.param](tmp_path_factory.mktemp("komga") / "site") as made:
        yield made
        assert made[1].complaints() == []


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A site with licensed, restricted and scheduled chapters, old slugs and API keys."""
    files = with_odd_names("v2")
    files["series/Odd_Names.yaml"] = f"formerly: [Old_Names]\n{ODD_NAMES}"
    with served(tmp_path_factory.mktemp("komga") / "small", settings=APPS, files=files) as (_, web):
        yield web


class Session:
    """The app, with all that it has requested and decoded."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.requests: list[str] = []

    def ask(self, path: str) -> Answer:
        self.requests.append(path)
        return self.web.ask(path)

    def get(self, path: str) -> Any:
        answer = self.ask(path)
        assert (answer.status, answer["content-type"], answer["x-robots-tag"]) == (200, JSON, "noindex"), path
        return komga.decoder(path)(parse(answer.body))


def whole_session(web: Web) -> Session:
    """Everything a reader can do with the app, in its order."""
    app = Session(web)
    app.get(komga.listing(sort="metadata.titleSort,asc"))
    app.get(komga.listing(sort="lastModifiedDate,desc"))
    options = komga.filter_options(app.get)
    assert [library["id"] for library in options["libraries"]] == ["1"]
    filters = [
        *[("status", name) for name in ("ONGOING", "ENDED", "ABANDONED", "HIATUS", "ONGOING,ENDED,ABANDONED,HIATUS")],
        *[(parameter, name) for parameter in ("genre", "tag", "publisher") for name in options[f"{parameter}s"]],
        *[(f"{name}", ",".join(options[f"{name}s"])) for name in ("genre", "tag", "publisher") if options[f"{name}s"]],
        *[("author", f"{author['name']},{author['role']}") for author in options["authors"]],
    ]
    for name, value in filters:
        found = list(
            komga.browse(app.get, lambda page, chosen=(name, value): komga.listing(page=page, filters=[chosen]))
        )
        # Each name that the app offers finds something.
        assert found or name == "status", (name, value)
    series = list(komga.browse(app.get, lambda page: komga.listing(page=page)))
    for kind in ("readlists", "books", "collections/x/series"):
        assert app.get(komga.listing("x", kind=kind))["content"] == []
    for entry in series:
        slug, count = entry["id"], entry["booksCount"]
        assert app.get(f"{ROOT}/series/{slug}") == entry
        assert (app.ask(f"{ROOT}/series/{slug}/thumbnail").status, app.ask(f"/komga/series/{slug}").status) == (
            302,
            302,
        )
        chapters = komga.chapters(app.get, slug)
        assert len(chapters) == count > 0
        for chapter in chapters[:3]:
            assert app.get(f"{ROOT}/books/{chapter['id']}") == chapter
            images = komga.image_urls(app.get, chapter["id"])
            assert len(images) == chapter["media"]["pagesCount"]
            assert {app.ask(url).status for url in images} <= {302}
            app.ask(f"/komga/book/{chapter['id']}")
    return app


def test_the_app_decodes_all_that_it_requests(built: tuple[Site, Web]) -> None:
    """Its popular and newest series, each filter that it offers, each series, and the images of chapters."""
    assert len(whole_session(built[1]).requests) > 30


@needs_node
def test_the_core_answers_the_app_as_nginx_does(built: tuple[Site, Web], tmp_path: Path) -> None:
    site, web = built
    requests = [Request(path) for path in dict.fromkeys(whole_session(web).requests)]
    with core_server.serving(site, tmp_path / "core") as port:
        ports = {"nginx": web.port, "core": port}
        differences = same_answers.differences(ports, requests)

    assert not differences, same_answers.report(differences)


def slugs(web: Web, query: str) -> list[str]:
    answer = web.ask(f"{ROOT}/series?{query}")
    return [entry["id"] for entry in json.loads(answer.body)["content"]] if answer.status == 200 else []


def test_names_with_commas_and_roles_are_found(small: Web) -> None:
    """Commas separate names, of which a series has one; any case of letters finds a name."""
    odd, full = ["Odd_Names"], ["full-book"]
    expected = {
        "genre=Wind%2C%20sand%2C%20stars": odd,
        "genre=wind,%20SAND,%20stars,nothing": odd,
        "genre=wss": odd,
        "genre=Wind%2C%20sand": [],
        "publisher=x%2CTea%2C%20%26%20Co.": odd,
        "publisher=Day%2C%20Inc.%2CTea%2C%20%26%20Co.": [*full, *odd],
        "publisher=Night%20Shift": full,
        "tag=Webtoon": [*full, *odd],
        "tag=manga": [],
        "author=Sato%2C%20Ann%2Cwriter": odd,
        "author=S%C3%84TO%2C%20Ann%2Cwriter": [],
        "author=%C3%84RGER%20SS,Writer": odd,
        "author=%C3%84rger%20%E1%BA%9E,penciller": [],
        "author=Sato,%20Ann,penciller&author=Ada%20Penn,writer": [*full, "__proto__", *odd],
        "author=Sato,%20Ann,translator": [],
        "status=ENDED&genre=wss&tag=webtoon&library_id=1&read_status=UNREAD&read_status=READ": odd,
        "status=ONGOING&genre=wss": [],
        "status=x": [],
        "genre=wss&library_id=2": [],
        "genre=wss&read_status=READ": [],
        "genre=wss&status=&tag=&publisher=,&author=&library_id=": odd,
        "genre=wss&page=1": [],
        "genre=wss&page=x&sort=__proto__,desc&tag=constructor,webtoon": odd,
        "search=QUOTED&genre=wss": odd,
        "search=quoted&genre=x": [],
    }

    assert {query: slugs(small, query) for query in expected} == expected


@each("page", ["999999999", "9999999999", "1" + "0" * 400])
def test_a_page_past_the_end_is_empty_and_the_last(small: Web, page: str) -> None:
    """An app that counts on would otherwise get the first page again and again."""
    answer = small.ask(f"{ROOT}/series?page={page}&genre=wss")

    found = komga.PAGE_OF(komga.SERIES)(json.loads(answer.body))

    assert (answer.status, found["content"], found["number"], found["totalPages"]) == (200, [], 999999999, 1)
    assert [found[name] for name in ("empty", "first", "last")] == [True, False, True]
    assert [found[name] for name in ("numberOfElements", "size", "totalElements")] == [0, 20, 1]


def test_one_page_has_twenty_series(built: tuple[Site, Web]) -> None:
    """The list without a query has all of them: hosts of files answer any query with it."""
    everything = json.loads(built[1].ask(f"{ROOT}/series").body)
    paged = list(komga.browse(Session(built[1]).get, lambda page: komga.listing(page=page)))

    assert komga.PAGE_OF(komga.SERIES)(everything)["content"] == paged
    assert (everything["last"], everything["totalElements"]) == (True, len(paged))


def test_nothing_hidden_is_in_any_list(small: Web) -> None:
    """Neither in the bodies of the whole catalog nor in searches."""
    get = Session(small).get
    texts = json.dumps([komga.filter_options(get), get(f"{ROOT}/series"), get(komga.listing())])
    found = [*slugs(small, "page=0"), *slugs(small, "search=e"), *slugs(small, "sort=random,desc")]

    assert {"in-shops", "members-only", "in-shops-for-members", "tomorrow", "empty"}.isdisjoint(found)
    assert "members-only" not in texts
    assert "in-shops" not in texts


def test_an_api_key_changes_nothing(small: Web) -> None:
    """The app sends one with every request."""
    path = komga.listing("e")
    answers = [small.ask(path, X_API_Key=key) for key in ("key-one", "unknown", "")]
    answers.append(small.ask(f"{path}&api_key=key-one"))

    assert {(answer.status, answer.body, str(answer.fields)) for answer in answers} == {
        (200, answers[0].body, str(small.ask(path).fields))
    }


@each(
    "query",
    [
        "&".join(["x=1"] * 65),
        f"genre={','.join('x' * 65)}",
        f"tag={','.join('x' * 33)}&tag={','.join('x' * 32)}",
        f"search={'x' * 201}",
    ],
)
def test_long_queries_are_400(small: Web, query: str) -> None:
    """Their length is judged before anything is decoded."""
    answer = small.ask(f"{ROOT}/series?{query}")

    assert (answer.status, answer["cache-control"]) == (400, "no-store")
    assert json.loads(answer.body) == {"error": "Bad request", "status": 400}


def test_restricted_routes_hide_what_they_tell(tmp_path: Path) -> None:
    """As pages for readers do: without a key, nothing tells what the route tells."""
    settings = f'{APPS}\nrestricted: ["/series/{{slug}}", /authors, /categories, /groups, "/chapters/{{id}}/pages"]'
    with served(tmp_path / "site", SMALL, settings=settings) as (_, web):
        paths = ("series", "series?search=", "series/full-book", "series/full-book/books", "books/11", "books/11/pages")
        found = {path: web.ask(f"{ROOT}/{path}", X_API_Key="key-one").status for path in paths}
        roles = {author["role"] for author in json.loads(web.ask(f"{ROOT}/authors").body)}
        empty = [json.loads(web.ask(f"{ROOT}/{name}").body) for name in ("genres", "tags", "publishers")]

    assert found == dict.fromkeys(paths, 404)
    assert (roles, empty) == ({"penciller"}, [[], [], []])
