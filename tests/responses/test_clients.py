"""Apps in the field: their decoders on everything that is sent, and their requests, letter for letter."""

import json
import re
from collections.abc import Iterator

import pytest

from tests.conftest import Site
from tests.data.clients import aidoku, kotatsu, others, paperback, tachiyomi, tachiyomi1
from tests.data.clients.app import App
from tests.data.clients.strict import parse
from tests.support.nginx_client import Web

APPS = (
    tachiyomi.CURRENT,
    tachiyomi.REWRITE,
    tachiyomi.PORT,
    tachiyomi.DEPRECATED,
    paperback.OFFICIAL,
    paperback.PORT,
    aidoku.LEGACY,
    kotatsu.KOTATSU,
    others.FMD2,
    others.HAKUNEKO,
    others.HOUDOKU,
    others.SCRAPER,
    others.CONNECTOR,
    others.CUBARI,
    tachiyomi1.OLDEST,
)
# Which URL holds which kind of body.
KINDS = {
    "list": r"/api/v2/series(?:\?.*)?",
    "detail": r"/api/v2/series/[^/?#]+",
    "chapters": r"/api/v2/(?:series/[^/]+/)?chapters",
    "chapters in milliseconds": r"/api/v2/(?:series/[^/]+/)?chapters\?date_format=timestamp",
    "pages": r"/api/v2/(?:chapters/\d+/)?pages(?:\?.*)?",
    "categories": r"/api/v2/categories",
    "reader": r"/api/v2/cubari/[^/]+",
    "v1 list": r"/api/v1/series",
    "v1 series": r"/api/v1/series/[^/]+",
    "v1 chapter": r"/api/v1/series/[^/]+/[^/]+/[^/]+",
    "v1 releases": r"/api/v1/releases",
}
UNREADABLE = {"in-shops", "in-shops-for-members"}
IMAGES = [
    f"https://lists.example/media/series/full-book/{page}"
    for page in (
        "0/0/1.png",
        "1/1/%E4%B8%89.png",
        "1/1/001.png",
        "1/1/two%20%26%20a%20half.png",
        "1/2.5/1.png",
        "1/99/1.png",
        "2/10/1.png",
        "2/3/1.png",
    )
]


def every(attribute: str) -> list[object]:
    return [pytest.param(app, id=app.name) for app in APPS if getattr(app, attribute)]


@pytest.fixture
def site(serve) -> Site:
    return serve("v2")[0]


@pytest.fixture
def web(serve) -> Web:
    return serve("v2")[1]


def bodies(site: Site, kind: str) -> Iterator[bytes]:
    for url, one in site.manifest.resources.items():
        if re.fullmatch(KINDS[kind], url):
            yield (site.folder / "dist" / one.file).read_bytes()


@pytest.mark.parametrize(
    ("app", "kind"), [pytest.param(app, kind, id=f"{app.name}-{kind}") for app in APPS for kind in app.reads]
)
def test_every_body_is_read_by_the_strictest_decoder(site: Site, app: App, kind: str) -> None:
    """Whatever the build wrote of a kind, restricted bodies included, an app that asks for it can decode."""
    read = [app.reads[kind](parse(body)) for body in bodies(site, kind)]

    assert read


@pytest.mark.parametrize("app", every("browse"))
def test_an_app_that_pages_through_everything_finds_every_series_once(site: Site, web: Web, app: App) -> None:
    """Three pages, each asked for as the app asks, hold all series that have a chapter."""
    kind = "v1 series" if app is tachiyomi1.OLDEST else "detail"
    wanted = {url.rsplit("/", 1)[1] for url in site.manifest.resources if re.fullmatch(KINDS[kind], url)}
    if app is aidoku.LEGACY:
        wanted -= UNREADABLE

    found = app.browse(app.asking(web))

    assert (sorted(found), len(found)) == (sorted(wanted), len(set(found)))


@pytest.mark.parametrize(
    ("app", "path", "found"),
    [
        pytest.param(app, path, found, id=f"{app.name}-{path.partition('?')[2][:60]}")
        for app in APPS
        for path, found in app.searches.items()
    ],
)
def test_a_search_as_the_app_spells_it_finds_what_it_should(web: Web, app: App, path: str, found: list[str]) -> None:
    """Empty parameters, stray commas, capitals and every way to write a blank mean what the app means."""
    assert [one["slug"] for one in app.reads["list"](app.asking(web)(path))["results"]] == found


@pytest.mark.parametrize("app", every("images"))
def test_an_app_gets_from_a_series_to_all_of_its_images(web: Web, app: App) -> None:
    """Details, chapters and pages, each by what the answer before it said."""
    assert sorted(app.images(app.asking(web), "full-book")) == IMAGES


@pytest.mark.parametrize("path", ["/api/v2/series?slug=full-book", "/api/v2/series?slug=FULL-BOOK"])
def test_a_deep_link_lists_exactly_its_series(web: Web, path: str) -> None:
    """Tachiyomi opens /reader/{slug} by a list that must have one entry."""
    found = tachiyomi.LISTED(tachiyomi.CURRENT.asking(web)(path))

    assert found == {
        "last": True,
        "results": [
            {
                "slug": "full-book",
                "title": "Full Book",
                "cover": "https://lists.example/media/series/full-book/my%20cover.jpg",
            }
        ],
    }


def test_a_directory_walk_ends_with_the_first_page_that_does_not_exist(site: Site, web: Web) -> None:
    """FMD2 reads bodies whatever their status and goes on while there is a `last`: three pages, then none."""
    found, asked = others.walk(lambda path: others.FMD2.ask(web, path))

    assert (len(found), len(set(found)), asked) == (64, 64, 4)


def test_an_id_that_only_an_app_knows_is_not_found(web: Web) -> None:
    """Kotatsu asks for pages with a hash of its own; that is a 404, and no list of nothing."""
    answer = kotatsu.KOTATSU.ask(web, "/api/v2/chapters/-8305785190261132033/pages?track=true")

    assert (answer.status, json.loads(answer.body)) == (404, {"detail": "Not found."})


def test_the_directory_of_hakuneko_is_whole(web: Web) -> None:
    """With limit=999 there is one page, and it is the last."""
    found = others.HAKUNEKO.asking(web)("/api/v2/series?limit=999")

    assert (found["total"], found["last"], len(found["results"])) == (64, True, 64)


def test_keys_of_the_reader_object_are_chapters_in_reading_order(site: Site) -> None:
    """By volume, those without one last, then by number; each key has pages to be asked for."""
    (body,) = (body for body in bodies(site, "reader") if b'"Full Book"' in body)
    chapters = others.READER_SERIES(parse(body))["chapters"]

    assert list(chapters) == [11, 12, 23, 21, 22, 20]
    assert all(f"/api/v2/chapters/{one}/pages" in site.manifest.resources for one in chapters)


@pytest.mark.parametrize("query", ["", "?q=full&author=ada&status=any&categories=action%2C-drama", "?slug=full-book"])
def test_old_apps_are_given_the_whole_list_whatever_they_ask(web: Web, query: str) -> None:
    """The first families know no parameters, and no difference between a path with a slash and one without."""
    answers = [web.ask(f"/api/v1/series{slash}{query}").body for slash in ("", "/")]

    assert answers == [web.ask("/api/v1/series").body] * 2


def test_the_releases_of_v1_are_read_with_a_slash(web: Web) -> None:
    """The oldest app's page of new chapters: every release has a chapter with a date."""
    assert tachiyomi1.RELEASES(tachiyomi1.OLDEST.asking(web)("/api/v1/releases/"))
