"""The apps that read /api/v2 or /api/v1: their requests, as each spells them, and what a reader does with them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.data.clients import bodies
from tests.data.clients.strict import Broken, Reader, absolute, parse
from tests.support.nginx_client import Answer, Web

Get = Callable[[str], Any]
Browse = Callable[[Get], list[str]]


@dataclass(frozen=True)
class App:
    """An app: its request headers and its URLs as it spells them.

    `browse` loads all pages of the list and returns slugs. `images` returns the image URLs of a series.
    `searches` are URLs of searches with the expected slugs.
    """

    name: str
    images: Callable[[Get, str], list[str]]
    browse: Browse | None = None
    searches: Mapping[str, list[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def asking(self, web: Web) -> Get:
        """A function that sends requests as the app does, and raises `Broken` if the status is not 200."""

        def get(path: str) -> Any:
            response = self.ask(web, path)
            if response.status != 200:
                raise Broken(f"{path}: HTTP error {response.status}")
            if response["content-type"] != "application/json":
                raise Broken(f"{path}: {response['content-type']}")
            return parse(response.body)

        return get

    def ask(self, web: Web, path: str) -> Answer:
        return web.ask(path, **self.headers)


def slugs(body: Any) -> list[str]:
    return [series["slug"] for series in body["results"]]


def images(body: Any) -> list[str]:
    return [page["image"] for page in bodies.PAGES(body)["results"]]


def by_chapters(read: Reader, query: str) -> Callable[[Get, str], list[str]]:
    """Load a series, its chapters and the pages of each, as most apps do: the image URLs."""

    def load(get: Get, slug: str) -> list[str]:
        bodies.DETAIL(get(f"/api/v2/series/{slug}"))
        chapters = read(get(f"/api/v2/series/{slug}/chapters{query}"))["results"]
        pages = [get(f"/api/v2/chapters/{chapter['id']}/pages?track=true") for chapter in chapters]
        # The number of a page, less one, is its index in Aidoku's list.
        assert all(
            [page["number"] for page in body["results"]] == [*range(1, len(body["results"]) + 1)] for body in pages
        )
        return [image for body in pages for image in images(body)]

    return load


BY_CHAPTERS = by_chapters(bodies.CHAPTERS, "")
IN_MILLISECONDS = by_chapters(bodies.CHAPTERS_IN_MILLISECONDS, "?date_format=timestamp")


def until_last(rest: str) -> Browse:
    """Load pages until `last` is true, as most apps do."""

    def load(get: Get) -> list[str]:
        loaded, number, last = [], 1, False
        while not last:
            body = bodies.LISTED(get(f"/api/v2/series?page={number}{rest}"))
            loaded += slugs(body)
            number, last = number + 1, body["last"]
        return loaded

    return load


# Tachiyomi, Mihon, Komikku, Suwayomi (T3), its rewrite (T4), the port of it (M1), and an older version (T2b).

TACHIYOMI = App(
    "T3",
    IN_MILLISECONDS,
    until_last("&sort=-views"),
    searches={
        # The app sends every parameter, most of them empty.
        "/api/v2/series?page=1&title=full&author=&artist=&status=Any&sort=&categories=": ["full-book"],
        "/api/v2/series?page=1&author=&artist=&sort=&status=Any&title=full&categories=": ["full-book"],
        "/api/v2/series?page=1&title=&author=%D0%BE%D0%BB%D1%8C%D0%B3%D0%B0&artist=&status=Hiatus&sort=title"
        "&categories=Slice%20of%20Life%2C-Drama": ["full-book"],
        "/api/v2/series?page=1&title=own&author=&artist=&status=Cancelled&sort=-latest_upload&categories=Action": [
            "hasOwnProperty"
        ],
        "/api/v2/series?page=1&title=&author=Q%20%26%20A&artist=&status=Any&sort=title&categories=Steins%3BGate": [
            "signs"
        ],
        "/api/v2/series?slug=full-book": ["full-book"],
    },
    headers={
        "User_Agent": "Mozilla/5.0 (Android 14; Mobile) Tachiyomi/0.15.3",
        "Cache_Control": "max-age=600",
        "Accept_Encoding": "identity",
    },
)
REWRITE = App(
    "T4",
    IN_MILLISECONDS,
    until_last("&sort=-latest_upload"),
    headers={"Referer": "https://lists.example/", "Origin": "https://lists.example"},
)
PORT = App(
    "M1",
    IN_MILLISECONDS,
    until_last("&sort=title"),
    searches={"/api/v2/series?page=1&status=canceled&title=own": ["hasOwnProperty"]},
)


def _by_numbers(chapters: Any, get: Get) -> list[str]:
    """Load the pages of chapters by the numbers in their URLs."""
    urls = []
    for chapter in chapters["results"]:
        _, _, series, volume, number, _ = chapter["url"].split("/")
        query = f"series={series}&volume={volume}&number={number}"
        pages = get(f"/api/v2/pages?{query}")
        urls += images(pages)
        # Before views were counted, no app sent `track`.
        assert get(f"/api/v2/pages?track=true&{query}") == pages
    return urls


DEPRECATED = App(
    "T2b",
    lambda get, slug: _by_numbers(
        bodies.CHAPTERS_IN_MILLISECONDS(get(f"/api/v2/chapters?series={slug}&date_format=timestamp")), get
    ),
    until_last("&sort=-chapter_count"),
    # For two months the app sent the label instead of the value.
    searches={"/api/v2/series?page=1&title=full&sort=Latest%20upload": ["full-book"]},
)

# Paperback 0.8 (P1), which also runs in browsers, and the port to 0.9 (P2).


def _home_and_list(get: Get) -> list[str]:
    bodies.CATEGORIES(get("/api/v2/categories"))
    home = [bodies.LISTED(get(f"/api/v2/series?sort={sort}")) for sort in ("title", "-views", "-latest_upload")]
    more = until_last("&sort=-views")(get)
    assert slugs(home[1]) == more[: len(slugs(home[1]))]
    return more


PAPERBACK = App(
    "P1",
    BY_CHAPTERS,
    _home_and_list,
    searches={
        # Form encoding: blanks are +, commas are %2C, and `categories` is always present.
        "/api/v2/series?title=full+book&categories=Action%2C-Drama&page=1&sort=title": ["full-book"],
        "/api/v2/series?title=full+book&categories=&page=1&sort=title": ["full-book"],
        "/api/v2/series?title=dusty&categories=Slice+of+Life%2C-Drama%2C-Steins%3BGate&page=1&sort=-views": [
            "dusty-harbor",
            "dusty-quarry",
            "dusty-orchard",
        ],
    },
    headers={"User_Agent": "Mozilla/5.0 (iPhone; like Mac OS X) Paperback-iOS/0.8.8"},
)
PAPERBACK_PORT = App(
    "P2",
    IN_MILLISECONDS,
    until_last("&title="),
    searches={
        "/api/v2/series?page=1&title=full&sort=-latest_upload&author=ada&artist=bo&status=hiatus": ["full-book"],
    },
    headers={"Referer": "https://lists.example/", "Accept": "application/json, text/plain, */*"},
)

# Aidoku's legacy source (A1) drops licensed series.
AIDOKU = App(
    "A1",
    IN_MILLISECONDS,
    searches={
        "/api/v2/series?page=1&title=full&author=ada&status=any&sort=title&categories=action,-drama": ["full-book"],
        "/api/v2/series?page=1&title=full&author=&status=hiatus&sort=-chapter_count"
        "&categories=slice%20of%20life,-steins;gate": ["full-book"],
    },
    headers={"User_Agent": "Mozilla/5.0 (iPhone; like Mac OS X) Aidoku/0.1"},
)


def _until_repeated(get: Get) -> list[str]:
    """Load pages until one is empty, repeats another, or is a 404. It never reads `last`."""
    bodies.CATEGORIES(get("/api/v2/categories"))
    listed_slugs: dict[str, None] = {}
    page, before = 1, -1
    while before < len(listed_slugs):
        before = len(listed_slugs)
        try:
            listed = bodies.LISTED(get(f"/api/v2/series?limit=25&page={page}&categories=%2C&sort=title"))
        except Broken:
            break
        # The app cuts the slug out of the path, from the 8th character to the last but one.
        assert all(series["url"][8:-1] == series["slug"] for series in listed["results"])
        listed_slugs.update(dict.fromkeys(slugs(listed)))
        page += 1
    return list(listed_slugs)


# Kotatsu (K1) and its ports (N1, N2).
KOTATSU = App(
    "K1",
    # The port sends the id from the response; Kotatsu itself sends a hash of it, which no chapter has.
    IN_MILLISECONDS,
    _until_repeated,
    searches={
        # A comma follows the last category, even if there is none.
        "/api/v2/series?limit=25&page=1&title=full&categories=%2C&sort=title": ["full-book"],
        "/api/v2/series?limit=25&page=1&categories=Action%2C-Drama%2C&status=hiatus&sort=-latest_upload": ["full-book"],
        "/api/v2/series?limit=10&page=1&title=full&categories=,&sort=-views": ["full-book"],
        "/api/v2/series?categories=Jubilee,Steins;Gate&title=%2B+a": ["signs"],
    },
    headers={"User_Agent": "Kotatsu/6.8 (Android 13;;; en)"},
)

# FMD2 (F1), HakuNeko (H1), Houdoku (U1), two scrapers (M3, M4), and cubari.moe (C1).


def walk(web: Web) -> tuple[list[str], int]:
    """Load pages until a body has no `last`, as FMD2 does. Return the slugs and the number of requests."""
    found: list[str] = []
    for page in range(1, 1000):
        body = parse(FMD2.ask(web, f"/api/v2/series?page={page}").body)
        if "last" not in body:
            return found, page
        found += [series["url"].split("/")[2] for series in bodies.LISTED(body)["results"]]
    raise Broken("the directory never ends")


FMD2 = App(
    "F1",
    lambda get, slug: _by_numbers(bodies.CHAPTERS(get(f"/api/v2/series/{slug}/chapters")), get),
    headers={"Accept": "*/*"},
)
HAKUNEKO = App("H1", BY_CHAPTERS, lambda get: slugs(bodies.LISTED(get("/api/v2/series?limit=999"))))
HOUDOKU = App(
    "U1",
    IN_MILLISECONDS,
    searches={
        "/api/v2/series?page=1&title=full&sort=-views&author=ada&artist=bo&status=any&categories=action,-drama": [
            "full-book"
        ]
    },
)
SCRAPER = App("M3", IN_MILLISECONDS, searches={"/api/v2/series?page=1&title=full": ["full-book"]})
CONNECTOR = App(
    "M4",
    BY_CHAPTERS,
    until_last(""),
    searches={"/api/v2/series?title=full": ["full-book"]},
    headers={"Accept": "application/json"},
)


def _by_keys(get: Get, slug: str) -> list[str]:
    """Load pages by chapter key, newest first, as the site lists them."""
    chapters = bodies.CUBARI(get(f"/api/v2/cubari/{slug}"))["chapters"]
    return [image for key in reversed(chapters) for image in images(get(f"/api/v2/chapters/{key}/pages?track=true"))]


CUBARI = App("C1", _by_keys, headers={"X_Requested_With": "cubari", "Referer": "https://cubari.moe/"})

# The apps of 2018 to 2021 (T0, T1), which read v1: a slash at the end of every path.


def _by_volumes(get: Get, slug: str) -> list[str]:
    series = bodies.V1_SERIES(get(f"/api/v1/series/{slug}/"))
    urls = []
    for chapters in series["volumes"].values():
        for entry in chapters.values():
            _, _, _, _, _, volume, chapter, _ = entry["url"].split("/")
            pages = bodies.V1_PAGES(get(f"/api/v1/series/{slug}/{volume}/{chapter}/"))
            urls += [absolute(pages["pages_root"] + page) for page in pages["pages_list"]]
    return urls


OLDEST = App(
    "T1",
    _by_volumes,
    lambda get: [one["slug"] for one in bodies.V1_LISTED(get("/api/v1/series/?q=&categories="))],
    headers={"User_Agent": "Mozilla/5.0 Tachiyomi/1.2.3", "Referer": "https://lists.example"},
)
APPS = tuple(value for value in vars().values() if isinstance(value, App))
