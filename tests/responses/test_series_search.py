"""Filtered lists of many series: every way of the shim to find a page, compared with a plain reference in Python."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings

from generator.catalog.entities import Catalog
from tests.conftest import AS_OF, Site, serving
from tests.responses.test_series_list import encoded, queries
from tests.support import reference_list, runs
from tests.support.linked_catalog import read_catalog
from tests.support.nginx_client import Web
from tests.support.tables import each

# 7 words of bits: a set of up to 6 series is stored as positions.
SERIES = 200
WORDS = ("Paper", "Silent", "Straße", "Élan", "月の", "harbor", "Ab", "garden party", "Club 🌵", "𐐔𐐇𐐝𐐀𐐡")
CATEGORIES = [f"c{number}" for number in range(12)]
STATUSES = ("ongoing", "completed", "hiatus", "canceled")
MODIFIED = "modified: 2026-01-01T00:00:00Z"


def write(folder: Path) -> None:
    """Titles and names have common parts, rare ones, and letters beyond ASCII."""
    choose = random.Random(1)
    (folder / "series").mkdir(parents=True)
    (folder / "site.yaml").write_text("base_url: https://a.example\napps: [komga]\n")
    for kind in ("authors", "artists"):
        people = (f"- {{id: {one}, name: Pérson {one % 7} {kind} {one}, {MODIFIED}}}\n" for one in range(1, 31))
        (folder / f"{kind}.yaml").write_text("".join(people))
    groups = (f"- {{id: {one}, name: 'Group, no. {one}', {MODIFIED}}}\n" for one in range(1, 6))
    (folder / "groups.yaml").write_text("".join(groups))
    lines = (f"- {{id: {one}, name: Genre {one}, {MODIFIED}}}\n" for one in CATEGORIES)
    (folder / "categories.yaml").write_text("".join(lines))
    for number in range(SERIES):
        title = " ".join(choose.sample(WORDS, choose.randint(1, 3)))
        genres = ", ".join(choose.sample(CATEGORIES, choose.randint(0, 3)))
        chapters = "".join(
            f"  - {{id: {3 * number + one}, number: {one}, pages: [a.jpg], views: {choose.randint(0, 9)}, "
            f"groups: [{(number + one) % 5 + 1}], "
            f"published: 2026-01-{choose.randint(1, 28):02}T00:00:00Z, {MODIFIED}}}\n"
            for one in range(1, choose.randint(2, 4))
        )
        (folder / f"series/s-{number}.yaml").write_text(
            f"title: {title} {number}\naliases: [The alias {number % 50}]\nauthors: [{choose.randint(1, 30)}]\n"
            f"artists: [{number % 30 + 1}]\ncategories: [{genres}]\n"
            f"status: {choose.choice(STATUSES)}\ncover: a.jpg\n{MODIFIED}\nchapters:\n{chapters}"
            f"licensed: {str(number % 40 == 0).lower()}\n{'kind: webtoon' * (number % 3 == 0)}\n"
        )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Web]]:
    made = Site(tmp_path_factory.mktemp("many"))
    write(made.folder / "catalog_src")
    with serving(made) as web:
        yield made, web


@pytest.fixture(scope="module")
def catalog(site: tuple[Site, Web]) -> Catalog:
    return read_catalog(site[0].folder / "catalog_src", AS_OF)


@pytest.fixture(scope="module")
def expected(catalog: Catalog):
    """The list that the reference returns for a query."""
    return lambda query: reference_list.answer(catalog, query)


def listed(web: Web, query: str) -> reference_list.Listed | None:
    response = web.ask(f"/api/v2/series?{query}")
    return reference_list.read(json.loads(response.body)) if response.status == 200 else None


@pytest.mark.end_to_end
@each("sort", [f"{sign}{name}" for name in reference_list.ORDERS for sign in ("", "-")])
@each(
    "filters",
    [
        {"limit": "7"},
        {"status": "ongoing"},
        {"categories": "c1"},
        {"categories": "c1,c2", "status": "hiatus"},
        {"categories": "-c1,-c2"},
        {"categories": "c3,-c1", "status": "hiatus"},
        {"slug": "S-17"},
        {"slug": "s-17", "title": "17"},
        {"slug": "s-17", "title": "x"},
        # Many series, few, and none; listed parts, and longer texts.
        {"title": "a"},
        {"title": "a", "status": "ongoing"},
        {"title": "é"},
        {"title": "qq"},
        {"title": "harbor"},
        {"title": "garden party p"},
        {"title": "STRASSE É"},
        {"title": "月の 1", "status": "ongoing"},
        {"title": "𐐼𐐯𐐝𐐨 "},
        {"title": "the alias 1"},
        {"title": "alias\nthe"},
        {"author": "pérson 3 a", "artist": "artists 1", "title": "e"},
    ],
)
def test_every_way_to_a_page_returns_what_the_reference_returns(site, expected, filters, sort: str) -> None:
    """The first page, the next one, and one behind the end."""
    for page in ("1", "2", "40"):
        query = urlencode({**filters, "sort": sort, "page": page})
        assert listed(site[1], query) == expected(query)


PARTS = ["a", "per", "harbor", "ALIAS 1", "e", "ß", "ss", "の", "Paper Silent", " ", "12", "n party 3", "UB 🌵"]


@settings(max_examples=150 if runs.everything else 50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(queries(PARTS, "abehprst é月の1🌵𐐇𐐯", CATEGORIES, ["s-1", "S-199"]))
def test_random_filters_return_what_the_reference_returns(site, expected, query) -> None:
    """All combinations of filters, orders and pages."""
    assert listed(site[1], encoded(query)) == expected(encoded(query))


# The list of Komga, which has the same series in pages of 20.


def of_komga(web: Web, query: str) -> list[dict[str, Any]]:
    """The entries of all pages."""
    answers = (web.ask(f"/komga/api/v1/series?{query}&page={page}") for page in range(10))
    return [entry for answer in answers for entry in json.loads(answer.body)["content"]]


@each(
    ("query", "same"),
    [
        ("search=harbor&sort=name,asc", "title=harbor&sort=title"),
        ("search=a&sort=relevance,asc", "title=a&sort=title"),
        ("search=%E6%9C%88%E3%81%AE&sort=metadata.titleSort,asc", "title=%E6%9C%88%E3%81%AE&sort=title"),
        ("status=ENDED&genre=c1&search=e&sort=name", "status=completed&categories=c1&title=e"),
        ("author=P%C3%A9rson+5+authors+12,writer", "author=authors+12"),
        ("search=ALIAS+1&sort=name,desc", "title=ALIAS+1&sort=-title"),
        ("status=HIATUS&sort=lastModifiedDate,desc", "status=hiatus&sort=-latest_upload"),
        ("genre=c1,Genre+c2&sort=lastModifiedDate,asc", "categories=c1,Genre+c2&sort=latest_upload"),
    ],
)
def test_lists_of_both_apis_agree(site, query: str, same: str) -> None:
    """But for licensed series, which apps do not show."""
    komga = [entry["id"] for entry in of_komga(site[1], query)]
    v2 = json.loads(site[1].ask(f"/api/v2/series?{same}&limit=999").body)["results"]

    assert komga == [entry["slug"] for entry in v2 if entry["chapters"] is not None]
    assert komga


def test_the_random_order_is_the_same_for_each_request(site) -> None:
    """The pages of a list would have series twice."""
    orders = [[entry["id"] for entry in of_komga(site[1], f"sort=random,{way}")] for way in ("asc", "desc")]

    assert orders[0] == orders[1][::-1] != sorted(orders[0])
    assert len(set(orders[0])) == SERIES - 5


@each("way", ["asc", "desc"])
def test_lists_are_sorted_by_the_first_publication(site, way: str) -> None:
    created = [entry["created"] for entry in of_komga(site[1], f"sort=createdDate,{way}")]

    assert created == sorted(created, reverse=way == "desc")
    assert len(set(created)) > 20
