"""What the YAML may say: one class a kind of file, one line a field. `docs/catalog.md` explains them to authors.

Nothing here looks at a second file: references are kept as written and resolved in `catalog.py`.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from . import field_values

MAX_ID = 2_147_483_647
MAX_NUMBER = 999_999_999
# A body's name is slug + "." + 32 digits + ".json.headers", and a file name ends at 255 bytes.
MAX_SLUG = 200
MAX_CATEGORY = 50
MAX_FILE_OR_URL = 2000

_PORT = r"(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
_HOST = rf"https?://[-A-Za-z0-9._~]+{_PORT}"
_FOLDERS = r"/(?:[-A-Za-z0-9._~]+/)*"
_IN_NAME = r"[^/\\\x00-\x1f\x7f]"
_AUTHORITY = rf"(?:[-A-Za-z0-9._~:]+@)?(?:[-A-Za-z0-9._~]+|\[[0-9A-Fa-f:.]+\]){_PORT}"
_URL = rf"https?://{_AUTHORITY}(?:[/?#](?:[-A-Za-z0-9._~:/?#@!$&'()*+,;=\[\]]|%[0-9A-Fa-f]{{2}})*)?"

SLUG = r"^[-a-zA-Z0-9_]+$"
# JSON could carry control characters, but no reader app shows them and no HTTP field survives them.
LINE = r"^[^\x00-\x1f\x7f]*$"
# A name without a slash or a comma is a segment of a path, where . and .. mean another path.
CATEGORY = r"^[^\x00-\x1f\x7f]*[^.\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
PARAGRAPHS = r"^[^\x00-\x08\x0b-\x1f\x7f]*$"
# At least one character of a file's name is no dot: . and .. are folders.
FILE_OR_URL = rf"^(?:{_URL}|{_IN_NAME}*[^/\\.\x00-\x1f\x7f]{_IN_NAME}*)$"
URL = rf"^{_URL}$"
HOST = rf"^{_HOST}$"
PATH = rf"^{_FOLDERS}$"
PATH_OR_URL = rf"^(?:{_HOST})?{_FOLDERS}$"
SERVER_FOLDER = r"^(?:/[-A-Za-z0-9._]+)+$"
DIGEST = r"^[0-9a-f]{64}$"
WRITTEN_ID = r"^[1-9][0-9]{0,9}$"

# What would be right, for every pattern that a text can fail.
PATTERN_ADVICE = {
    SLUG: "should be made of the letters A-Z a-z, digits, - and _ only",
    LINE: "should be one line without control characters",
    CATEGORY: "should be one line without control characters, and not only dots: it may be part of an address",
    PARAGRAPHS: "should have no control characters but line breaks and tabs",
    FILE_OR_URL: "should be the name of a file, without a folder, or a whole percent-encoded http(s):// address",
    URL: "should be a whole percent-encoded http(s):// address",
    HOST: "should be a scheme and a host and nothing else, like https://comics.example",
    PATH: "should be a path that begins and ends with /, like /reader/",
    PATH_OR_URL: "should be a path or an http(s):// address that ends with /, like /media/",
    SERVER_FOLDER: "should be an absolute folder without spaces or a / at its end, like /srv/comics",
    DIGEST: "should be the SHA-256 digest of a key (64 digits 0-9 a-f), never the key itself",
    WRITTEN_ID: "should be the id of a chapter",
}

Id: TypeAlias = Annotated[int, Field(ge=1, le=MAX_ID)]
Slug: TypeAlias = Annotated[str, StringConstraints(pattern=SLUG, max_length=MAX_SLUG)]
Line: TypeAlias = Annotated[str, StringConstraints(pattern=LINE)]
Name: TypeAlias = Annotated[str, StringConstraints(pattern=LINE, min_length=1)]
CategoryId: TypeAlias = Annotated[
    str, StringConstraints(pattern=CATEGORY, min_length=1, max_length=MAX_SLUG), AfterValidator(field_values.filterable)
]
CategoryName: TypeAlias = Annotated[
    str,
    StringConstraints(pattern=CATEGORY, min_length=1, max_length=MAX_CATEGORY),
    AfterValidator(field_values.filterable),
]
Paragraphs: TypeAlias = Annotated[str, StringConstraints(pattern=PARAGRAPHS)]
FileOrUrl: TypeAlias = Annotated[str, StringConstraints(pattern=FILE_OR_URL, max_length=MAX_FILE_OR_URL)]
Url: TypeAlias = Annotated[str, StringConstraints(pattern=URL, max_length=MAX_FILE_OR_URL)]
# The name of a person, group or member, or its id.
Reference: TypeAlias = Annotated[str | int, BeforeValidator(field_values.reference)]
# Larger ones lose digits in the JavaScript of reader apps.
Count: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=2**53 - 1)]
# Fields have names and no numbers, so that an id that is one is text.
Views: TypeAlias = dict[Annotated[str, StringConstraints(pattern=WRITTEN_ID)], Count]
# Seconds since 1970, cut, never rounded.
Instant: TypeAlias = Annotated[int, BeforeValidator(field_values.instant)]
Number: TypeAlias = Annotated[str, BeforeValidator(field_values.number)]
Pages: TypeAlias = Annotated[
    list[FileOrUrl], BeforeValidator(field_values.pages), AfterValidator(field_values.check_pages)
]
ChapterTitle: TypeAlias = Annotated[Name, BeforeValidator(field_values.chapter_title)]


# The routes of v2 that can be put behind a key as a whole, as paths below /api/v2.
RestrictedRoute: TypeAlias = Literal[
    "/series",
    "/series/{slug}",
    "/series/{slug}/chapters",
    "/chapters",
    "/chapters/{id}",
    "/chapters/{id}/pages",
    "/chapters/{id}/read",
    "/pages",
    "/categories",
    "/categories/{name}",
    "/authors",
    "/authors/{id}",
    "/artists",
    "/artists/{id}",
    "/groups",
    "/groups/{id}",
    "/members",
    "/members/{id}",
    "/cubari/{slug}",
]


class _NotNull:
    """What may be left out, and has a value where it is not: `volume:` alone says neither."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return handler(source)["schema"]  # what stands beside None


NOT_NULL = _NotNull()


class Record(BaseModel):
    """Anything that people write: no field that is not known, no type guessed, nothing changed later."""

    # Built when it is needed first: a build that finds nothing to do needs none.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    def to_values(self) -> dict[str, Any]:
        """Return the fields that are set, each value in its canonical form."""
        return self.model_dump(exclude_unset=True)

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> "Record":
        """Return the record of checked `values` without checking them again."""
        return cls.model_construct(**values)


class Entity(Record):
    """Whatever has a life of its own may say when it last changed."""

    modified: Annotated[Instant | None, NOT_NULL] = None


class Person(Entity):
    """An author or an artist."""

    id: Id
    name: Name
    aliases: list[Name] = []


class Category(Entity):
    """A genre; its name is part of an address and of a file's name, unless it has a slash or a comma."""

    id: CategoryId
    name: CategoryName
    description: Paragraphs = ""


class Role(Record):
    """What one member does in a group; a member with two roles has two lines."""

    member: Reference
    role: Name


class Group(Entity):
    """Who translates, letters and publishes chapters."""

    id: Id
    name: Name
    description: Paragraphs = ""
    website: Line = ""
    email: Line = ""
    discord: Line = ""
    twitter: Line = ""
    reddit: Line = ""
    irc: Line = ""
    logo: Annotated[FileOrUrl | None, NOT_NULL] = None
    members: list[Role] = []


class Member(Entity):
    """Somebody in groups."""

    id: Id
    name: Name
    twitter: Line = ""
    discord: Line = ""
    irc: Line = ""
    reddit: Line = ""


class Key(Record):
    """A key to restricted answers, known by its digest only."""

    name: Name
    sha256: Annotated[str, StringConstraints(pattern=DIGEST)]


class IssuedKey(Key):
    """A key that the command line made; it may belong to an account."""

    account: Annotated[Slug | None, NOT_NULL] = None


class Account(Entity):
    """Somebody with bookmarks, a profile and keys."""

    username: Slug
    first_name: Line = ""
    last_name: Line = ""
    email: Line = ""
    bio: Paragraphs = ""
    avatar: Annotated[FileOrUrl | None, NOT_NULL] = None
    url: Annotated[Url | None, NOT_NULL] = None
    bookmarks: list[Slug] = []
    keys: list[Key] = []


class Chapter(Entity):
    """A chapter, in the file of its series or in one of its own."""

    id: Annotated[Id | None, NOT_NULL] = None
    volume: Annotated[Annotated[int, Field(ge=1, le=MAX_NUMBER)] | None, NOT_NULL] = None
    number: Number
    title: Line = ""
    published: Instant
    final: bool = False
    groups: list[Reference] = []
    pages: Pages
    views: Count = 0


class Series(Entity):
    """A series; its slug is the name of its file or folder."""

    title: Name
    aliases: list[Name] = []
    description: Paragraphs = ""
    authors: list[Reference] = []
    artists: list[Reference] = []
    categories: list[Name] = []
    status: Literal["ongoing", "completed", "hiatus", "canceled"] = "ongoing"
    licensed: bool = False
    restricted: bool = False
    cover: FileOrUrl
    chapter_title: ChapterTitle = field_values.DEFAULT_CHAPTER_TITLE
    chapters: list[Chapter] = []

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> "Series":
        return cls.model_construct(
            **{**values, "chapters": [Chapter.from_values(chapter) for chapter in values.get("chapters", ())]}
        )


Age: TypeAlias = Annotated[int, Field(ge=0, le=31_536_000)]


class VersionAges(Record):
    """How many seconds a cache may keep an answer, by what it is about."""

    people: Age = 3600
    series: Age = 300
    releases: Age = 60
    categories: Age = 3600
    groups: Age = 3600


class CacheAges(Record):
    """Ages by path family; `errors` is for what is not there, `index` for `/`."""

    unversioned: VersionAges = VersionAges()
    v1: VersionAges = VersionAges()
    v2: VersionAges = VersionAges()
    index: Age = 3600
    errors: Age = 60


class Site(Record):
    """The site itself."""

    base_url: Annotated[str, StringConstraints(pattern=HOST)]
    reader: Annotated[str, StringConstraints(pattern=PATH)] = "/reader/"
    media: Annotated[str, StringConstraints(pattern=PATH_OR_URL)] = "/media/"
    port: Annotated[int, Field(ge=1, le=65535)] = 8000
    ipv6: bool = False
    server_folder: Annotated[Annotated[str, StringConstraints(pattern=SERVER_FOLDER)] | None, NOT_NULL] = None
    hide_licensed: bool = False
    restricted: list[RestrictedRoute] = []
    page_size: Annotated[int, Field(ge=1, le=999)] = 25
    # MiB; many hosts take no bigger file than this.
    body_budget: Annotated[int, Field(ge=1, le=1_000_000)] = 25
    # How many lie in dist, the one that is served among them: nginx may still answer with an older one.
    keep_releases: Annotated[int, Field(ge=2, le=100)] = 2
    # From one address; 0 is no limit.
    views_per_second: Annotated[int, Field(ge=0, le=1000)] = 5
    cache: CacheAges = CacheAges()
