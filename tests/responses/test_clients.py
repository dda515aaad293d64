"""Real apps: strict decoders read every body, and the exact requests of each app return what it needs."""

import json
import re

import pytest

from tests.conftest import Site
from tests.data.clients import apps
from tests.data.clients import bodies as decoders
from tests.data.clients.apps import APPS, App
from tests.data.clients.strict import Broken, Reader, parse
from tests.support.nginx_client import Web
from tests.support.tables import each

# The URLs of each kind of body, and its decoder.
KINDS: dict[str, tuple[str, Reader]] = {
    "list": (r"/api/v2/series(?:\?.*)?", decoders.LISTED),
    "detail": (r"/api/v2/series/[^/?#]+", decoders.DETAIL),
    "chapters": (r"/api/v2/(?:series/[^/]+/)?chapters", decoders.CHAPTERS),
    "dated chapters": (r"/api/v2/(?:series/[^/]+/)?chapters\?date_format=timestamp", decoders.CHAPTERS_IN_MILLISECONDS),
    "pages": (r"/api/v2/(?:chapters/\d+/)?pages(?:\?.*)?", decoders.PAGES),
    "categories": (r"/api/v2/categories", decoders.CATEGORIES),
    "cubari": (r"/api/v2/cubari/[^/]+", decoders.CUBARI),
    "v1 list": (r"/api/v1/series", decoders.V1_LISTED),
    "v1 series": (r"/api/v1/series/[^/]+", decoders.V1_SERIES),
    "v1 chapter": (r"/api/v1/series/[^/]+/[^/]+/[^/]+", decoders.V1_PAGES),
    "v1 releases": (r"/api/v1/releases", decoders.V1_RELEASES),
}
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


@pytest.fixture(scope="module")
def bodies(asked_site: Site) -> dict[str, list[bytes]]:
    """The bodies of each kind, restricted ones included."""
    of_kinds: dict[str, list[bytes]] = {kind: [] for kind in KINDS}
    for url, body in asked_site.manifest.resources.items():
        for kind, (urls, _) in KINDS.items():
            if re.fullmatch(urls, url):
                of_kinds[kind].append((asked_site.folder / "dist" / body.file).read_bytes())
    return of_kinds


@each("kind", [*KINDS])
def test_apps_decode_every_body(bodies: dict[str, list[bytes]], kind: str) -> None:
    """All fields that apps know, each as the strictest of them reads it."""
    assert [KINDS[kind][1](parse(body)) for body in bodies[kind]]


@each("app", {app.name: app for app in APPS if app.browse})
def test_app_that_loads_all_pages_finds_every_series_once(asked_site: Site, web: Web, app: App) -> None:
    """Three pages contain all series with a chapter."""
    kind = "v1 series" if app is apps.OLDEST else "detail"
    expected = {url.rsplit("/", 1)[1] for url in asked_site.manifest.resources if re.fullmatch(KINDS[kind][0], url)}
    assert app.browse

    slugs = app.browse(app.asking(web))

    assert (sorted(slugs), len(slugs)) == (sorted(expected), len(set(slugs)))


@each(
    ("app", "path", "slugs"),
    {f"{app.name}: {path}": (app, path, slugs) for app in APPS for path, slugs in app.searches.items()},
)
def test_search_as_the_app_sends_it(web: Web, app: App, path: str, slugs: list[str]) -> None:
    """Empty parameters, extra commas, upper case and every encoding of a blank mean what the app expects."""
    assert apps.slugs(decoders.LISTED(app.asking(web)(path))) == slugs


@each("app", {app.name: app for app in APPS})
def test_app_finds_all_images_of_a_series(web: Web, app: App) -> None:
    """Each request uses values from the response before."""
    assert sorted(app.images(app.asking(web), "full-book")) == IMAGES


def test_fmd2_stops_at_the_first_missing_page(web: Web) -> None:
    """FMD2 ignores statuses and continues while a body has `last`: three pages, then a 404."""
    slugs, requests = apps.walk(web)

    assert (len(slugs), len(set(slugs)), requests) == (64, 64, 4)


def test_chapter_id_made_by_an_app_is_404(web: Web) -> None:
    """Kotatsu sends a hash of its own as id. An empty list would hide the error."""
    response = apps.KOTATSU.ask(web, "/api/v2/chapters/-8305785190261132033/pages?track=true")

    assert (response.status, json.loads(response.body)) == (404, {"detail": "Not found."})


def test_cubari_chapters_are_in_reading_order(asked_site: Site, bodies: dict[str, list[bytes]]) -> None:
    """They are sorted by volume, with chapters without a volume last, and then by number. Each key is a chapter id."""
    (body,) = (body for body in bodies["cubari"] if b'"Full Book"' in body)
    chapters = decoders.CUBARI(parse(body))["chapters"]

    assert list(chapters) == [11, 12, 23, 21, 22, 20]
    assert {f"/api/v2/chapters/{chapter_id}/pages" for chapter_id in chapters} <= asked_site.manifest.resources.keys()


@each(
    ("kind", "path", "new"),
    [
        ("list", ("last",), None),
        ("list", ("total",), 1.0),
        ("list", ("results", 0, "url"), "/read/a/"),
        ("detail", ("status",), "Ongoing"),
        ("chapters", ("results", 0, "published"), "1700000000000"),
        ("chapters", ("results", 0, "url"), "/reader/a/1/"),
        ("dated chapters", ("results", 0, "published"), 1700000000000),
        ("cubari", ("chapters", "11", "volume"), "None"),
        ("cubari", ("chapters", "11", "groups"), {}),
        ("cubari", ("more",), ""),
        ("v1 chapter", ("pages_root",), "https://a.example/a"),
    ],
)
def test_decoders_reject_what_breaks_the_apps(
    bodies: dict[str, list[bytes]], kind: str, path: tuple[str | int, ...], new: object
) -> None:
    """A decoder that accepts everything would prove nothing."""
    read = KINDS[kind][1]
    body = next(body for body in bodies[kind] if kind != "cubari" or b'"11"' in body)
    value = container = json.loads(body)
    assert read(parse(body))
    for step in path[:-1]:
        container = container[step]
    container[path[-1]] = new

    with pytest.raises(Broken):
        read(parse(json.dumps(value).encode()))
