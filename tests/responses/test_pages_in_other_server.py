"""pages.conf in a server that has settings and locations of its own, and such a server without it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from generator.api.payloads.resources import HTML
from tests.conftest import Site, copy_of, date
from tests.responses.test_included_in_other_server import OTHER_SETTINGS, REQUESTS, comparable, conf
from tests.support import nginx_client
from tests.support.nginx_client import Web
from tests.support.site_variants import served
from tests.support.tables import each

OWN = """
    location = /favicon.ico { return 200 "icon"; }
    location /shop/ { return 200 "shop"; }
    location ~ \\.atom$ { return 200 "any feed"; }
"""
PAGES = "include dist/current/errors.conf; include dist/current/pages.conf;"
PATHS = (
    "/",
    "/index.json",
    "/reader/paper/",
    "/reader/paper",
    "/reader/paper.atom",
    "/robots.txt",
    "/nothing",
    "/api/x",
)
SERIES = (
    "title: Paper\ncover: c.jpg\nmodified: 2026-01-01\nchapters:\n"
    "  - {id: 500, number: 1, published: 2026-01-01, modified: 2026-01-01, pages: [1.png]}\n"
)
FILES = {"series/paper.yaml": SERIES}


def with_pages(folder: Path) -> Site:
    site = copy_of("minimal", folder)
    site.write("site.yaml", "base_url: https://minimal.example\npages: true\n")
    site.write("series/paper.yaml", SERIES)
    date(folder)
    site.build()
    (folder / "other").mkdir()
    (folder / "other/index.html").write_text("front")
    return site


@contextmanager
def other_server(folder: Path, locations: str) -> Iterator[Web]:
    with nginx_client.listening() as listener:
        (folder / "other.conf").write_text(conf(listener, OTHER_SETTINGS, locations))
        with nginx_client.running(folder, listener, "other.conf") as web:
            yield web


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, Web]]:
    """The pages in another server, and on the ready-made main file."""
    with_pages(folder := tmp_path_factory.mktemp("other"))
    own = served(tmp_path_factory.mktemp("own") / "site", "minimal", settings="pages: true", files=FILES)
    with other_server(folder, OWN + PAGES) as other, own as (_, ready_made):
        yield other, ready_made
        assert other.complaints() == []


@each("method", ["GET", "HEAD", "OPTIONS", "POST"])
@each("headers", REQUESTS)
@each("path", PATHS)
def test_pages_are_the_same_in_another_server(
    both: tuple[Web, Web], path: str, headers: dict[str, str], method: str
) -> None:
    """No setting of the other server changes a header or a byte."""
    other, own = (web.ask(path, method, **headers) for web in both)

    assert comparable(other) == comparable(own)


def test_locations_by_path_can_stand_beside_pages(both: tuple[Web, Web]) -> None:
    """A location by pattern is not used."""
    for path, body in {"/favicon.ico": b"icon", "/shop/": b"shop", "/shop/x": b"shop"}.items():
        assert both[0].ask(path).body == body
    assert both[0].ask("/reader/paper.atom")["content-type"] == "application/atom+xml; charset=utf-8"


def test_server_with_a_front_page_leaves_pages_out(tmp_path: Path) -> None:
    """The index can have a location of its own; other paths are those of the server."""
    with_pages(tmp_path)
    own = "location / { } location = /index.json { include dist/current/answer.conf; }"
    with other_server(tmp_path, own) as web:
        assert web.ask("/").body == b"front"
        assert web.ask("/index.json").body.startswith(b'{"api":')
        assert web.ask("/index.json", If_None_Match="*").status == 304
        assert web.ask("/api/nothing")["content-type"] == "application/json"
        assert web.ask("/reader/paper/").status == 404
        assert web.ask("/api/series", "POST")["content-type"] != HTML
