"""The apps of 2018 to 2021 (T0, T1), which read v1: absolute URLs, and a slash at the end of every path."""

from email.utils import parsedate_to_datetime
from typing import Any

from tests.data.clients.app import App, Get
from tests.data.clients.strict import absolute, array, boolean, fields, matching, need, number, parse, string


def _date(value: Any) -> str:
    need(matching(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT")(value), "no date", value)
    parsedate_to_datetime(value)
    return value


def _root(value: Any) -> str:
    need(absolute(value).endswith("/"), "no folder", value)
    return value


def _people(value: Any) -> list[str]:
    return [names[0] for names in array(array(string))(value)]


def _volumes(value: Any) -> dict[str, Any]:
    need(type(value) is dict, "no object", value)
    return {
        volume: {_float(key): CHAPTER(chapter) for key, chapter in chapters.items()}
        for volume, chapters in value.items()
    }


def _float(key: str) -> float:
    return number(parse(key.encode()))


LISTED = array(fields(slug=string, url=absolute, title=string, cover=absolute))
CHAPTER = fields(
    url=matching(r"https?://[^/]+/reader/.+/"),
    title=string,
    date=_date,
    final=boolean,
    groups=array(fields(name=string)),
    full_title=string,
)
SERIES = fields(
    url=matching(r"https?://[^/]+/reader/[-\w]+/"),
    title=string,
    description=string,
    cover=absolute,
    authors=_people,
    artists=_people,
    categories=array(fields(name=string)),
    completed=boolean,
    volumes=_volumes,
)
PAGES = fields(url=absolute, pages_root=_root, pages_list=array(string))
RELEASES = array(fields(url=absolute, title=string, cover=absolute, latest_chapter=fields(date=_date)))


def _images(get: Get, slug: str) -> list[str]:
    series = SERIES(get(f"/api/v1/series/{slug}/"))
    urls = []
    for chapters in series["volumes"].values():
        for entry in chapters.values():
            _, _, _, _, _, volume, chapter, _ = entry["url"].split("/")
            pages = PAGES(get(f"/api/v1/series/{slug}/{volume}/{chapter}/"))
            urls += [absolute(pages["pages_root"] + page) for page in pages["pages_list"]]
    return urls


OLDEST = App(
    "T1",
    {"v1 list": LISTED, "v1 series": SERIES, "v1 chapter": PAGES, "v1 releases": RELEASES},
    browse=lambda get: [one["slug"] for one in LISTED(get("/api/v1/series/?q=&categories="))],
    images=_images,
    headers={"User_Agent": "Mozilla/5.0 Tachiyomi/1.2.3", "Referer": "https://lists.example"},
)
