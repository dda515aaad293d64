"""The settings in `site.yaml`, with their descriptions and examples."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field, StringConstraints

from . import patterns
from .records import NOT_NULL, Direction, Language, Layout, Name, Record

# The routes of v2 that a site can restrict, as paths below /api/v2. A test compares them with `api/routes.py`.
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

# Parts that programs for readers use; `APPS` of `site_paths` has their paths.
App: TypeAlias = Literal["archives", "opds", "komga"]

Age: TypeAlias = Annotated[int, Field(ge=0, le=31_536_000)]
MediaFolder: TypeAlias = Annotated[str, StringConstraints(pattern=patterns.MEDIA_FOLDER, max_length=patterns.MAX_PATH)]
ServerFolder: TypeAlias = Annotated[
    str, StringConstraints(pattern=patterns.SERVER_FOLDER, max_length=patterns.MAX_PATH)
]


class VersionAges(Record):
    """The maximum age of cached responses of one API version in seconds, by subject."""

    people: Age = Field(3600, description="authors and artists; in `v2` also bookmarks and profiles", examples=[86400])
    series: Age = Field(300, description="series, volumes, chapters and pages", examples=[120])
    releases: Age = Field(60, description="the latest releases; in `v2` the list of all chapters", examples=[30])
    categories: Age = Field(3600, description="categories; not in `unversioned`", examples=[86400])
    groups: Age = Field(3600, description="groups; in `v2` also members; not in `unversioned`", examples=[86400])


class CacheAges(Record):
    """The maximum age of cached responses in seconds, by API version."""

    unversioned: VersionAges = Field(
        VersionAges.model_construct(),
        description="ages of the responses below `/api`, by subject",
        examples=[{"series": 120}],
    )
    v1: VersionAges = Field(
        VersionAges.model_construct(),
        description="ages of the responses below `/api/v1`, by subject",
        examples=[{"categories": 86400}],
    )
    v2: VersionAges = Field(
        VersionAges.model_construct(),
        description="ages of the responses below `/api/v2`, by subject",
        examples=[{"series": 60}],
    )
    index: Age = Field(
        3600, description="age of `/index.json`, `/api/v2/openapi.json` and `/api/v2/docs/`", examples=[600]
    )
    pages: Age = Field(300, description="age of the pages for readers and of the feeds", examples=[120])
    media: Age = Field(
        2_592_000, description="age of the images that nginx serves from `media_folder`", examples=[86_400]
    )
    errors: Age = Field(60, description="age of 404, 451 and 308 responses", examples=[30])


class Site(Record):
    """The settings of the site."""

    removed_fields: ClassVar[Mapping[str, str]] = {
        "publish": "is no longer a setting, because it chose where the keys of the publisher are used; remove it, and "
        "name the target of the images on the command line: `publish --media-to`"
    }

    base_url: Annotated[str, StringConstraints(pattern=patterns.HOST)] = Field(
        description="scheme, host and, if needed, port; without a path and without `/` at the end; every absolute URL "
        "begins with it",
        examples=["https://comics.example"],
    )
    title: Annotated[Name | None, NOT_NULL] = Field(
        None,
        description="the name of the site, in pages and feeds; without it, they show the host of `base_url`",
        examples=["Paper Comics"],
    )
    language: Annotated[Language | None, NOT_NULL] = Field(
        None,
        description="the language of the site, as a tag of BCP 47; without it, `lang` of the texts of the theme, or "
        "`en`",
        examples=["de"],
    )
    pages: bool = Field(
        False,
        description="`true`: the build makes pages for readers, and feeds; with a front end of your own, leave it out",
        examples=[True],
    )
    shelf: bool = Field(
        True,
        description="`false`: the reader's pages remember nothing on the devices of readers, and keep no chapters for "
        "reading without a network",
        examples=[False],
    )
    apps: list[App] = Field(
        [],
        description="what apps for readers get beside the API: `archives` (chapters as `.cbz` files), `opds` (catalogs "
        "of OPDS below `/opds`), `komga` (the read calls of Komga below `/komga`)",
        examples=[["opds", "komga"]],
    )
    direction: Direction = Field(
        "ltr",
        description="the order of the pages of a chapter, unless a series has its own: `ltr` (left to right) or `rtl`",
        examples=["rtl"],
    )
    layout: Layout = Field(
        "strip",
        description="how the reader's pages show a chapter at first, unless a series has its own or is a webtoon: "
        "`strip` (all pages below each other), `paged` (one at a time) or `double` (in pairs on wide screens)",
        examples=["double"],
    )
    page_ratio: Annotated[float, Field(ge=0.1, le=10)] = Field(
        0.7,
        description="width divided by height of a usual page, 0.1 to 10; the reader's pages reserve this space for an "
        "image whose size is not known",
        examples=[0.65],
    )
    reader: Annotated[str, StringConstraints(pattern=patterns.PATH, max_length=patterns.MAX_PATH)] = Field(
        "/reader/", description="the path of the reader's pages; begins and ends with `/`", examples=["/read/"]
    )
    media: Annotated[str, StringConstraints(pattern=patterns.PATH_OR_URL, max_length=patterns.MAX_PATH)] = Field(
        "/media/",
        description="the place of the images: a path below `base_url`, or a URL on another host; ends with `/`",
        examples=["https://images.example/media/"],
    )
    media_folder: Annotated[MediaFolder | None, NOT_NULL] = Field(
        None,
        description="the folder of the images, as a path below the folder of the project, which contains the catalog; "
        "nginx serves the images in it at the path of `media`; without it, nginx serves no images",
        examples=["media"],
    )
    port: Annotated[int, Field(ge=1, le=65535)] = Field(
        8000, description="the port in the emitted nginx configuration, 1 to 65535", examples=[8080]
    )
    ipv6: bool = Field(
        False,
        description="`true`: the emitted nginx configuration also listens on IPv6; nginx then fails to start on a "
        "machine without IPv6",
        examples=[True],
    )
    server_folder: Annotated[ServerFolder | None, NOT_NULL] = Field(
        None,
        description="the absolute path of the folder with `dist/` on the server, without spaces and without `/` at "
        "the end; without it, paths are relative, for an nginx that is started in the project folder",
        examples=["/srv/comics"],
    )
    hide_licensed: bool = Field(
        False, description="`true`: licensed series are not in `/api` and `/api/v1`", examples=[True]
    )
    restricted: list[RestrictedRoute] = Field(
        [],
        description="routes of `/api/v2` that need a key, as paths below it: `/series`, `/series/{slug}`, "
        "`/series/{slug}/chapters`, `/chapters`, `/chapters/{id}`, `/chapters/{id}/pages`, `/chapters/{id}/read`, "
        "`/pages`, `/cubari/{slug}`, and `/categories`, `/authors`, `/artists`, `/groups`, `/members`, each also with "
        "`/{id}` (categories: `/{name}`); in quotes, because of the braces",
        examples=[["/members", "/members/{id}"]],
    )
    page_size: Annotated[int, Field(ge=1, le=999)] = Field(
        25, description="series per page of `/api/v2/series`, unless the request sets `limit`; 1 to 999", examples=[50]
    )
    body_budget: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        25,
        description="the size of a body in MiB above which a build warns, 1 to 1000000; many hosts refuse files above "
        "25 MiB",
        examples=[100],
    )
    keep_releases: Annotated[int, Field(ge=2, le=100)] = Field(
        2,
        description="the number of releases in `dist/`, including the current one, 2 to 100; see serving.md for sites "
        "that need more",
        examples=[5],
    )
    views_per_second: Annotated[int, Field(ge=0, le=1000)] = Field(
        5,
        description="the number of views per second counted for one client IP address, with a burst of ten times "
        "that, 0 to 1000; `0` is unlimited; keys-and-views.md explains the effect of a CDN",
        examples=[20],
    )
    cache: CacheAges = Field(
        CacheAges.model_construct(), description="how long caches can keep responses", examples=[{"errors": 30}]
    )

    def for_preview(self) -> "Site":
        """The settings of a preview: with pages, and no browser uses a response without asking whether it changed."""
        none = VersionAges(people=0, series=0, releases=0, categories=0, groups=0)
        ages = CacheAges(unversioned=none, v1=none, v2=none, index=0, pages=0, media=0, errors=0)
        return self.model_copy(update={"pages": True, "cache": ages})
