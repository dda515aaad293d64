"""Redirects from slugs that series had before, of pages and feeds."""

import time

from generator.review.verify_server import check_server
from tests.conftest import Site
from tests.responses.test_slug_redirects import PAIRS, assert_redirect, with_old_slugs
from tests.support.nginx_client import Web
from tests.support.site_variants import served
from tests.support.tables import each

SETTINGS, FILES = "pages: true\nreader: /my.reader/", with_old_slugs()


@each("below", ["", "/1/1", "/1/10.5", "/1/1/5", "/1/1/version-12", "/abc", "/a/b/c/d/e", "/.hidden"])
@each(("old", "present"), PAIRS)
def test_page_below_an_old_slug_redirects(web: Web, below: str, old: str, present: str) -> None:
    """To the URL of a page, which ends in a slash; the number of an image is kept."""
    for sent in (below, f"{below}/"):
        assert_redirect(web.ask(f"/my.reader/{old}{sent}"), f"/my.reader/{present}{below}/")


@each("ending", ["atom", "rss", "json"])
@each(("old", "present"), PAIRS)
def test_feed_of_an_old_slug_redirects(web: Web, ending: str, old: str, present: str) -> None:
    assert_redirect(web.ask(f"/my.reader/{old}.{ending}"), f"/my.reader/{present}.{ending}")


@each(
    ("sent", "path"),
    [
        ("first-draft/?a=1&b", "full-book/?a=1&b"),
        ("first-draft/1/1/5?api_key=secret&a=1", "full-book/1/1/5/?a=1"),
        ("first-draft.rss?a=1", "full-book.rss?a=1"),
        ("first-draft/%0d%0aX:%20y/", "full-book/%0D%0AX:%20y/"),
        ("first-draft//1///1//", "full-book/1/1/"),
    ],
)
def test_query_is_kept_and_paths_are_encoded(web: Web, sent: str, path: str) -> None:
    assert_redirect(web.ask(f"/my.reader/{sent}"), f"/my.reader/{path}")


@each(
    "path",
    [
        "/my.reader/FIRST-DRAFT/",
        "/my.reader/first-draft.xml",
        "/my.reader/first-draft.atom.rss",
        "/my.reader/first-draft%2F1/",
        "/myxreader/first-draft/",
        "/first-draft/",
        "/reader/first-draft/",
        "/sitemaps/series/first-draft.xml",
    ],
)
def test_other_paths_do_not_redirect(web: Web, path: str) -> None:
    response = web.ask(path)

    assert (response.status, response.body[:1]) == (404, b"<")


def test_headers_are_those_of_other_redirects(web: Web) -> None:
    get, head = web.ask("/my.reader/first-draft/"), web.ask("/my.reader/first-draft/", "HEAD")

    assert (head.status, head.fields, head.body) == (308, get.fields, b"")
    assert get["cache-control"] == "public, max-age=60"
    assert web.ask("/my.reader/first-draft/?api_key=a")["cache-control"] == "private, no-store"


def test_redirects_are_absent_without_pages(tmp_path) -> None:
    """A front end of the owner decides on these paths."""
    with served(tmp_path, files=with_old_slugs()) as (site, web):
        assert web.ask("/reader/first-draft/").status == 404
        assert "/reader" not in (site.folder / "dist/current/redirects.map").read_text()


def test_verify_follows_redirects_of_pages(running: tuple[Site, Web]) -> None:
    """Every redirect, and every page, feed and gate."""
    site, web = running
    result = check_server(site.store, f"http://127.0.0.1:{web.port}", time.monotonic)

    assert result.faults == []
    assert result.urls > 200
