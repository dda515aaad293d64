"""The schemas of all bodies: `SCHEMAS` by name, `SCHEMA_OF` by the function that makes the body."""

from collections.abc import Callable
from typing import Any

from ...catalog.patterns import CANONICAL_INTEGER
from ...catalog.records import STATUSES
from ..payloads import index, series_list, unversioned, v1, v2
from .schema_types import (
    COUNT,
    DECIMAL,
    FLAG,
    FLOAT,
    HTTP_DATE,
    ID,
    INSTANT,
    SLUG,
    TEXT,
    URI,
    VOLUME,
    Schema,
    array,
    described,
    keyed_by,
    nullable,
    object_of,
    ref,
)

# Fields that several bodies have

NAMES = array(TEXT)
PERSON_NAMES = described(array(NAMES | {"minItems": 1}), "One array for each person: the name, then the aliases.")
FINAL = described(FLAG, "Whether this is the last chapter of the series.")
COMPLETED = described(FLAG, "Whether the series is completed or canceled.")
# v2 returns URLs without a host. Clients resolve them against the host of the API.
PATH = described(URI, "A path on this host.", examples=["/reader/paper-moons/"])
TITLE = described(TEXT, "Can be empty.")
FULL_TITLE = described(TEXT, "The title with volume and number, in the form chosen by the series.")
PARAGRAPHS = described(TEXT, "Can have several lines.")
NAMES_ONLY = described(NAMES, "Names.")
OTHER_NAMES = described(NAMES, "Other names.")
OTHER_TITLES = described(NAMES, "Other titles.")
PAGE_URL = described(URI, "The web page where it can be read.")
PAGE_PATH = described(PATH, "The web page where it can be read, as a path on this host.")
IMAGE = described(URI, "The URL of an image.")
FILES = described(NAMES, "File names of the images in reading order, percent-encoded. Can be empty.")
PUBLISHED = described(HTTP_DATE, "The time of publication.")
# A date in the format that the request asks for.
DATE = described(
    TEXT,
    "In the format of `date_format`. Milliseconds since 1970 are a string, too.",
    anyOf=[INSTANT, HTTP_DATE, {"pattern": "^(0|[1-9][0-9]*000)$"}],
)
# Cubari JSON has numbers as strings.
VOLUME_TEXT: Schema = {
    "type": "string",
    "format": "uint32",
    "pattern": "^(0|[1-9][0-9]*)$",
    "default": "0",
    "description": '`"0"` for a chapter without a volume.',
}
NUMBER_TEXT = described(DECIMAL, 'As in `"1"` and `"10.5"`.', format="float", default="0")
SECONDS_TEXT: Schema = {
    "type": "string",
    "format": "uint64",
    "pattern": "^[0-9]*$",
    "default": "",
    "description": "Seconds since 1970.",
}
LATEST_CHAPTER = object_of(
    title=TITLE,
    volume=described(VOLUME, "0 for a chapter without a volume."),
    number=described(FLOAT, "Without a decimal point for a whole number."),
    date=PUBLISHED,
)

VOLUME_KEY: Schema = {"pattern": f"^{CANONICAL_INTEGER}$"}
_BY_VOLUME = "Chapters by volume and number. Volume 0 contains chapters without a volume."

_UNVERSIONED: dict[str, Schema] = {
    "SeriesReference": object_of(slug=SLUG, title=TEXT, aliases=OTHER_TITLES),
    "Person": object_of(
        id=ID,
        name=TEXT,
        aliases=OTHER_NAMES,
        series=described(array(ref("SeriesReference")), "The series of the person, by title."),
    ),
    "Chapter": object_of(
        title=TITLE,
        url=PAGE_URL,
        pages=FILES,
        date=PUBLISHED,
        final=FINAL,
    ),
    "Volume": described(keyed_by(DECIMAL, ref("Chapter")), "Chapters by number."),
    "Series": object_of(
        slug=SLUG,
        title=TEXT,
        aliases=OTHER_TITLES,
        url=PAGE_URL,
        description=PARAGRAPHS,
        authors=PERSON_NAMES,
        artists=PERSON_NAMES,
        cover=IMAGE,
        completed=COMPLETED,
        volumes=described(keyed_by(VOLUME_KEY, ref("Volume")), _BY_VOLUME),
    ),
    "Release": object_of(slug=SLUG, title=TEXT, url=PAGE_URL, cover=IMAGE, latest_chapter=LATEST_CHAPTER),
    "Index": object_of(
        api=described(keyed_by(TEXT, URI), "The URLs of `authors`, `artists`, `series` and `releases`."),
        v1=described(keyed_by(TEXT, URI), "The same, `categories` and `groups`."),
        v2=described(
            keyed_by(TEXT, URI),
            "The URLs of `series`, `chapters`, `categories`, `authors`, `artists`, `groups` and `members`; the OpenAPI "
            "document is `openapi`.",
        ),
    ),
}

_V1: dict[str, Schema] = {
    "V1Chapter": object_of(
        title=TITLE,
        full_title=FULL_TITLE,
        url=PAGE_URL,
        pages_root=described(
            URI, "A URL that ends with `/`. Together with a name of `pages_list`, it is the URL of an image."
        ),
        pages_list=FILES,
        date=PUBLISHED,
        final=FINAL,
        groups=described(array(object_of(id=ID, name=TEXT)), "The groups of the chapter. Can be empty."),
    ),
    "V1Volume": described(keyed_by(DECIMAL, ref("V1Chapter")), "Chapters by number."),
    "V1Series": object_of(
        slug=SLUG,
        title=TEXT,
        aliases=OTHER_TITLES,
        url=PAGE_URL,
        description=PARAGRAPHS,
        authors=PERSON_NAMES,
        artists=PERSON_NAMES,
        categories=described(array(object_of(name=TEXT, description=PARAGRAPHS)), "The categories, by id."),
        cover=IMAGE,
        completed=COMPLETED,
        volumes=described(keyed_by(VOLUME_KEY, ref("V1Volume")), _BY_VOLUME),
    ),
    "V1Category": object_of(id=described(TEXT, "Any text; can contain spaces."), name=TEXT, description=PARAGRAPHS),
    "V1Group": object_of(
        id=ID,
        name=TEXT,
        description=PARAGRAPHS,
        website=TEXT,
        discord=TEXT,
        twitter=TEXT,
        logo=described(TEXT, "The URL of an image, or an empty string."),
        members=array(
            object_of(
                id=ID,
                name=TEXT,
                roles=described(NAMES, "The roles of the member in this group."),
                twitter=TEXT,
                discord=TEXT,
            )
        ),
        series=described(array(ref("SeriesReference")), "The series with a published chapter of the group, by title."),
    ),
}

_V2: dict[str, Schema] = {
    "V2SeriesItem": object_of(
        slug=SLUG,
        title=TEXT,
        url=PAGE_PATH,
        cover=IMAGE,
        updated=described(INSTANT, "The time at which the newest chapter was published."),
        chapters=described(nullable(COUNT), "The number of published chapters. null for a licensed series."),
    ),
    "V2SeriesPage": object_of(
        total=described(COUNT, "The number of series on all pages, after filtering."),
        last=described(FLAG, "Whether this is the last page."),
        results=array(ref("V2SeriesItem")),
    ),
    "V2Series": object_of(
        slug=SLUG,
        title=TEXT,
        url=PAGE_PATH,
        cover=IMAGE,
        updated=described(INSTANT, "The time at which the newest chapter was published."),
        description=PARAGRAPHS,
        views=described(COUNT, "The views of all chapters."),
        status={"type": "string", "enum": list(STATUSES)},
        completed=described(COMPLETED, "Use `status` instead.", deprecated=True),
        licensed=described(FLAG, "Whether the chapters return 451."),
        aliases=OTHER_TITLES,
        authors=NAMES_ONLY,
        artists=NAMES_ONLY,
        categories=NAMES_ONLY,
    ),
    "V2Chapter": object_of(
        id=described(ID, "Never changes, and is never used for another chapter."),
        title=TITLE,
        number=described(FLOAT, "Always with a decimal point: `1.0`, `10.5`."),
        volume=described(nullable({**VOLUME, "minimum": 1}), "null for a chapter without a volume."),
        published=DATE,
        views=described(COUNT, "The number of views at the last build."),
        final=FINAL,
        series=described(SLUG, "The slug of the series."),
        groups=NAMES_ONLY,
        full_title=FULL_TITLE,
        url=PAGE_PATH,
    ),
    "V2Page": object_of(
        id=described(ID, "Unique. Stays the same while the page keeps its chapter and its number."),
        image=IMAGE,
        number=described({"type": "integer", "minimum": 1}, "From 1."),
        url=PAGE_PATH,
    ),
    "V2Category": object_of(name=TEXT, description=PARAGRAPHS),
    "V2Person": object_of(id=ID, name=TEXT),
    "V2Group": object_of(
        id=ID,
        name=TEXT,
        website=TEXT,
        description=PARAGRAPHS,
        email=TEXT,
        discord=TEXT,
        twitter=TEXT,
        reddit=TEXT,
        irc=TEXT,
        logo=described(nullable(URI), "The URL of an image, or null."),
        members=described(NAMES, "`Role: Name`, one for each role of a member."),
    ),
    "V2Member": object_of(
        id=ID,
        name=TEXT,
        twitter=TEXT,
        discord=TEXT,
        irc=TEXT,
        reddit=TEXT,
        groups=described(NAMES, "`Group (Role, Role)`, one for each group."),
    ),
    "V2ReaderSeries": object_of(
        title=TEXT,
        cover=described(URI, "The URL of an image.", default=""),
        original_url=PAGE_PATH,
        description=described(TEXT, "Plain text. Can have several lines.", default=""),
        author=described(TEXT, "Names, separated by commas.", default=""),
        artist=described(TEXT, "Names, separated by commas.", default=""),
        alt_titles=OTHER_TITLES,
        metadata=described(
            array(array(TEXT) | {"minItems": 2, "maxItems": 2}),
            "Pairs: `Author` and the authors, `Artist` and the artists.",
            uniqueItems=True,
        ),
        chapters=described(
            keyed_by({"pattern": "^[1-9][0-9]*$"}, ref("V2ReaderChapter")),
            "Chapters by id, in reading order. Those without a volume are the last.",
        ),
    ),
    "V2ReaderChapter": object_of(
        title=TITLE,
        volume=VOLUME_TEXT,
        number=NUMBER_TEXT,
        groups=described(
            keyed_by(TEXT, array(URI)),
            "The URLs of the images, under the names of the groups, separated by commas, or `N/A`.",
            minProperties=1,
            maxProperties=1,
        ),
        last_updated=SECONDS_TEXT,
    ),
    "V2Bookmarks": object_of(bookmarks=array(object_of(series=described(SLUG, "The slug of the series.")))),
    "V2Profile": object_of(
        username=described(TEXT, "Letters and digits of any script, `@`, `.`, `+`, `-` and `_`."),
        first_name=TEXT,
        last_name=TEXT,
        email=TEXT,
        bio=PARAGRAPHS,
        avatar=described(nullable(URI), "The URL of an image, or null."),
        url=described(URI, "The URL of the person's page."),
    ),
}

_ERRORS: dict[str, Schema] = {
    "Error": object_of(
        error=described(TEXT, "The message."), status=described({"type": "integer"}, "The status of the response.")
    ),
    "V2Detail": object_of(detail=TEXT),
    "V2BadParameter": object_of(error=TEXT),
    "V2Moved": object_of(url=URI),
}


def _results(name: str) -> Schema:
    return object_of(results=array(ref(name)))


SCHEMAS: dict[str, Schema] = {**_UNVERSIONED, **_V1, **_V2, **_ERRORS}

SCHEMA_OF: dict[Callable[[Any], Any], Schema] = {
    index.index: ref("Index"),
    unversioned.authors: array(ref("Person")),
    unversioned.artists: array(ref("Person")),
    unversioned.contributor: ref("Person"),
    unversioned.series_list: array(ref("Series")),
    unversioned.series: ref("Series"),
    unversioned.volume: ref("Volume"),
    unversioned.chapter: ref("Chapter"),
    unversioned.releases: array(ref("Release")),
    v1.series_list: array(ref("V1Series")),
    v1.series: ref("V1Series"),
    v1.volume: ref("V1Volume"),
    v1.chapter: ref("V1Chapter"),
    v1.categories: array(ref("V1Category")),
    v1.groups: array(ref("V1Group")),
    v1.group: ref("V1Group"),
    series_list.first_page: ref("V2SeriesPage"),
    v2.series_detail: ref("V2Series"),
    v2.chapters: _results("V2Chapter"),
    v2.all_chapters: _results("V2Chapter"),
    v2.chapter: ref("V2Chapter"),
    v2.pages: _results("V2Page"),
    v2.no_results: _results("V2Page"),
    v2.categories: _results("V2Category"),
    v2.category: ref("V2Category"),
    v2.authors: _results("V2Person"),
    v2.artists: _results("V2Person"),
    v2.person: ref("V2Person"),
    v2.groups: _results("V2Group"),
    v2.group: ref("V2Group"),
    v2.members: _results("V2Member"),
    v2.member: ref("V2Member"),
    v2.cubari_series: ref("V2ReaderSeries"),
    v2.bookmarks: ref("V2Bookmarks"),
    v2.profile: ref("V2Profile"),
}
