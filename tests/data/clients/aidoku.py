"""Aidoku's legacy source (A1): Rust that unwraps everything. It drops licensed series and panics at all else."""

from tests.data.clients.app import App, Get, images
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
    long,
    nullable,
    number,
    string,
)

LISTED = fields(
    last=boolean,
    results=array(
        fields(slug=string, title=string, url=SERIES_PATH, cover=absolute, chapters=nullable(long)),
    ),
)
DETAIL = fields(
    slug=string,
    title=string,
    url=SERIES_PATH,
    cover=absolute,
    description=string,
    status=STATUS,
    authors=array(string),
    artists=array(string),
    categories=array(string),
)
CHAPTERS = fields(
    results=array(
        fields(
            id=int32,
            title=string,
            number=number,
            volume=nullable(int32),
            published=digits,
            groups=array(string),
            url=CHAPTER_PATH,
        )
    )
)
PAGES = fields(results=array(fields(image=absolute, number=int32)))


def _browse(get: Get) -> list[str]:
    slugs, number, last = [], 1, False
    while not last:
        page = LISTED(get(f"/api/v2/series?page={number}&sort=title"))
        slugs += [series["slug"] for series in page["results"] if series["chapters"] is not None]
        number, last = number + 1, page["last"]
    return slugs


def _images(get: Get, slug: str) -> list[str]:
    DETAIL(get(f"/api/v2/series/{slug}"))
    urls = []
    for chapter in CHAPTERS(get(f"/api/v2/series/{slug}/chapters?date_format=timestamp"))["results"]:
        pages = PAGES(get(f"/api/v2/chapters/{chapter['id']}/pages?track=true"))
        # The number of a page, less one, is its index in the app's list.
        assert [page["number"] - 1 for page in pages["results"]] == list(range(len(pages["results"])))
        urls += images(pages)
    return urls


LEGACY = App(
    "A1",
    {"list": LISTED, "detail": DETAIL, "chapters in milliseconds": CHAPTERS, "pages": PAGES},
    browse=_browse,
    images=_images,
    searches={
        "/api/v2/series?page=1&title=full&author=ada&status=any&sort=title&categories=action,-drama": ["full-book"],
        "/api/v2/series?page=1&title=full&author=&status=hiatus&sort=-chapter_count"
        "&categories=slice%20of%20life,-steins;gate": ["full-book"],
    },
    headers={"User_Agent": "Mozilla/5.0 (iPhone; like Mac OS X) Aidoku/0.1"},
)
