"""Routes of v2 that `site.yaml` restricts."""

import typing
from collections.abc import Iterator

import pytest

from generator.catalog import site_settings
from tests.conftest import Site
from tests.responses.test_keys import status_and_body
from tests.support.nginx_client import Web
from tests.support.site_variants import served
from tests.support.tables import each

ROUTES = typing.get_args(site_settings.RestrictedRoute)
# URLs of each route that can be restricted, with a body, a gate or a query.
URLS = {
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
PATHS = [path for paths in URLS.values() for path in paths]


@pytest.fixture(scope="module")
def locked(tmp_path_factory) -> Iterator[tuple[Site, Web]]:
    """The site with all routes restricted that can be."""
    settings = "restricted:\n" + "".join(f'  - "{route}"\n' for route in ROUTES)
    with served(tmp_path_factory.mktemp("locked"), "v2", settings=settings) as running_site:
        yield running_site


@pytest.fixture(scope="module")
def half_locked(tmp_path_factory) -> Iterator[Web]:
    """The site with its lists restricted, and the resources of these lists public."""
    with served(tmp_path_factory.mktemp("half"), settings="restricted: [/chapters, /pages, /series]") as (_, web):
        yield web


def test_table_has_every_route_that_can_be_restricted() -> None:
    assert sorted(URLS) == sorted(ROUTES)


@each("path", PATHS)
def test_restricted_route_without_key_is_401(locked, path: str) -> None:
    """This holds for existing, licensed and missing resources."""
    web = locked[1]
    rejected = status_and_body(web.ask(path))

    assert rejected == (401, {"detail": "Authentication credentials were not provided."})
    assert status_and_body(web.ask(path, X_API_Key="nonsense")) == (401, {"detail": "Invalid token."})


@each("path", PATHS)
def test_restricted_route_with_key_is_private(web: Web, locked, path: str) -> None:
    """Status and body are those of the public route. Shared caches may not keep them."""
    response, public = locked[1].ask(path, X_API_Key="key-one"), web.ask(path)

    assert (response.status, response.body) == (public.status, public.body)
    if response.status == 400:
        assert response["cache-control"] == "no-store"
    else:
        assert response["cache-control"] == public["cache-control"].replace("public", "private")
    assert "X-API-Key" in response["vary"].split(", ")


@each(
    ("path", "same_body"),
    [
        ("/api/v2/chapters?series=full-book", "/api/v2/series/full-book/chapters"),
        ("/api/v2/chapters?series=full-book&date_format=timestamp", "/api/v2/series/full-book/chapters"),
        ("/api/v2/pages?series=full-book&volume=1&number=1", "/api/v2/chapters/11/pages"),
        ("/api/v2/series?sort=title", "/api/v2/series/full-book"),
    ],
)
def test_restricted_route_is_private_for_shared_files(half_locked: Web, path: str, same_body: str) -> None:
    """The same body may be public at another URL."""
    response = half_locked.ask(path, X_API_Key="key-one")
    not_modified = half_locked.ask(path, X_API_Key="key-one", If_None_Match=response["etag"])

    assert half_locked.ask(path).status == 401
    assert (response.status, response["cache-control"]) == (200, "private, max-age=300")
    assert (not_modified.status, not_modified["cache-control"], not_modified["vary"]) == (
        304,
        "private, max-age=300",
        response["vary"],
    )
    assert half_locked.ask(same_body)["cache-control"] == "public, max-age=300"
    assert "X-API-Key" not in (half_locked.ask(same_body)["vary"] or "")


def test_pages_of_a_public_series_may_need_a_key(tmp_path) -> None:
    """Then its numbers cannot be found by the deprecated URL either, which the site does not restrict itself."""
    with served(tmp_path, settings='restricted: ["/chapters/{id}/pages"]') as (_, web):
        for number in ("1", "999"):
            path = f"/api/v2/pages?series=full-book&volume=1&number={number}"
            assert web.ask(path).status == 401
            assert (web.ask(path, X_API_Key="key-one").body == b'{"results":[]}') == (number == "999")
        for path in (path.replace("full-book", slug) for slug in ("nobody", "in-shops", "tomorrow")):
            assert web.ask(path).body == b'{"results":[]}'


@each(
    "path",
    [
        *("/api/V2/series?title=full", "/api/v2/SERIES?limit=2", "/api/v2/Pages?a=b"),
        *("/api/v2/series%0A", "/api/v2/series%0a?page=2", "/api/v2/pages%0A/"),
    ],
)
def test_restricted_route_in_another_case_or_with_a_line_break_is_404(half_locked: Web, path: str) -> None:
    """It is a 404 with and without a key."""
    for headers in ({}, {"X_API_Key": "key-one"}, {"X_API_Key": "nonsense"}):
        response = half_locked.ask(path, **headers)
        assert (response.status, response["cache-control"], response["vary"]) == (404, "public, max-age=60", None)


def test_bodies_of_restricted_routes_are_in_the_private_tree(locked) -> None:
    """Only the documentation of v2 remains public."""
    site, _ = locked
    public = {
        url
        for url, published in site.manifest.resources.items()
        if url.startswith("/api/v2/") and not published.restricted
    }

    assert {url for url in public if not url.startswith(("/api/v2/docs", "/api/v2/openapi"))} == {
        "/api/v2/pages?series=~&volume=0&number=0"
    } & public
