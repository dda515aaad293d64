"""Records of the catalog files: one class per kind of entry, one line per field, with its description and examples.

The descriptions are shown by editors, by `explain` and in docs/catalog.md. `site.yaml` is in `site_settings.py`.
A record is checked alone: references to other files are resolved in `linking.py`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
)

from . import field_values, patterns
from .field_values import MAX_FILE_OR_URL

MAX_ID = 2_147_483_647
MAX_NUMBER = 999_999_999
MAX_CATEGORY = 50
# Of texts that other files refer to, or that templates repeat: a small catalog must not become a large site.
MAX_LINE = 2000
MAX_PARAGRAPHS = 100_000
MAX_CHAPTER_TITLE = 500
MAX_ALIASES, MAX_OLD_SLUGS = 200, 1000

Id: TypeAlias = Annotated[int, Field(ge=1, le=MAX_ID)]
Volume: TypeAlias = Annotated[int, Field(ge=1, le=MAX_NUMBER)]
Slug: TypeAlias = Annotated[str, StringConstraints(pattern=patterns.SLUG, max_length=patterns.MAX_SLUG)]
Username: TypeAlias = Annotated[str, StringConstraints(pattern=patterns.USERNAME, max_length=patterns.MAX_SLUG)]
Line: TypeAlias = Annotated[str, StringConstraints(pattern=patterns.LINE, max_length=MAX_LINE)]
# Mostly a URL, but also the name or the host alone.
Link: TypeAlias = Annotated[Line, AfterValidator(field_values.link)]
Name: TypeAlias = Annotated[str, StringConstraints(pattern=patterns.LINE, min_length=1, max_length=MAX_LINE)]
Aliases: TypeAlias = Annotated[list[Name], Field(max_length=MAX_ALIASES)]
CategoryId: TypeAlias = Annotated[
    str,
    StringConstraints(pattern=patterns.CATEGORY, min_length=1, max_length=patterns.MAX_SLUG),
    AfterValidator(field_values.filterable),
]
CategoryName: TypeAlias = Annotated[
    str,
    StringConstraints(pattern=patterns.CATEGORY, min_length=1, max_length=MAX_CATEGORY),
    AfterValidator(field_values.filterable),
]
Paragraphs: TypeAlias = Annotated[str, StringConstraints(pattern=patterns.PARAGRAPHS, max_length=MAX_PARAGRAPHS)]
FileOrUrl: TypeAlias = Annotated[str, StringConstraints(pattern=patterns.FILE_OR_URL, max_length=MAX_FILE_OR_URL)]
Url: TypeAlias = Annotated[str, StringConstraints(pattern=patterns.URL, max_length=MAX_FILE_OR_URL)]
Digest: TypeAlias = Annotated[str, StringConstraints(pattern=patterns.DIGEST)]
# The name of a person, group or member, or its id.
Reference: TypeAlias = Annotated[str | int, BeforeValidator(field_values.reference)]
# JavaScript rounds larger integers.
Count: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=2**53 - 1)]
# Keys of a mapping are text, also if they look like numbers.
ChapterKey: TypeAlias = Annotated[str, StringConstraints(pattern=patterns.CHAPTER_ID)]
Views: TypeAlias = dict[ChapterKey, Count]
# The sizes of the pages of each chapter; see `entities.page_sizes`.
Sizes: TypeAlias = dict[ChapterKey, Annotated[str, StringConstraints(pattern=patterns.SIZES)]]
# The smaller copies of each image, by its path below the media root; see `entities.Variants`.
Copies: TypeAlias = dict[
    Annotated[str, StringConstraints(pattern=patterns.MEDIA_PATH)],
    Annotated[str, StringConstraints(pattern=patterns.VARIANTS)],
]
# The archive of each chapter; see `entities.Archive`.
Archives: TypeAlias = dict[ChapterKey, Annotated[str, StringConstraints(pattern=patterns.ARCHIVE)]]
# Seconds since 1970, rounded down.
Instant: TypeAlias = Annotated[int, BeforeValidator(field_values.instant)]
Number: TypeAlias = Annotated[str, BeforeValidator(field_values.number)]


def pages(value: object, info: ValidationInfo) -> object:
    # The reader of a series passes the total of its pages.
    return field_values.pages(value, info.context)


Pages: TypeAlias = Annotated[list[FileOrUrl], BeforeValidator(pages), AfterValidator(field_values.check_pages)]
ChapterTitle: TypeAlias = Annotated[
    Name, StringConstraints(max_length=MAX_CHAPTER_TITLE), BeforeValidator(field_values.chapter_title)
]
Status: TypeAlias = Literal["ongoing", "completed", "hiatus", "canceled"]
STATUSES: tuple[str, ...] = get_args(Status)
# The order in which pages are read.
Direction: TypeAlias = Literal["ltr", "rtl"]
# How the pages of a chapter are shown: below each other, one by one, or in pairs.
Layout: TypeAlias = Literal["strip", "paged", "double"]
Kind: TypeAlias = Literal["manga", "comic", "webtoon"]
# For which readers a series is.
Rating: TypeAlias = Literal["safe", "suggestive", "explicit"]
# An id of MangaUpdates has more than 32 bits. JavaScript rounds integers that are larger than this.
ForeignId: TypeAlias = Annotated[int, Field(ge=1, le=2**53 - 1)]
Language: TypeAlias = Annotated[str, StringConstraints(pattern=patterns.LANGUAGE)]


class _NotNull:
    """Marks a field that may be left out, but not be empty: `volume:` without a value is an error."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return handler(source)["schema"]  # the schema without None


NOT_NULL = _NotNull()

_ID = "a whole number from 1 to 2147483647, unique in the file"
_NAME = "the name that is shown, and by which other files refer to the entry"
_DIGEST = "the SHA-256 digest of the key, 64 digits `0-9 a-f`"


class Record(BaseModel):
    """A part of a catalog file. Unknown fields are errors, types are not converted, values do not change."""

    # Built on first use: a build without changes needs no models.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)
    # What to do instead, for each field that the record had in an earlier version.
    removed_fields: ClassVar[Mapping[str, str]] = {}

    def to_values(self) -> dict[str, Any]:
        """Return the fields that are set, each value in its canonical form."""
        return self.model_dump(exclude_unset=True)

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> "Record":
        """Return the record of checked `values` without checking them again."""
        return cls.model_construct(**values)


class Entity(Record):
    """A record with a time of its last change."""

    modified: Annotated[Instant | None, NOT_NULL] = Field(
        None, description="when the entry last changed", examples=["2026-05-01T12:00:00Z"]
    )


class Person(Entity):
    """An author or an artist."""

    id: Id = Field(description=_ID, examples=[1])
    name: Name = Field(description=_NAME, examples=["Mira Okafor"])
    aliases: Aliases = Field([], description="other names", examples=[["M. Okafor", "大川ミラ"]])


class Category(Entity):
    """A genre. Its name is part of a URL and of a file name, unless it has a slash or a comma."""

    id: CategoryId = Field(
        description="one line of text that may have spaces, but not only dots, no `-` at the start, no space at "
        "either end, and at most 200 characters; unique in the file; series refer to it",
        examples=["slice of life"],
    )
    name: CategoryName = Field(
        description="the name that is shown: the same rules as for an id, but at most 50 characters. A name with `/` "
        "or a comma has no URL of its own; if the name has a comma, filters match the id",
        examples=["Slice of life"],
    )
    description: Paragraphs = Field(
        "", description="about the category; can have several lines", examples=["Nothing happens, beautifully."]
    )


class Role(Record):
    """A role of a member in a group. A member with two roles has two entries."""

    member: Reference = Field(description="a reference to `members.yaml`, by name or id", examples=["Wren"])
    role: Name = Field(description="the role in this group", examples=["Translator"])


class Group(Entity):
    """A group that translates, letters and publishes chapters."""

    id: Id = Field(description=_ID, examples=[1])
    name: Name = Field(description=_NAME, examples=["Night Shift"])
    description: Paragraphs = Field(
        "", description="about the group; can have several lines", examples=["We letter after dark."]
    )
    website: Link = Field("", description="the URL of the website", examples=["https://night-shift.example"])
    email: Line = Field("", description="the email address", examples=["hello@night-shift.example"])
    discord: Link = Field("", description="the Discord invitation", examples=["https://discord.example/night-shift"])
    twitter: Line = Field("", description="the name on Twitter, without `@`", examples=["nightshift_reads"])
    reddit: Line = Field("", description="the name on Reddit", examples=["r/nightshift_reads"])
    irc: Line = Field(
        "", description="the IRC channel; in quotes if it begins with `#`", examples=["irc://irc.example/#night-shift"]
    )
    logo: Annotated[FileOrUrl | None, NOT_NULL] = Field(
        None, description="an image: a file in `{media}/groups/{id}/`, or a URL", examples=["owl with lamp.png"]
    )
    members: list[Role] = Field([], description="the roles of the members in the group")


class Member(Entity):
    """A person in groups."""

    id: Id = Field(description=_ID, examples=[1])
    name: Name = Field(description=_NAME, examples=["Wren"])
    twitter: Line = Field("", description="the name on Twitter, without `@`", examples=["wren_after_dark"])
    discord: Line = Field("", description="the name on Discord", examples=["wren.owl"])
    irc: Line = Field("", description="the nickname on IRC", examples=["wren"])
    reddit: Line = Field("", description="the name on Reddit", examples=["u/wren_after_dark"])


class Key(Record):
    """The digest of an API key."""

    name: Name = Field(description="the purpose of the key, to recognise it", examples=["tablet"])
    sha256: Digest = Field(description=_DIGEST)


class IssuedKey(Key):
    """The digest of an API key made by the command line. The key can belong to an account."""

    name: Name = Field(
        description="the purpose of the key; different from the names of all other keys, also those in `accounts.yaml`",
        examples=["reading room"],
    )
    account: Annotated[Username | None, NOT_NULL] = Field(
        None,
        description="the username of an account; the key also gives access to its bookmarks and its profile",
        examples=["lamplighter"],
    )


class Account(Entity):
    """An account with bookmarks, a profile and API keys."""

    username: Username = Field(
        description="letters and digits of any script, `@`, `.`, `+`, `-`, `_`, at most 200; unique in the file",
        examples=["lamplighter"],
    )
    first_name: Line = Field("", description="the first name", examples=["Noor"])
    last_name: Line = Field("", description="the last name", examples=["Castellane"])
    email: Line = Field("", description="the email address", examples=["noor@mail.example"])
    bio: Paragraphs = Field("", description="about the person; can have several lines", examples=["Reads standing up."])
    avatar: Annotated[FileOrUrl | None, NOT_NULL] = Field(
        None, description="an image: a file in `{media}/users/{username}/`, or a URL", examples=["lamp.png"]
    )
    url: Annotated[Url | None, NOT_NULL] = Field(
        None,
        description="the complete URL of the person's page; without it, `{base_url}/user/{username}/`",
        examples=["https://lamplighter.example/about"],
    )
    bookmarks: list[Slug] = Field(
        [], description="slugs of series", examples=[["paper-moons", "window-sill-cactus-club"]]
    )
    keys: list[Key] = Field([], description="the digests of the account's API keys")


class Chapter(Entity):
    """A chapter, in the file of its series or in a file of its own."""

    id: Annotated[Id | None, NOT_NULL] = Field(
        None,
        description="a whole number from 1 to 2147483647, unique in the catalog, never changed after publication. A "
        "chapter without an id is not in `/api/v2`, and the build warns; `python build.py ids` writes missing ids",
        examples=[12],
    )
    volume: Annotated[Volume | None, NOT_NULL] = Field(
        None, description="a whole number from 1 to 999999999; leave it out for a chapter in no volume", examples=[1]
    )
    number: Number = Field(
        description="a chapter number, unique in its volume; chapters in no volume may share a number", examples=[10.5]
    )
    title: Line = Field("", description="the title of the chapter alone", examples=["Ten and a half"])
    published: Instant = Field(
        description="the instant of publication; if it is in the future, the chapter is scheduled",
        examples=["2026-04-30T18:00:00Z"],
    )
    final: bool = Field(False, description="`true` for the last chapter of a finished story", examples=[True])
    groups: list[Reference] = Field(
        [], description="references to `groups.yaml`, by name or id", examples=[["Night Shift", 2]]
    )
    pages: Pages = Field(
        description="the pages in reading order: a list of images, or a run", examples=["001.jpg .. 018.jpg"]
    )
    views: Count = Field(
        0, description="the number of views before counting began; `views.yaml` is added", examples=[1204]
    )


class Links(Record):
    """The same series elsewhere."""

    official: Annotated[Url | None, NOT_NULL] = Field(
        None,
        description="the URL where the publisher or the author offers the series",
        examples=["https://publisher.example/paper-moons"],
    )
    anilist: Annotated[Id | None, NOT_NULL] = Field(
        None, description="the number in its URL on AniList: `https://anilist.co/manga/{number}`", examples=[123456]
    )
    mal: Annotated[Id | None, NOT_NULL] = Field(
        None,
        description="the number in its URL on MyAnimeList: `https://myanimelist.net/manga/{number}`",
        examples=[123456],
    )
    mangaupdates: Annotated[ForeignId | None, NOT_NULL] = Field(
        None,
        description="its `series_id` in the API of MangaUpdates, a number; its URL has this number in base 36",
        examples=[12345678901],
    )
    discussion: Annotated[Url | None, NOT_NULL] = Field(
        None, description="the URL where readers discuss the series", examples=["https://forum.example/t/paper-moons"]
    )


class Series(Entity):
    """A series. Its slug is the name of its file or folder."""

    title: Name = Field(description="the title that is shown", examples=["Paper Moons"])
    aliases: Aliases = Field([], description="other titles", examples=[["紙の月たち"]])
    description: Paragraphs = Field(
        "", description="about the series; can have several lines", examples=["A lonely probe writes home."]
    )
    authors: list[Reference] = Field(
        [], description="references to `authors.yaml`, by name or id", examples=[["Mira Okafor", 6]]
    )
    artists: list[Reference] = Field(
        [], description="references to `artists.yaml`, by name or id", examples=[["Mira Okafor", 7]]
    )
    categories: list[Name] = Field([], description="ids from `categories.yaml`", examples=[["adventure", "fantasy"]])
    kind: Annotated[Kind | None, NOT_NULL] = Field(
        None,
        description="`manga`, `comic` or `webtoon`; the pages of a `webtoon` are a strip, unless it has a `layout`",
        examples=["webtoon"],
    )
    rating: Annotated[Rating | None, NOT_NULL] = Field(
        None,
        description="`safe`, `suggestive` or `explicit`: for which readers the series is; a notice is over the pages "
        "of an `explicit` one until the reader closes it",
        examples=["safe"],
    )
    language: Annotated[Language | None, NOT_NULL] = Field(
        None,
        description="the language of titles and pages, as a tag of BCP 47; without it, that of `site.yaml`",
        examples=["pt-BR"],
    )
    links: Links = Field(
        Links.model_construct(), description="the same series elsewhere", examples=[{"anilist": 123456, "mal": 123456}]
    )
    status: Status = Field("ongoing", description="`ongoing`, `completed`, `hiatus` or `canceled`", examples=["hiatus"])
    licensed: bool = Field(False, description="`true`: chapters are not served in `/api/v2`", examples=[True])
    updated: Annotated[Instant | None, NOT_NULL] = Field(
        None,
        description="only with `licensed: true`: when the newest chapter was published. `/api/v2` then lists and "
        "describes the series even if the catalog has no chapter of it",
        examples=["2026-04-30T18:00:00Z"],
    )
    restricted: bool = Field(False, description="`true`: chapters need an API key", examples=[True])
    cover: FileOrUrl = Field(
        description="an image: a file in `{media}/series/{slug}/`, or a URL", examples=["cover.jpg"]
    )
    direction: Annotated[Direction | None, NOT_NULL] = Field(
        None,
        description="the order of pages: `ltr` (left to right) or `rtl`; without it, that of `site.yaml`",
        examples=["rtl"],
    )
    layout: Annotated[Layout | None, NOT_NULL] = Field(
        None,
        description="how the reader's pages show a chapter at first: `strip` (all pages below each other), `paged` "
        "(one at a time) or `double` (in pairs on wide screens); without it, `strip` for a webtoon, else that of "
        "`site.yaml`",
        examples=["double"],
    )
    chapter_title: ChapterTitle = Field(
        field_values.DEFAULT_CHAPTER_TITLE,
        description="template of full chapter titles; `{volume}`, `{number}`, `{title}`, `{date}` and `{series}` are "
        "filled in; `{{` and `}}` are braces",
        examples=["#{number} {title}"],
    )
    formerly: Annotated[list[Slug], Field(max_length=MAX_OLD_SLUGS)] = Field(
        [],
        description="slugs that the series had before; their URLs redirect to those of the present slug",
        examples=[["paper-moon"]],
    )
    chapters: list[Chapter] = Field([], description="the chapters, besides those in files of their own")

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> "Series":
        chapters = [Chapter.from_values(chapter) for chapter in values.get("chapters", ())]
        links = Links.from_values(values.get("links", {}))
        return cls.model_construct(**{**values, "links": links, "chapters": chapters})
