"""The operations of the OpenAPI document: their ids, summaries, parameters and errors."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """A GET of one path. `errors` are its statuses beside 200, 304, 405, 412 and those of its gates."""

    id: str
    tag: str
    summary: str
    parameters: tuple[str, ...] = ()
    errors: tuple[int, ...] = ()
    description: str = ""
    deprecated: bool = False
    # About a single series, which may need a key although others do not.
    of_series: bool = False


TAGS = {
    "series": "Series, and lists of them.",
    "chapters": "Chapters of all series or of one.",
    "categories": "Genres.",
    "pages": "The images of a chapter.",
    "artists": "People who draw.",
    "authors": "People who write.",
    "cubari": "A series as Cubari JSON, for reader apps.",
    "groups": "Groups that translate, letter and publish.",
    "members": "Members of the groups.",
    "bookmarks": "The bookmarks of the account that a key belongs to.",
    "profile": "The account that a key belongs to.",
    "v1": "The first version: series with all of their chapters.",
    "unversioned": "The API before it had versions.",
    "about": "The API itself.",
}

_FILTERS = ("page", "limit", "sort", "slug_filter", "status", "categories", "title", "author", "artist")


def _v1_or_unversioned(tag: str, prefix: str) -> dict[str, Operation]:
    """The operations that v1 and the unversioned API share. Their bodies differ, their paths do not."""
    path = "/api" if tag == "unversioned" else f"/api/{tag}"
    of_number = (400, 404)
    return {
        f"{path}/authors": Operation(f"{prefix}ListAuthors", tag, "All authors, by id"),
        f"{path}/authors/{{id}}": Operation(f"{prefix}RetrieveAuthor", tag, "One author", errors=of_number),
        f"{path}/artists": Operation(f"{prefix}ListArtists", tag, "All artists, by id"),
        f"{path}/artists/{{id}}": Operation(f"{prefix}RetrieveArtist", tag, "One artist", errors=of_number),
        f"{path}/series": Operation(f"{prefix}ListSeries", tag, "All series with all chapters, by title"),
        f"{path}/series/{{slug}}": Operation(f"{prefix}RetrieveSeries", tag, "One series", errors=(404,)),
        f"{path}/series/{{slug}}/{{volume}}": Operation(
            f"{prefix}RetrieveVolume", tag, "All chapters of a volume, by number", errors=of_number
        ),
        f"{path}/series/{{slug}}/{{volume}}/{{chapter}}": Operation(
            f"{prefix}RetrieveChapter", tag, "One chapter", errors=of_number
        ),
        f"{path}/releases": Operation(f"{prefix}ListReleases", tag, "The latest chapter of each series, newest first"),
    }


OPERATIONS: dict[str, Operation] = {
    "/index.json": Operation("retrieveIndex", "about", "The URLs of all lists"),
    "/api/v2/openapi.json": Operation("retrieveDocument", "about", "This document"),
    "/api/v2/docs": Operation("retrieveDocumentation", "about", "This document as a page"),
    **_v1_or_unversioned("unversioned", "unversioned"),
    **_v1_or_unversioned("v1", "v1"),
    "/api/v1/categories": Operation("v1ListCategories", "v1", "All categories, by id"),
    "/api/v1/groups": Operation("v1ListGroups", "v1", "All groups, by id"),
    "/api/v1/groups/{id}": Operation("v1RetrieveGroup", "v1", "One group", errors=(400, 404)),
    "/api/v2/series": Operation(
        "listSeries",
        "series",
        "Series, page by page",
        _FILTERS,
        (400, 404),
        "A series must match every filter; `total` and `last` describe the matching series. An empty parameter is "
        "ignored. An unknown status or category matches no series. A page that does not exist is a 404. A query "
        "with more than 64 parameters, or with a value that is too long, is a 400.",
    ),
    "/api/v2/series/{slug}": Operation("retrieveSeries", "series", "One series", errors=(404,)),
    "/api/v2/series/{slug}/chapters": Operation(
        "listSeriesChapters",
        "series",
        "The chapters of a series, newest first",
        ("date_format",),
        (400, 404),
        of_series=True,
    ),
    "/api/v2/chapters": Operation(
        "listChapters", "chapters", "Chapters of all series, newest first", ("series_filter", "date_format"), (400,)
    ),
    "/api/v2/chapters/{id}": Operation("retrieveChapter", "chapters", "One chapter", errors=(404,), of_series=True),
    "/api/v2/chapters/{id}/pages": Operation(
        "listChapterPages", "pages", "The pages of a chapter, in reading order", ("track",), (404,), of_series=True
    ),
    "/api/v2/chapters/{id}/read": Operation(
        "readChapter",
        "chapters",
        "Redirect to the chapter in the reader",
        errors=(404,),
        description="Temporary: it will be removed when all clients use `url`.",
        of_series=True,
    ),
    "/api/v2/pages": Operation(
        "listPages",
        "pages",
        "The pages of a chapter, in reading order",
        ("pages_series", "pages_volume", "pages_number", "track"),
        (400,),
        "Use `/api/v2/chapters/{id}/pages`. The results are empty for a licensed chapter and for one that does not "
        "exist. If the pages of the series need an API key, so does any number. A volume or number that is not a "
        "number is a 400.",
        deprecated=True,
        of_series=True,
    ),
    "/api/v2/categories": Operation("listCategories", "categories", "All categories, by id"),
    "/api/v2/categories/{name}": Operation("retrieveCategory", "categories", "One category", errors=(404,)),
    "/api/v2/authors": Operation("listAuthors", "authors", "All authors, by id"),
    "/api/v2/authors/{id}": Operation("retrieveAuthor", "authors", "One author", errors=(404,)),
    "/api/v2/artists": Operation("listArtists", "artists", "All artists, by id"),
    "/api/v2/artists/{id}": Operation("retrieveArtist", "artists", "One artist", errors=(404,)),
    "/api/v2/groups": Operation("listGroups", "groups", "All groups, by id"),
    "/api/v2/groups/{id}": Operation("retrieveGroup", "groups", "One group", errors=(404,)),
    "/api/v2/members": Operation("listMembers", "members", "All members, by id"),
    "/api/v2/members/{id}": Operation("retrieveMember", "members", "One member", errors=(404,)),
    "/api/v2/cubari/{slug}": Operation(
        "retrieveCubari",
        "cubari",
        "One series as Cubari JSON",
        errors=(404,),
        description="Experimental: reader apps define the format and may change it.",
        of_series=True,
    ),
    "/api/v2/bookmarks": Operation(
        "listBookmarks",
        "bookmarks",
        "The bookmarks of an account",
        errors=(404,),
        description="404 for a key that belongs to no account.",
    ),
    "/api/v2/profile": Operation(
        "retrieveProfile",
        "profile",
        "An account",
        errors=(404,),
        description="404 for a key that belongs to no account.",
    ),
}
