"""Real apps: their decoders read every body, and their exact requests return what they need."""

import json
import re

import pytest

from tests.conftest import Site
from tests.data.clients import aidoku, kotatsu, others, paperback, tachiyomi, tachiyomi1
from tests.data.clients.app import App
from tests.data.clients.strict import parse
from tests.support.nginx_client import Web
from tests.support.tables import each

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
# The URLs of each kind of body.
KINDS = {
    "list": r"/api/v2/series(?:\?.*)?",
    "detail": r"/api/v2/series/[^/?#]+",
    "chapters": r"/api/v2/(?:series/[^/]+/)?chapters",
    "chapters in milliseconds": r"/api/v2/(?:series/[^/]+/)?chapters\?date_format=timestamp",
    "pages": r"/api/v2/(?:chapters/\d+/)?pages(?:\?.*)?",
    "categories": r"/api/v2/categories",
    "cubari": r"/api/v2/cubari/[^/]+",
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


def apps_with(attribute: str) -> dict[str, App]:
    return {app.name: app for app in APPS if getattr(app, attribute)}


@pytest.fixture
def site(serve) -> Site:
    return serve("v2")[0]


@pytest.fixture(scope="module")
def bodies(serve) -> dict[str, list[bytes]]:
    """The bodies of each kind, restricted ones included."""
    site = serve("v2")[0]
    of_kinds: dict[str, list[bytes]] = {kind: [] for kind in KINDS}
    for url, body in site.manifest.resources.items():
        for kind, urls in KINDS.items():
            if re.fullmatch(urls, url):
                of_kinds[kind].append((site.folder / "dist" / body.file).read_bytes())
    return of_kinds


@each(("app", "kind"), {f"{app.name}: {kind}": (app, kind) for app in APPS for kind in app.reads})
def test_app_decodes_every_body_of_a_kind(bodies: dict[str, list[bytes]], app: App, kind: str) -> None:
    read = [app.reads[kind](parse(body)) for body in bodies[kind]]

    assert read


@each("app", {app.name: app for app in APPS if "detail" in app.reads})
def test_facts_about_a_series_change_nothing_that_an_app_reads(bodies: dict[str, list[bytes]], app: App) -> None:
    """They are later than the apps: set or not, each app reads the same as without them."""
    facts = ("kind", "rating", "language", "links")
    details = [parse(body) for body in bodies["detail"]]
    is_set = [{name for name in facts if detail[name]} for detail in details]
    before = [{name: value for name, value in detail.items() if name not in facts} for detail in details]

    assert set(facts) in is_set and set() in is_set
    assert list(map(app.reads["detail"], details)) == list(map(app.reads["detail"], before))


@each("app", apps_with("browse"))
def test_app_that_loads_all_pages_finds_every_series_once(site: Site, web: Web, app: App) -> None:
    """Three pages contain all series with a chapter."""
    kind = "v1 series" if app is tachiyomi1.OLDEST else "detail"
    expected = {url.rsplit("/", 1)[1] for url in site.manifest.resources if re.fullmatch(KINDS[kind], url)}
    if app is aidoku.LEGACY:
        expected -= UNREADABLE

    slugs = app.browse(app.asking(web))

    assert (sorted(slugs), len(slugs)) == (sorted(expected), len(set(slugs)))


@each(
    ("app", "path", "slugs"),
    {f"{app.name}: {path}": (app, path, slugs) for app in APPS for path, slugs in app.searches.items()},
)
def test_search_as_the_app_sends_it(web: Web, app: App, path: str, slugs: list[str]) -> None:
    """Empty parameters, extra commas, upper case and every encoding of a blank mean what the app expects."""
    assert [series["slug"] for series in app.reads["list"](app.asking(web)(path))["results"]] == slugs


@each("app", apps_with("images"))
def test_app_finds_all_images_of_a_series(web: Web, app: App) -> None:
    """Each request uses values from the response before."""
    assert sorted(app.images(app.asking(web), "full-book")) == IMAGES


@each("path", ["/api/v2/series?slug=full-book", "/api/v2/series?slug=FULL-BOOK"])
def test_deep_link_lists_one_series(web: Web, path: str) -> None:
    """Tachiyomi opens /reader/{slug} with a list that must have one entry."""
    page = tachiyomi.LISTED(tachiyomi.CURRENT.asking(web)(path))

    assert page == {
        "last": True,
        "results": [
            {
                "slug": "full-book",
                "title": "Full Book",
                "cover": "https://lists.example/media/series/full-book/my%20cover.jpg",
            }
        ],
    }


def test_fmd2_stops_at_the_first_missing_page(site: Site, web: Web) -> None:
    """FMD2 ignores statuses and continues while a body has `last`: three pages, then a 404."""
    slugs, requests = others.walk(lambda path: others.FMD2.ask(web, path))

    assert (len(slugs), len(set(slugs)), requests) == (64, 64, 4)


def test_chapter_id_made_by_an_app_is_404(web: Web) -> None:
    """Kotatsu sends a hash of its own as id. An empty list would hide the error."""
    response = kotatsu.KOTATSU.ask(web, "/api/v2/chapters/-8305785190261132033/pages?track=true")

    assert (response.status, json.loads(response.body)) == (404, {"detail": "Not found."})


def test_limit_999_returns_everything_on_one_page(web: Web) -> None:
    """HakuNeko loads its directory like this."""
    page = others.HAKUNEKO.asking(web)("/api/v2/series?limit=999")

    assert (page["total"], page["last"], len(page["results"])) == (64, True, 64)


def test_cubari_chapters_are_in_reading_order(site: Site, bodies: dict[str, list[bytes]]) -> None:
    """They are sorted by volume, with chapters without a volume last, and then by number. Each key is a chapter id."""
    (body,) = (body for body in bodies["cubari"] if b'"Full Book"' in body)
    chapters = others.CUBARI_SERIES(parse(body))["chapters"]

    assert list(chapters) == [11, 12, 23, 21, 22, 20]
    assert {f"/api/v2/chapters/{chapter_id}/pages" for chapter_id in chapters} <= site.manifest.resources.keys()


@each("query", ["", "?q=full&author=ada&status=any&categories=action%2C-drama", "?slug=full-book"])
def test_v1_list_ignores_parameters_and_trailing_slash(web: Web, query: str) -> None:
    """v1 defines no parameters."""
    responses = [web.ask(f"/api/v1/series{slash}{query}").body for slash in ("", "/")]

    assert responses == [web.ask("/api/v1/series").body] * 2


def test_v1_releases_with_a_trailing_slash(web: Web) -> None:
    """The oldest app reads the date of each release."""
    assert tachiyomi1.RELEASES(tachiyomi1.OLDEST.asking(web)("/api/v1/releases/"))
