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

NAMES = array(TEXT)
PERSON_NAMES = array(described(NAMES, "The name of a person, then the aliases.", minItems=1))
FINAL = described(FLAG, "Whether this is the last chapter of the series.")
COMPLETED = described(FLAG, "Whether the series is completed or canceled.")
# v2 returns URLs without a host. Clients resolve them against the host of the API.
PATH = described(URI, "A path on this host.", examples=["/reader/paper-moons/"])
VOLUME_KEY: Schema = {"pattern": f"^{CANONICAL_INTEGER}$"}
_BY_VOLUME = "Chapters by volume and number. Volume 0 contains chapters without a volume."
LATEST = object_of(
    title=TEXT, volume=described(VOLUME, "0 for a chapter without a volume."), number=FLOAT, date=HTTP_DATE
)

_UNVERSIONED: dict[str, Schema] = {
    "SeriesReference": object_of(slug=SLUG, title=TEXT, aliases=NAMES),
    "Person": object_of(id=ID, name=TEXT, aliases=NAMES, series=array(ref("SeriesReference"))),
    "Chapter": object_of(
        title=TEXT,
        url=URI,
        pages=described(NAMES, "File names in reading order, percent-encoded."),
        date=HTTP_DATE,
        final=FINAL,
    ),
    "Volume": described(keyed_by(DECIMAL, ref("Chapter")), "Chapters by number."),
    "Series": object_of(
        slug=SLUG,
        title=TEXT,
        aliases=NAMES,
        url=URI,
        description=TEXT,
        authors=PERSON_NAMES,
        artists=PERSON_NAMES,
        cover=URI,
        completed=COMPLETED,
        volumes=described(keyed_by(VOLUME_KEY, ref("Volume")), _BY_VOLUME),
    ),
    "Release": object_of(slug=SLUG, title=TEXT, url=URI, cover=URI, latest_chapter=LATEST),
    "Index": object_of(api=keyed_by(TEXT, URI), v1=keyed_by(TEXT, URI), v2=keyed_by(TEXT, URI)),
}

_V1: dict[str, Schema] = {
    "V1Chapter": object_of(
        title=TEXT,
        full_title=TEXT,
        url=URI,
        pages_root=described(URI, "The prefix of the URL of each image in `pages_list`."),
        pages_list=described(NAMES, "File names in reading order, percent-encoded."),
        date=HTTP_DATE,
        final=FINAL,
        groups=array(object_of(id=ID, name=TEXT)),
    ),
    "V1Volume": described(keyed_by(DECIMAL, ref("V1Chapter")), "Chapters by number."),
    "V1Series": object_of(
        slug=SLUG,
        title=TEXT,
        aliases=NAMES,
        url=URI,
        description=TEXT,
        authors=PERSON_NAMES,
        artists=PERSON_NAMES,
        categories=array(object_of(name=TEXT, description=TEXT)),
        cover=URI,
        completed=COMPLETED,
        volumes=described(keyed_by(VOLUME_KEY, ref("V1Volume")), _BY_VOLUME),
    ),
    "V1Category": object_of(id=TEXT, name=TEXT, description=TEXT),
    "V1Group": object_of(
        id=ID,
        name=TEXT,
        description=TEXT,
        website=TEXT,
        discord=TEXT,
        twitter=TEXT,
        logo=described(TEXT, "A URL, or an empty string."),
        members=array(
            object_of(
                id=ID,
                name=TEXT,
                roles=described(NAMES, "The roles of the member in this group."),
                twitter=TEXT,
                discord=TEXT,
            )
        ),
        series=array(ref("SeriesReference")),
    ),
}

_V2: dict[str, Schema] = {
    "V2SeriesItem": object_of(
        slug=SLUG,
        title=TEXT,
        url=PATH,
        cover=URI,
        updated=described(INSTANT, "The time at which the newest chapter was published."),
        chapters=described(nullable(COUNT), "The number of chapters. null for a licensed series."),
    ),
    "V2SeriesPage": object_of(
        total=described(COUNT, "The number of series on all pages."),
        last=described(FLAG, "Whether this is the last page."),
        results=array(ref("V2SeriesItem")),
    ),
    "V2Series": object_of(
        slug=SLUG,
        title=TEXT,
        url=PATH,
        cover=URI,
        updated=described(INSTANT, "The time at which the newest chapter was published."),
        description=TEXT,
        views=COUNT,
        status={"type": "string", "enum": list(STATUSES)},
        completed=described(COMPLETED, "Use `status` instead.", deprecated=True),
        licensed=described(FLAG, "Whether the chapters return 451."),
        aliases=NAMES,
        authors=NAMES,
        artists=NAMES,
        categories=NAMES,
    ),
    "V2Chapter": object_of(
        id=ID,
        title=TEXT,
        number=FLOAT,
        volume=described(nullable({**VOLUME, "minimum": 1}), "null for a chapter without a volume."),
        published=described(
            TEXT,
            "In the format of `date_format`. Milliseconds since 1970 are a string, too.",
            anyOf=[INSTANT, HTTP_DATE, {"pattern": "^(0|[1-9][0-9]*000)$"}],
        ),
        views=COUNT,
        final=FINAL,
        series=SLUG,
        groups=NAMES,
        full_title=TEXT,
        url=PATH,
    ),
    "V2Page": object_of(id=ID, image=URI, number={"type": "integer", "minimum": 1}, url=PATH),
    "V2Category": object_of(name=TEXT, description=TEXT),
    "V2Person": object_of(id=ID, name=TEXT),
    "V2Group": object_of(
        id=ID,
        name=TEXT,
        website=TEXT,
        description=TEXT,
        email=TEXT,
        discord=TEXT,
        twitter=TEXT,
        reddit=TEXT,
        irc=TEXT,
        logo=nullable(URI),
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
        cover=described(URI, "An image.", default=""),
        original_url=PATH,
        description=described(TEXT, "Plain text.", default=""),
        author=described(TEXT, "Names, separated by commas.", default=""),
        artist=described(TEXT, "Names, separated by commas.", default=""),
        alt_titles=NAMES,
        metadata=described(
            array(array(TEXT) | {"minItems": 2, "maxItems": 2}), "Pairs of name and value.", uniqueItems=True
        ),
        chapters=described(keyed_by({"pattern": "^[1-9][0-9]*$"}, ref("V2ReaderChapter")), "By id, in reading order."),
    ),
    "V2ReaderChapter": object_of(
        title=TEXT,
        volume={"type": "string", "format": "uint32", "pattern": "^(0|[1-9][0-9]*)$", "default": "0"},
        number={**DECIMAL, "format": "float", "default": "0"},
        groups=described(
            keyed_by(TEXT, array(URI)),
            "The URLs of the images, by the names of the groups.",
            minProperties=1,
            maxProperties=1,
        ),
        last_updated={"type": "string", "format": "uint64", "pattern": "^[0-9]*$", "default": ""},
    ),
    "V2Bookmarks": object_of(bookmarks=array(object_of(series=SLUG))),
    "V2Profile": object_of(
        username=SLUG,
        first_name=TEXT,
        last_name=TEXT,
        email=TEXT,
        bio=TEXT,
        avatar=nullable(URI),
        url=URI,
    ),
}

_ERRORS: dict[str, Schema] = {
    "Error": object_of(error=TEXT, status=described({"type": "integer"}, "The status of the response.")),
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
