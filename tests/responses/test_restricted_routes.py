"""Whole routes of v2 behind a key, as `site.yaml` names them."""

import json
import typing
from collections.abc import Iterator

import pytest

from generator.catalog import site_settings
from tests.conftest import Site
from tests.support.nginx_client import Answer, Web
from tests.support.site_variants import served

ROUTES = typing.get_args(site_settings.RestrictedRoute)
# One address of each route that can be put behind a key, with a body, a gate or a query.
ADDRESSES = {
    "/series": ["/api/v2/series", "/api/v2/series?page=2", "/api/v2/series?title=full", "/api/v2/series?page=99"],
    "/series/{slug}": ["/api/v2/series/full-book", "/api/v2/series/nobody"],
    "/series/{slug}/chapters": [
        "/api/v2/series/full-book/chapters",
        "/api/v2/series/full-book/chapters?date_format=timestamp",
        "/api/v2/series/full-book/chapters?date_format=bad",
        "/api/v2/series/in-shops/chapters",
    ],
    "/chapters": [
        "/api/v2/chapters",
        "/api/v2/chapters?date_format=rfc-5322",
        "/api/v2/chapters?series=full-book",
        "/api/v2/chapters?series=nobody",
    ],
    "/chapters/{id}": ["/api/v2/chapters/11", "/api/v2/chapters/41", "/api/v2/chapters/99"],
    "/chapters/{id}/pages": ["/api/v2/chapters/11/pages", "/api/v2/chapters/41/pages"],
    "/chapters/{id}/read": ["/api/v2/chapters/11/read", "/api/v2/chapters/41/read"],
    "/pages": [
        "/api/v2/pages",
        "/api/v2/pages?series=full-book&volume=1&number=1",
        "/api/v2/pages?series=nobody&volume=1&number=1",
    ],
    "/categories": ["/api/v2/categories"],
    "/categories/{name}": ["/api/v2/categories/Action", "/api/v2/categories/nothing"],
    "/authors": ["/api/v2/authors"],
    "/authors/{id}": ["/api/v2/authors/1"],
    "/artists": ["/api/v2/artists"],
    "/artists/{id}": ["/api/v2/artists/1"],
    "/groups": ["/api/v2/groups"],
    "/groups/{id}": ["/api/v2/groups/1"],
    "/members": ["/api/v2/members"],
    "/members/{id}": ["/api/v2/members/1"],
    "/cubari/{slug}": ["/api/v2/cubari/full-book", "/api/v2/cubari/in-shops"],
}
CASES = [pytest.param(route, path, id=path) for route, paths in ADDRESSES.items() for path in paths]


@pytest.fixture(scope="module")
def web(serve) -> Web:
    return serve("v2")[1]


@pytest.fixture(scope="module")
def locked(tmp_path_factory) -> Iterator[tuple[Site, Web]]:
    """The same site with every route behind a key that can be."""
    settings = "restricted:\n" + "".join(f'  - "{route}"\n' for route in ROUTES)
    with served(tmp_path_factory.mktemp("locked"), settings=settings) as found:
        yield found


@pytest.fixture(scope="module")
def half_locked(tmp_path_factory) -> Iterator[Web]:
    """The same site with the lists of chapters behind a key, and what they list in public."""
    with served(tmp_path_factory.mktemp("half"), settings="restricted: [/chapters, /pages, /series]") as (_, web):
        yield web


def said(answer: Answer) -> tuple[int, object]:
    return answer.status, json.loads(answer.body)


def test_every_route_that_can_be_restricted_is_asked_here() -> None:
    """The table above has a line for each."""
    assert sorted(ADDRESSES) == sorted(ROUTES)


@pytest.mark.parametrize(("route", "path"), CASES)
def test_a_restricted_route_answers_nobody_without_a_key(locked, route: str, path: str) -> None:
    """Whatever it is asked for, and whatever stands in its path: existing, licensed or not."""
    web = locked[1]
    refused = said(web.ask(path))

    assert refused == (401, {"detail": "Authentication credentials were not provided."})
    assert said(web.ask(path, X_API_Key="nonsense")) == (401, {"detail": "Invalid token."})


@pytest.mark.parametrize(("route", "path"), CASES)
def test_a_restricted_route_answers_a_key_in_private(web: Web, locked, route: str, path: str) -> None:
    """The same status and body as in public, for no shared cache to keep."""
    answer, public = locked[1].ask(path, X_API_Key="key-one"), web.ask(path)

    assert (answer.status, answer.body) == (public.status, public.body)
    if answer.status == 400:
        assert answer["cache-control"] == "no-store"
    else:
        assert answer["cache-control"] == public["cache-control"].replace("public", "private")
    assert "X-API-Key" in answer["vary"].split(", ")


@pytest.mark.parametrize(
    ("path", "settled"),
    [
        ("/api/v2/chapters?series=full-book", "/api/v2/series/full-book/chapters"),
        ("/api/v2/chapters?series=full-book&date_format=timestamp", "/api/v2/series/full-book/chapters"),
        ("/api/v2/pages?series=full-book&volume=1&number=1", "/api/v2/chapters/11/pages"),
        ("/api/v2/series?sort=title", "/api/v2/series/full-book"),
    ],
)
def test_a_restricted_route_is_private_whichever_file_answers(half_locked: Web, path: str, settled: str) -> None:
    """The same bytes may be public at another address, but here a cache must ask for whom."""
    answer = half_locked.ask(path, X_API_Key="key-one")
    fresh = half_locked.ask(path, X_API_Key="key-one", If_None_Match=answer["etag"])

    assert half_locked.ask(path).status == 401
    assert (answer.status, answer["cache-control"]) == (200, "private, max-age=300")
    assert (fresh.status, fresh["cache-control"], fresh["vary"]) == (304, "private, max-age=300", answer["vary"])
    assert half_locked.ask(settled)["cache-control"] == "public, max-age=300"
    assert "X-API-Key" not in (half_locked.ask(settled)["vary"] or "")


@pytest.mark.parametrize("path", ["/api/v2/series%0A", "/api/v2/series%0a?page=2", "/api/v2/pages%0A/"])
def test_a_line_break_makes_another_path_of_a_restricted_one(half_locked: Web, path: str) -> None:
    """It is nothing, to everybody alike."""
    for headers in ({}, {"X_API_Key": "key-one"}):
        answer = half_locked.ask(path, **headers)
        assert (answer.status, answer["cache-control"], answer["vary"]) == (404, "public, max-age=60", None)


@pytest.mark.parametrize(
    "path",
    [
        "/api/V2/series?title=full",
        "/api/v2/SERIES?limit=2",
        "/api/v2/SERIES",
        "/api/v2/Series/",
        "/api/v2/Chapters",
        "/api/v2/Pages?a=b",
    ],
)
def test_another_case_is_no_way_into_a_restricted_route(half_locked: Web, path: str) -> None:
    """It is no path of the site, to everybody alike."""
    for headers in ({}, {"X_API_Key": "key-one"}, {"X_API_Key": "nonsense"}):
        answer = half_locked.ask(path, **headers)
        assert (answer.status, answer["cache-control"], answer["vary"]) == (404, "public, max-age=60", None)


def test_what_a_restricted_route_does_not_have_is_missing_in_private(locked) -> None:
    """Only who has a key is told what there is, and what there is not."""
    for path in (
        "/api/v2/chapters/99",
        "/api/v2/authors/1.5",
        "/api/v2/series/Full-Book",
        "/api/v2/chapters/11/read/x",
    ):
        answer = locked[1].ask(path, X_API_Key="key-one")
        private = ("private, max-age=60", "X-API-Key") if path.count("/") == 4 else ("public, max-age=60", None)
        assert (answer.status, answer["cache-control"], answer["vary"]) == (404, *private)


def test_restricted_routes_say_their_options_to_everybody(locked) -> None:
    """A browser asks without a key whether it may send one."""
    assert locked[1].ask("/api/v2/series", "OPTIONS").status == 204


def test_whole_restricted_routes_lie_behind_the_gate_too(locked) -> None:
    """Of v2 nothing is left in the open tree but what describes it."""
    site, _ = locked
    left = {url for url, one in site.manifest.resources.items() if url.startswith("/api/v2/") and not one.restricted}

    assert {url for url in left if not url.startswith(("/api/v2/docs", "/api/v2/openapi"))} == {
        "/api/v2/pages?series=~&volume=0&number=0"
    } & left
