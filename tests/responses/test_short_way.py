"""The short way of public bodies: which requests take it, and that its responses are those of the long way."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.release.manifest import Published
from tests.conftest import Serve, Site
from tests.responses.conftest import visible
from tests.support import nginx_client, site_variants
from tests.support.golden import bodies, sidecar
from tests.support.nginx_client import Web, request
from tests.support.runs import sample
from tests.support.tables import each

LAST = "Fri, 31 Dec 9999 23:59:59 GMT"


def assert_both_ways_agree(web: Web, path: str, body: Published, method: str, coding: dict[str, str]) -> None:
    etag = f'"{body.etag}"'
    conditions = (
        {},
        {"If_None_Match": etag},
        {"If_None_Match": f"W/{etag}"},
        {"If_None_Match": f'"x", {etag}'},
        {"If_None_Match": "*"},
        {"If_None_Match": '"x"'},
        {"If_None_Match": ""},
        {"If_None_Match": etag, "If_Modified_Since": "Thu, 01 Jan 1970 00:00:00 GMT"},
        {"If_Modified_Since": LAST},
        {"If_Match": '"x"'},
        {"If_Match": etag},
        {"If_Match": etag, "If_None_Match": etag},
        {"If_Unmodified_Since": "Thu, 01 Jan 1970 00:00:00 GMT"},
        {"If_Unmodified_Since": "Thu, 01 Jan 1970 00:00:00 GMT", "If_None_Match": etag},
        {"Range": "bytes=0-3"},
    )
    for condition in conditions:
        short, long = (web.ask(path + end, method, **coding, **condition) for end in ("", "?"))

        assert (path, condition, visible(short)) == (path, condition, visible(long))


def both_spellings(url: str) -> tuple[str, ...]:
    """With a final slash and without, if the URL is that of a page: keys of pages have one, those of the API none."""
    return (url,) if url == "/" or url.startswith("/api") else (url.removesuffix("/"), f"{url.removesuffix('/')}/")


@each("name", ["everything", "hostile", "v2", "pages"])
@each("method", ["GET", "HEAD"])
@each("coding", [{}, {"Accept_Encoding": "gzip"}])
def test_both_ways_send_the_same_response(serve: Serve, name: str, method: str, coding: dict[str, str]) -> None:
    """A lone question mark leads to the long way, whose rules decide."""
    site, web = serve(name)
    published = site.manifest.resources
    urls = [url for url in published if "?" not in url and "#" not in url]
    for url in sample(urls[:: max(1, len(urls) // 40)], 4):
        for path in both_spellings(url):
            assert_both_ways_agree(web, path, published[url], method, coding)


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Web]]:
    """A server with pages that answers 503 at the beginning of the long way."""
    site = site_variants.variant_of(site_variants.SMALL, tmp_path_factory.mktemp("cut"))
    with nginx_client.listening() as listener:
        with (site.folder / "catalog_src/site.yaml").open("a") as file:
            file.write(f"port: {listener.getsockname()[1]}\npages: true\n")
        site.build()
        for conf in (site.folder / "dist/current").glob("answer*.conf"):
            text, count = re.subn(r"(?=if \(\$http_transfer_encoding\))", "return 503;\n", conf.read_text())
            assert count == 1
            conf.write_text(text)
        with nginx_client.running(site.folder, listener) as server:
            yield site, server


def test_public_bodies_take_the_short_way(cut: tuple[Site, Web]) -> None:
    """All that are spelled like their URL, and 304s for their ETag; no restricted body, with or without a key."""
    site, web = cut
    for url, body in site.manifest.resources.items():
        plain = re.fullmatch("/[-a-z0-9_.~/]*", url) is not None
        statuses = (200, 200, 304) if plain and not body.restricted else (503, 503, 503)
        for path in both_spellings(url):
            requests = ({}, {"X_API_Key": "key-one"}, {"If_None_Match": f'"{body.etag}"'})
            assert (path, *(web.ask(path, **headers).status for headers in requests)) == (path, *statuses)


@each(
    ("path", "method", "headers"),
    [
        ("/api/series/full-book/", "GET", {}),
        ("/api/series/full-book?", "GET", {}),
        ("/api//series/full-book", "GET", {}),
        ("/api/series/full%2Dbook", "GET", {}),
        ("/api/series/Full-Book", "GET", {}),
        ("/API/series/full-book", "GET", {}),
        ("http://test/api/series/full-book", "GET", {}),
        ("/api/series/full-book", "POST", {}),
        ("/api/series/full-book", "GET", {"Transfer_Encoding": "chunked"}),
        ("/api/series/full-book", "GET", {"If_Match": "*"}),
        ("/api/series/full-book", "GET", {"If_Unmodified_Since": LAST}),
        ("/api/series/full-book", "GET", {"If_None_Match": '"x"'}),
        ("/api/series/full-book", "GET", {"If_None_Match": "", "If_Modified_Since": LAST}),
        ("/api/series/nothing", "GET", {}),
        ("/api/v2/chapters/41", "GET", {}),
        ("/api/v2/profile", "GET", {"X_API_Key": "key-one"}),
        ("/api/v2/pages", "GET", {}),
        ("//", "GET", {}),
        ("/?", "GET", {}),
        ("/index", "GET", {}),
        ("/reader/full-book//", "GET", {}),
        ("/reader/full%2Dbook/", "GET", {}),
        ("/nothing/", "GET", {}),
    ],
)
def test_unusual_requests_take_the_long_way(
    cut: tuple[Site, Web], path: str, method: str, headers: dict[str, str]
) -> None:
    """Anything but a plain GET or HEAD, or a condition that is not the ETag alone."""
    body = b"0\r\n\r\n" if "Transfer_Encoding" in headers else b""
    response = nginx_client.parse(cut[1].raw(request(path, method, Connection="close", **headers) + body))

    assert response.status == 503


def test_name_is_not_found_by_the_url_of_another_name(tmp_path: Path) -> None:
    """The URL of `a b` contains the text of the name `a%20b`."""
    categories = (
        "- {id: one, name: a b, modified: 2026-01-01}\n- {id: two, name: a%20b, modified: 2026-01-01}\n"
        "- {id: three, name: .a, modified: 2026-01-01}\n"
    )
    with site_variants.served(tmp_path, "minimal", files={"categories.yaml": categories}) as (_, web):
        assert b'"name":"a b"' in web.ask("/api/v2/categories/a%20b").body
        assert b'"name":"a%20b"' in web.ask("/api/v2/categories/a%2520b").body
        assert b'"name":".a"' in web.ask("/api/v2/categories/.a").body


def test_golden_bodies_have_lines_of_their_own(serve: Serve) -> None:
    """The date in a line is that of the sidecar."""
    site = serve("everything")[0]
    lines = "".join(path.read_text() for path in (site.folder / "dist/current").glob("*.map"))

    assert [url for url in bodies("everything") if sidecar("everything", url)["last-modified"] not in lines] == []
