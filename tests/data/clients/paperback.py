"""Paperback 0.8 (P1), which also runs in browsers, and the port to 0.9 (P2).

JavaScript checks no types, but a missing array throws, and an invalid date is displayed as such.
"""

from tests.data.clients.app import App, Get, images, slugs, until_last
from tests.data.clients.strict import (
    ISO,
    absolute,
    any_of,
    array,
    boolean,
    digits,
    fields,
    int32,
    nullable,
    number,
    string,
)

LISTED = fields(
    last=boolean,
    results=array(fields(slug=string, title=string, cover=absolute, updated=ISO, chapters=nullable(int32))),
)
DETAIL = fields(
    slug=string,
    title=string,
    cover=absolute,
    description=string,
    status=any_of("ongoing", "completed", "hiatus", "canceled"),
    licensed=boolean,
    aliases=array(string),
    authors=array(string),
    artists=array(string),
    categories=array(string),
    views=int32,
)
CHAPTER = {
    "id": int32,
    "number": number,
    "volume": nullable(int32),
    "groups": array(string),
    "full_title": string,
}
CHAPTERS = fields(results=array(fields(**CHAPTER, published=ISO)))
PAGES = fields(results=array(fields(image=absolute, number=int32)))
CATEGORIES = fields(results=array(fields(name=string, description=string)))


def _images(get: Get, slug: str) -> list[str]:
    DETAIL(get(f"/api/v2/series/{slug}"))
    chapters = CHAPTERS(get(f"/api/v2/series/{slug}/chapters"))
    bodies = [PAGES(get(f"/api/v2/chapters/{chapter['id']}/pages?track=true")) for chapter in chapters["results"]]
    return [image for body in bodies for image in images(body)]


def _browse(get: Get) -> list[str]:
    CATEGORIES(get("/api/v2/categories"))
    home = [LISTED(get(f"/api/v2/series?sort={sort}")) for sort in ("title", "-views", "-latest_upload")]
    more = list(until_last(get, LISTED, "/api/v2/series?page={page}&sort=-views"))
    assert slugs(home[1]) == more[: len(slugs(home[1]))]
    return more


OFFICIAL = App(
    "P1",
    {"list": LISTED, "detail": DETAIL, "chapters": CHAPTERS, "pages": PAGES, "categories": CATEGORIES},
    browse=_browse,
    images=_images,
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


def _port_images(get: Get, slug: str) -> list[str]:
    chapters = fields(results=array(fields(**CHAPTER, published=digits)))
    listed = chapters(get(f"/api/v2/series/{slug}/chapters?date_format=timestamp"))
    bodies = [PAGES(get(f"/api/v2/chapters/{chapter['id']}/pages?track=true")) for chapter in listed["results"]]
    return [image for body in bodies for image in images(body)]


PORT = App(
    "P2",
    {"list": LISTED, "detail": DETAIL, "pages": PAGES},
    browse=lambda get: list(until_last(get, LISTED, "/api/v2/series?page={page}&title=")),
    images=_port_images,
    searches={
        "/api/v2/series?page=1&title=full&sort=-latest_upload&author=ada&artist=bo&status=hiatus": ["full-book"],
    },
    headers={"Referer": "https://lists.example/", "Accept": "application/json, text/plain, */*"},
)
