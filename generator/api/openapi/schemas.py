"""The shapes of every body, as data: `SCHEMAS` by name, and `OF` by the function that makes the body."""

from collections.abc import Callable
from typing import Any

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
    keyed_by,
    nullable,
    record,
    ref,
    said,
)

NAMES = array(TEXT)
PERSON_NAMES = array(said(NAMES, "The name of a person, followed by that person's aliases.", minItems=1))
FINAL = said(FLAG, "Whether this is the finale of the series.")
COMPLETED = said(FLAG, "Whether no chapter will follow: the series is completed or canceled.")
# v2 gives addresses without a host; whoever reads them puts the service's before.
PATH = said(URI, "A path on this host.", examples=["/reader/paper-moons/"])
VOLUME_KEY: Schema = {"pattern": "^(0|[1-9][0-9]{0,8})$"}
_BY_VOLUME = "Chapters by volume and number; volume 0 holds those without one."
LATEST = record(title=TEXT, volume=said(VOLUME, "0 for none."), number=FLOAT, date=HTTP_DATE)

_UNVERSIONED: dict[str, Schema] = {
    "SeriesReference": record(slug=SLUG, title=TEXT, aliases=NAMES),
    "Person": record(id=ID, name=TEXT, aliases=NAMES, series=array(ref("SeriesReference"))),
    "Chapter": record(
        title=TEXT,
        url=URI,
        pages=said(NAMES, "File names in reading order, percent-encoded."),
        date=HTTP_DATE,
        final=FINAL,
    ),
    "Volume": said(keyed_by(DECIMAL, ref("Chapter")), "Chapters by number."),
    "Series": record(
        slug=SLUG,
        title=TEXT,
        aliases=NAMES,
        url=URI,
        description=TEXT,
        authors=PERSON_NAMES,
        artists=PERSON_NAMES,
        cover=URI,
        completed=COMPLETED,
        volumes=said(keyed_by(VOLUME_KEY, ref("Volume")), _BY_VOLUME),
    ),
    "Release": record(slug=SLUG, title=TEXT, url=URI, cover=URI, latest_chapter=LATEST),
    "Index": record(api=keyed_by(TEXT, URI), v1=keyed_by(TEXT, URI), v2=keyed_by(TEXT, URI)),
}

_V1: dict[str, Schema] = {
    "V1Chapter": record(
        title=TEXT,
        full_title=TEXT,
        url=URI,
        pages_root=said(URI, "What stands before each name of `pages_list` in the address of its image."),
        pages_list=said(NAMES, "File names in reading order, percent-encoded."),
        date=HTTP_DATE,
        final=FINAL,
        groups=array(record(id=ID, name=TEXT)),
    ),
    "V1Volume": said(keyed_by(DECIMAL, ref("V1Chapter")), "Chapters by number."),
    "V1Series": record(
        slug=SLUG,
        title=TEXT,
        aliases=NAMES,
        url=URI,
        description=TEXT,
        authors=PERSON_NAMES,
        artists=PERSON_NAMES,
        categories=array(record(name=TEXT, description=TEXT)),
        cover=URI,
        completed=COMPLETED,
        volumes=said(keyed_by(VOLUME_KEY, ref("V1Volume")), _BY_VOLUME),
    ),
    "V1Category": record(id=TEXT, name=TEXT, description=TEXT),
    "V1Group": record(
        id=ID,
        name=TEXT,
        description=TEXT,
        website=TEXT,
        discord=TEXT,
        twitter=TEXT,
        logo=said(TEXT, "An address, or nothing."),
        members=array(
            record(id=ID, name=TEXT, roles=said(NAMES, "What this member does here."), twitter=TEXT, discord=TEXT)
        ),
        series=array(ref("SeriesReference")),
    ),
}

_V2: dict[str, Schema] = {
    "V2SeriesItem": record(
        slug=SLUG,
        title=TEXT,
        url=PATH,
        cover=URI,
        updated=said(INSTANT, "When a chapter was published last."),
        chapters=said(nullable(COUNT), "How many; null for a licensed series."),
    ),
    "V2SeriesPage": record(
        total=said(COUNT, "How many series there are on all pages."),
        last=said(FLAG, "Whether no page follows."),
        results=array(ref("V2SeriesItem")),
    ),
    "V2Series": record(
        slug=SLUG,
        title=TEXT,
        url=PATH,
        cover=URI,
        updated=said(INSTANT, "When a chapter was published last."),
        description=TEXT,
        views=COUNT,
        status={"type": "string", "enum": ["ongoing", "completed", "hiatus", "canceled"]},
        completed=said(COMPLETED, "Read `status` instead.", deprecated=True),
        licensed=said(FLAG, "Whether its chapters answer 451."),
        aliases=NAMES,
        authors=NAMES,
        artists=NAMES,
        categories=NAMES,
    ),
    "V2Chapter": record(
        id=ID,
        title=TEXT,
        number=FLOAT,
        volume=said(nullable({**VOLUME, "minimum": 1}), "null for none."),
        published=said(
            TEXT,
            "As `date_format` says; epoch milliseconds are a string, too.",
            anyOf=[INSTANT, HTTP_DATE, {"pattern": "^(0|[1-9][0-9]*000)$"}],
        ),
        views=COUNT,
        final=FINAL,
        series=SLUG,
        groups=NAMES,
        full_title=TEXT,
        url=PATH,
    ),
    "V2Page": record(id=ID, image=URI, number={"type": "integer", "minimum": 1}, url=PATH),
    "V2Category": record(name=TEXT, description=TEXT),
    "V2Person": record(id=ID, name=TEXT),
    "V2Group": record(
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
        members=said(NAMES, "`Role: Name`, once for each role."),
    ),
    "V2Member": record(
        id=ID,
        name=TEXT,
        twitter=TEXT,
        discord=TEXT,
        irc=TEXT,
        reddit=TEXT,
        groups=said(NAMES, "`Group (Role, Role)`."),
    ),
    "V2ReaderSeries": record(
        title=TEXT,
        cover=said(URI, "An image.", default=""),
        original_url=PATH,
        description=said(TEXT, "Plain text.", default=""),
        author=said(TEXT, "Names, joined with commas.", default=""),
        artist=said(TEXT, "Names, joined with commas.", default=""),
        alt_titles=NAMES,
        metadata=said(array(array(TEXT) | {"minItems": 2, "maxItems": 2}), "Names and values.", uniqueItems=True),
        chapters=said(keyed_by({"pattern": "^[1-9][0-9]*$"}, ref("V2ReaderChapter")), "By id, in reading order."),
    ),
    "V2ReaderChapter": record(
        title=TEXT,
        volume={"type": "string", "format": "uint32", "pattern": "^(0|[1-9][0-9]*)$", "default": "0"},
        number={**DECIMAL, "format": "float", "default": "0"},
        groups=said(
            keyed_by(TEXT, array(URI)), "Pages by the groups that made them.", minProperties=1, maxProperties=1
        ),
        last_updated={"type": "string", "format": "uint64", "pattern": "^[0-9]*$", "default": ""},
    ),
    "V2Bookmarks": record(bookmarks=array(record(series=SLUG))),
    "V2Profile": record(
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
    "Error": record(error=TEXT, status=said({"type": "integer"}, "The status of the answer.")),
    "V2Detail": record(detail=TEXT),
    "V2BadParameter": record(error=TEXT),
    "V2Moved": record(url=URI),
}


def _results(name: str) -> Schema:
    return record(results=array(ref(name)))


SCHEMAS: dict[str, Schema] = {**_UNVERSIONED, **_V1, **_V2, **_ERRORS}

OF: dict[Callable[[Any], Any], Schema] = {
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
    v2.every_chapter: _results("V2Chapter"),
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
    v2.reader_series: ref("V2ReaderSeries"),
    v2.bookmarks: ref("V2Bookmarks"),
    v2.profile: ref("V2Profile"),
}
