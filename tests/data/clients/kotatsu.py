"""Kotatsu (K1) and its ports (N1, N2): org.json, whose getX throw when a key is missing.

They never read `last`: they load pages until one is empty, repeats another, or is a 404.
"""

from typing import Any

from tests.data.clients.app import IN_MILLISECONDS, App, Get, by_chapters, slugs
from tests.data.clients.strict import (
    CHAPTER_PATH,
    Broken,
    absolute,
    array,
    digits,
    fields,
    long,
    need,
    nullable,
    number,
    string,
)


def _path(value: Any) -> str:
    """The app cuts the slug out of the path, from the 8th character to the last but one."""
    need(f"/reader/{string(value)[8:-1]}/" == value, "no path of a series", value)
    return value


LISTED = fields(
    results=array(fields(slug=string, title=string, url=_path, cover=absolute, chapters=nullable(long))),
)
DETAIL = fields(
    description=string,
    status=string,
    aliases=array(string),
    authors=array(string),
    artists=array(string),
    categories=array(string),
)
CHAPTERS = fields(
    results=array(
        fields(
            id=long,
            title=string,
            number=number,
            volume=nullable(long),
            published=digits,
            groups=array(string),
            full_title=string,
            url=CHAPTER_PATH,
        )
    )
)
PAGES = fields(results=array(fields(id=long, image=absolute, number=long)))
CATEGORIES = fields(results=array(fields(name=string)))


def _browse(get: Get) -> list[str]:
    CATEGORIES(get("/api/v2/categories"))
    listed_slugs: dict[str, None] = {}
    page, before = 1, -1
    while before < len(listed_slugs):
        before = len(listed_slugs)
        try:
            listed = LISTED(get(f"/api/v2/series?limit=25&page={page}&categories=%2C&sort=title"))
        except Broken:
            break
        assert all(series["url"][8:-1] == series["slug"] for series in listed["results"])
        listed_slugs.update(dict.fromkeys(slugs(listed)))
        page += 1
    return list(listed_slugs)


KOTATSU = App(
    "K1",
    {
        "list": LISTED,
        "detail": DETAIL,
        "chapters in milliseconds": CHAPTERS,
        "pages": PAGES,
        "categories": CATEGORIES,
    },
    browse=_browse,
    # The port sends the id from the response; Kotatsu itself sends a hash of it, which no chapter has.
    images=by_chapters(CHAPTERS, PAGES, DETAIL, IN_MILLISECONDS),
    searches={
        # A comma follows the last category, even if there is none.
        "/api/v2/series?limit=25&page=1&title=full&categories=%2C&sort=title": ["full-book"],
        "/api/v2/series?limit=25&page=1&categories=Action%2C-Drama%2C&status=hiatus&sort=-latest_upload": ["full-book"],
        "/api/v2/series?limit=10&page=1&title=full&categories=,&sort=-views": ["full-book"],
        "/api/v2/series?categories=Jubilee,Steins;Gate&title=%2B+a": ["signs"],
    },
    headers={"User_Agent": "Kotatsu/6.8 (Android 13;;; en)"},
)
