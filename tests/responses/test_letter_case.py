"""Paths are case-sensitive, although nginx ignores case when it looks up a key."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from tests.conftest import Serve
from tests.support import nginx_client, site_variants
from tests.support.golden import bodies
from tests.support.tables import each

SITES = ("everything", "hostile", "imported")
# A path with capitals is found as written; so are its gates and its parameters.
CATEGORIES = ("Action", "ACTION two", "A$B", "$Host", "a", "Äb", "Z a /", 'Q"\\q', "A  B")


def in_other_case(url: str) -> Iterator[str]:
    """The spellings of a URL that differ in the case of one letter, or of all."""
    path = unquote(url)
    for change in (str.upper, str.lower, str.swapcase, str.title):
        yield change(path)
    for place, letter in enumerate(path):
        if letter.isascii() and letter.isalpha():
            yield f"{path[:place]}{letter.swapcase()}{path[place + 1 :]}"


@each("name", SITES)
@each("headers", [{}, {"If_None_Match": "*"}, {"If_Match": "*"}])
def test_path_in_another_case_is_404(serve: Serve, name: str, headers: dict[str, str]) -> None:
    """No condition answers for a body that the path does not have."""
    web = serve(name)[1]
    urls = bodies(name)
    known = {unquote(url) for url in urls}
    statuses = {
        other: web.ask(quote(other), **headers).status
        for url in list(urls)[:: max(1, len(urls) // 12)]
        for other in in_other_case(url)
        if other not in known
    }

    assert len(statuses) > 100
    assert set(statuses.values()) == {404}


@pytest.fixture
def capitals(tmp_path: Path) -> Iterator[nginx_client.Web]:
    """A licensed series with capitals, and categories whose names have capitals, dollar signs and quotes."""
    files = {
        "categories.yaml": "".join(
            f"- {{id: c{place}, name: '{name}', modified: 2026-01-01}}\n" for place, name in enumerate(CATEGORIES)
        ),
        "series/IN-Shops.yaml": "title: In shops\ncover: c.jpg\nmodified: 2026-01-01\nlicensed: true\nchapters:\n"
        "- {id: 9, number: 1, published: 2026-01-01, modified: 2026-01-01, pages: []}\n",
    }
    with site_variants.served(tmp_path, "minimal", files=files) as (_, web):
        yield web


def test_names_with_capitals_and_dollar_signs_are_found_as_written(capitals: nginx_client.Web) -> None:
    """The line of a key with capitals repeats the key, where a dollar sign is no variable."""
    with_path = [name for name in CATEGORIES if "/" not in name]
    statuses = {
        name: [capitals.ask(f"/api/v2/categories/{quote(spelling)}").status for spelling in (name, name.swapcase())]
        for name in with_path
    }

    assert statuses == {name: [200, 404] for name in with_path}


def test_gate_with_capitals_is_found_as_written(capitals: nginx_client.Web) -> None:
    """Its path, and its parameters, which accept other forms of a path but not of a slug."""
    for slug, status in (("IN-Shops", 451), ("in-shops", 404), ("IN-SHOPS", 404)):
        for path in (f"series/{slug}/chapters", f"series/{slug}/chapters?date_format=timestamp", f"cubari/{slug}"):
            assert (path, capitals.ask(f"/api/v2/{path}").status) == (path, status)
