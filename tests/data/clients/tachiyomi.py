"""Tachiyomi, Mihon, Komikku, Suwayomi (T3), its rewrite (T4), the port of it (M1), and an older version (T2b).

kotlinx.serialization ignores unknown keys and is exact otherwise: one invalid element fails the whole list.
"""

from tests.data.clients.app import IN_MILLISECONDS, App, Get, by_chapters, images, until_last
from tests.data.clients.strict import (
    CHAPTER_PATH,
    SERIES_PATH,
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

LISTED = fields(last=boolean, results=array(fields(slug=string, title=string, cover=absolute)))
DETAIL = fields(
    slug=string,
    title=string,
    cover=absolute,
    description=nullable(string),
    status=STATUS,
    licensed=boolean,
    aliases=array(string),
    authors=array(string),
    artists=array(string),
    categories=array(string),
)
CHAPTER = {
    "id": int32,
    "title": string,
    "number": number,
    "volume": nullable(int32),
    "published": digits,
    "final": boolean,
    "series": string,
    "groups": array(string),
    "full_title": string,
}
PAGES = fields(results=array(fields(id=int32, image=absolute, number=int32, url=string)))

READS = {
    "list": LISTED,
    "detail": DETAIL,
    "chapters in milliseconds": fields(results=array(fields(**CHAPTER))),
    "pages": PAGES,
}


IMAGES = by_chapters(READS["chapters in milliseconds"], PAGES, DETAIL, IN_MILLISECONDS)
CURRENT = App(
    "T3",
    READS,
    browse=lambda get: list(until_last(get, LISTED, "/api/v2/series?page={page}&sort=-views")),
    images=IMAGES,
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
    READS,
    browse=lambda get: list(until_last(get, LISTED, "/api/v2/series?page={page}&sort=-latest_upload")),
    images=IMAGES,
    searches={"/api/v2/series?page=1&title=full&author=&artist=&status=Any&sort=&categories=": ["full-book"]},
    headers={"Referer": "https://lists.example/", "Origin": "https://lists.example"},
)

PORT = App(
    "M1",
    READS,
    browse=lambda get: list(until_last(get, LISTED, "/api/v2/series?page={page}&sort=title")),
    images=IMAGES,
    searches={"/api/v2/series?page=1&status=canceled&title=own": ["hasOwnProperty"]},
)

OLD_LISTED = fields(total=int32, last=boolean, results=array(fields(slug=string, title=string, url=SERIES_PATH)))
OLD_CHAPTERS = fields(results=array(fields(**CHAPTER, url=CHAPTER_PATH)))


def _old_images(get: Get, slug: str) -> list[str]:
    chapters = OLD_CHAPTERS(get(f"/api/v2/chapters?series={slug}&date_format=timestamp"))
    urls = []
    for chapter in chapters["results"]:
        _, _, series, volume, number, _ = chapter["url"].split("/")
        query = f"series={series}&volume={volume}&number={number}"
        urls += images(PAGES(get(f"/api/v2/pages?track=true&{query}")))
        # Before views were counted, the app did not send `track`.
        assert get(f"/api/v2/pages?{query}") == get(f"/api/v2/pages?track=true&{query}")
    return urls


DEPRECATED = App(
    "T2b",
    {**READS, "list": OLD_LISTED, "chapters in milliseconds": OLD_CHAPTERS},
    browse=lambda get: list(until_last(get, OLD_LISTED, "/api/v2/series?page={page}&sort=-chapter_count")),
    images=_old_images,
    # For two months the app sent the label instead of the value.
    searches={"/api/v2/series?page=1&title=full&sort=Latest%20upload": ["full-book"]},
)
