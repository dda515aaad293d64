"""The bodies of /api/v2 and /api/v1 as apps read them. Each decoder has the fields of all apps that read its kind.

Of a field that several apps read, it has the type of the strictest. kotlinx.serialization (Tachiyomi, Mihon) ignores
unknown keys and is exact otherwise: one invalid element fails the whole list. Aidoku's Rust unwraps everything, and
org.json of Kotatsu throws if a key is missing. JavaScript checks no types, but a missing array throws, and an invalid
date is displayed as such. cubari.moe reads every key without a default, and two texts as integers.
"""

from email.utils import parsedate_to_datetime
from typing import Any

from tests.data.clients.strict import (
    CHAPTER_PATH,
    ISO,
    SERIES_PATH,
    Reader,
    absolute,
    any_of,
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

LISTED = fields(
    total=int32,
    last=boolean,
    results=array(
        fields(slug=string, title=string, url=SERIES_PATH, cover=absolute, updated=ISO, chapters=nullable(int32))
    ),
)
DETAIL = fields(
    slug=string,
    title=string,
    url=SERIES_PATH,
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


def _chapters(published: Reader) -> Reader:
    chapter = fields(
        id=int32,
        title=string,
        number=number,
        volume=nullable(int32),
        published=published,
        final=boolean,
        series=string,
        groups=array(string),
        full_title=string,
        url=CHAPTER_PATH,
    )
    return fields(results=array(chapter))


CHAPTERS, CHAPTERS_IN_MILLISECONDS = _chapters(ISO), _chapters(digits)
PAGES = fields(results=array(fields(id=int32, image=absolute, number=int32, url=string)))
CATEGORIES = fields(results=array(fields(name=string, description=string)))


# cubari.moe


def _groups(value: Any) -> list[str]:
    need(type(value) is dict and len(value) == 1, "not exactly one group", value)
    ((name, urls),) = value.items()
    need(string(name), "a group without a name", value)
    return array(absolute)(urls)


_CUBARI_CHAPTER = exactly(
    title=string,
    volume=digits,
    number=matching(r"[0-9]+(?:\.[0-9]*[1-9])?"),
    groups=_groups,
    last_updated=digits,
)


def _cubari_chapters(value: Any) -> dict[int, Any]:
    need(type(value) is dict, "no object", value)
    return {digits(key): _CUBARI_CHAPTER(chapter) for key, chapter in value.items()}


CUBARI = exactly(
    title=string,
    cover=absolute,
    original_url=SERIES_PATH,
    description=string,
    author=string,
    artist=string,
    alt_titles=array(string),
    metadata=array(array(string)),
    chapters=_cubari_chapters,
)


# /api/v1: absolute URLs


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
        volume: {number(parse(key.encode())): _V1_CHAPTER(chapter) for key, chapter in chapters.items()}
        for volume, chapters in value.items()
    }


_V1_CHAPTER = fields(
    url=matching(r"https?://[^/]+/reader/.+/"),
    title=string,
    date=_date,
    final=boolean,
    groups=array(fields(name=string)),
    full_title=string,
)
V1_LISTED = array(fields(slug=string, url=absolute, title=string, cover=absolute))
V1_SERIES = fields(
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
V1_PAGES = fields(url=absolute, pages_root=_root, pages_list=array(string))
V1_RELEASES = array(fields(url=absolute, title=string, cover=absolute, latest_chapter=fields(date=_date)))
