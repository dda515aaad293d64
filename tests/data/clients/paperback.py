"""Paperback 0.8 (P1), which also runs in browsers, and the port to 0.9 (P2).

JavaScript checks no types, but a missing array throws, and an invalid date is displayed as such.
"""

from tests.data.clients.app import IN_MILLISECONDS, App, Get, by_chapters, slugs, until_last
from tests.data.clients.strict import (
    ISO,
    STATUS,
    absolute,
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
    status=STATUS,
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
    images=by_chapters(CHAPTERS, PAGES, DETAIL),
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


PORT_CHAPTERS = fields(results=array(fields(**CHAPTER, published=digits)))
PORT = App(
    "P2",
    {"list": LISTED, "detail": DETAIL, "pages": PAGES},
    browse=lambda get: list(until_last(get, LISTED, "/api/v2/series?page={page}&title=")),
    images=by_chapters(PORT_CHAPTERS, PAGES, query=IN_MILLISECONDS),
    searches={
        "/api/v2/series?page=1&title=full&sort=-latest_upload&author=ada&artist=bo&status=hiatus": ["full-book"],
    },
    headers={"Referer": "https://lists.example/", "Accept": "application/json, text/plain, */*"},
)
