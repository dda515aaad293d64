"""FMD2 (F1), HakuNeko (H1), Houdoku (U1), two scrapers (M3, M4), and cubari.moe (C1)."""

import json
from typing import Any

from tests.data.clients.app import IN_MILLISECONDS, App, Get, by_chapters, images, slugs, until_last
from tests.data.clients.strict import (
    CHAPTER_PATH,
    SERIES_PATH,
    STATUS,
    Broken,
    absolute,
    array,
    boolean,
    digits,
    exactly,
    fields,
    int32,
    matching,
    need,
    nullable,
    number,
    parse,
    string,
)

NAMED = {"slug": string, "title": string}
DETAIL = fields(**NAMED, cover=absolute, description=string, status=STATUS)
PAGES = fields(results=array(fields(image=absolute)))

# FMD2: patterns on text. It ignores the status.
F1_LISTED = fields(results=array(fields(title=string, url=SERIES_PATH)))
F1_CHAPTERS = fields(results=array(fields(number=number, url=CHAPTER_PATH)))


def _f1_images(get: Get, slug: str) -> list[str]:
    DETAIL(get(f"/api/v2/series/{slug}"))
    urls = []
    for chapter in F1_CHAPTERS(get(f"/api/v2/series/{slug}/chapters"))["results"]:
        _, _, series, volume, number, _ = chapter["url"].split("/")
        urls += images(PAGES(get(f"/api/v2/pages?series={series}&volume={volume}&number={number}")))
    return urls


def walk(ask: Any) -> tuple[list[str], int]:
    """Load pages until a body has no `last`. Return the slugs and the number of requests."""
    slugs: list[str] = []
    page = 1
    while page < 1000:
        body = ask(f"/api/v2/series?page={page}").body
        if "last" not in json.loads(body):
            return slugs, page
        slugs += [series["url"].split("/")[2] for series in F1_LISTED(parse(body))["results"]]
        page += 1
    raise Broken("the directory never ends")


FMD2 = App(
    "F1",
    {"list": F1_LISTED, "detail": DETAIL, "chapters": F1_CHAPTERS, "pages": PAGES},
    images=_f1_images,
    headers={"Accept": "*/*"},
)

# HakuNeko and Houdoku: plain JavaScript. They drop series without chapters.
LICENSED = {"chapters": nullable(int32)}
H1_LISTED = fields(results=array(fields(**NAMED, **LICENSED)))
H1_CHAPTERS = fields(results=array(fields(id=int32, full_title=string)))
U1_LISTED = fields(last=boolean, results=array(fields(**NAMED, cover=absolute, **LICENSED)))
U1_CHAPTERS = fields(
    results=array(
        fields(
            id=int32, number=number, volume=nullable(int32), published=digits, groups=array(string), full_title=string
        )
    )
)


H1_IMAGES = by_chapters(H1_CHAPTERS, PAGES, fields(title=string))
U1_IMAGES = by_chapters(U1_CHAPTERS, PAGES, DETAIL, IN_MILLISECONDS)
HAKUNEKO = App(
    "H1",
    {"list": H1_LISTED, "chapters": H1_CHAPTERS, "pages": PAGES},
    browse=lambda get: slugs(H1_LISTED(get("/api/v2/series?limit=999"))),
    images=H1_IMAGES,
)
HOUDOKU = App(
    "U1",
    {"list": U1_LISTED, "detail": DETAIL, "chapters in milliseconds": U1_CHAPTERS, "pages": PAGES},
    browse=lambda get: list(until_last(get, U1_LISTED, "/api/v2/series?page={page}&sort=-chapter_count")),
    images=U1_IMAGES,
    searches={
        "/api/v2/series?page=1&title=full&sort=-views&author=ada&artist=bo&status=any&categories=action,-drama": [
            "full-book"
        ]
    },
)
SCRAPER = App(
    "M3",
    {"list": U1_LISTED, "chapters in milliseconds": U1_CHAPTERS, "pages": PAGES},
    browse=lambda get: list(until_last(get, U1_LISTED, "/api/v2/series?page={page}&sort=-latest_upload")),
    images=U1_IMAGES,
    searches={"/api/v2/series?page=1&title=full": ["full-book"]},
)
CONNECTOR = App(
    "M4",
    {"list": U1_LISTED, "chapters": H1_CHAPTERS, "pages": PAGES},
    browse=lambda get: list(until_last(get, U1_LISTED, "/api/v2/series?page={page}")),
    images=H1_IMAGES,
    searches={"/api/v2/series?title=full": ["full-book"]},
    headers={"Accept": "application/json"},
)


# cubari.moe: reads every key without a default, and two texts as integers.


def _groups(value: Any) -> list[str]:
    need(type(value) is dict and len(value) == 1, "not exactly one group", value)
    ((name, urls),) = value.items()
    need(string(name), "a group without a name", value)
    return array(absolute)(urls)


CUBARI_CHAPTER = exactly(
    title=string,
    volume=digits,
    number=matching(r"[0-9]+(?:\.[0-9]*[1-9])?"),
    groups=_groups,
    last_updated=digits,
)


def _chapters(value: Any) -> dict[int, Any]:
    need(type(value) is dict, "no object", value)
    return {digits(key): CUBARI_CHAPTER(chapter) for key, chapter in value.items()}


CUBARI_SERIES = exactly(
    title=string,
    cover=absolute,
    original_url=SERIES_PATH,
    description=string,
    author=string,
    artist=string,
    alt_titles=array(string),
    metadata=array(array(string)),
    chapters=_chapters,
)


def _cubari_images(get: Get, slug: str) -> list[str]:
    """Load pages by chapter key, newest first, as the site lists them."""
    chapters = CUBARI_SERIES(get(f"/api/v2/cubari/{slug}"))["chapters"]
    return [
        image for key in reversed(chapters) for image in images(PAGES(get(f"/api/v2/chapters/{key}/pages?track=true")))
    ]


CUBARI = App(
    "C1",
    {"cubari": CUBARI_SERIES, "pages": PAGES},
    images=_cubari_images,
    headers={"X_Requested_With": "cubari", "Referer": "https://cubari.moe/"},
)
