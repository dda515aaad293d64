"""What stands in the document beside what the table of routes knows: names, sentences, parameters, refusals."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """A GET of one path. `refuses` are statuses that neither its shape nor its gates tell of."""

    id: str
    tag: str
    summary: str
    parameters: tuple[str, ...] = ()
    refuses: tuple[int, ...] = ()
    description: str = ""
    deprecated: bool = False
    # Of a single series, so that it may take a key though the others do not.
    of_series: bool = False


TAGS = {
    "series": "Series, and lists of them.",
    "chapters": "Chapters of all series or of one.",
    "categories": "Genres.",
    "pages": "The images of a chapter.",
    "artists": "Who draws.",
    "authors": "Who writes.",
    "cubari": "A series as reader apps exchange it.",
    "groups": "Who translates, letters and publishes.",
    "members": "Who belongs to the groups.",
    "bookmarks": "What the account behind a key wants to remember.",
    "profile": "The account behind a key.",
    "v1": "The first version: whole series with their chapters.",
    "unversioned": "What was there before versions.",
    "about": "The service itself.",
}

_FILTERS = ("page", "limit", "sort", "slug_filter", "status", "categories", "title", "author", "artist")


def _old(tag: str, prefix: str) -> dict[str, Operation]:
    """What the two old families share; they differ in shapes, not in paths."""
    path = "/api" if tag == "unversioned" else f"/api/{tag}"
    number = (400, 404)
    return {
        f"{path}/authors": Operation(f"{prefix}ListAuthors", tag, "All authors, by id"),
        f"{path}/authors/{{id}}": Operation(f"{prefix}RetrieveAuthor", tag, "One author", refuses=number),
        f"{path}/artists": Operation(f"{prefix}ListArtists", tag, "All artists, by id"),
        f"{path}/artists/{{id}}": Operation(f"{prefix}RetrieveArtist", tag, "One artist", refuses=number),
        f"{path}/series": Operation(f"{prefix}ListSeries", tag, "All series with all chapters, by title"),
        f"{path}/series/{{slug}}": Operation(f"{prefix}RetrieveSeries", tag, "One series", refuses=(404,)),
        f"{path}/series/{{slug}}/{{volume}}": Operation(
            f"{prefix}RetrieveVolume", tag, "All chapters of a volume, by number", refuses=number
        ),
        f"{path}/series/{{slug}}/{{volume}}/{{chapter}}": Operation(
            f"{prefix}RetrieveChapter", tag, "One chapter", refuses=number
        ),
        f"{path}/releases": Operation(f"{prefix}ListReleases", tag, "The latest chapter of each series, newest first"),
    }


OPERATIONS: dict[str, Operation] = {
    "/": Operation("retrieveIndex", "about", "Where to go from here"),
    "/api/v2/openapi.json": Operation("retrieveDocument", "about", "This document"),
    "/api/v2/docs": Operation("retrieveDocumentation", "about", "This document, for people"),
    **_old("unversioned", "unversioned"),
    **_old("v1", "v1"),
    "/api/v1/categories": Operation("v1ListCategories", "v1", "All categories, by id"),
    "/api/v1/groups": Operation("v1ListGroups", "v1", "All groups, by id"),
    "/api/v1/groups/{id}": Operation("v1RetrieveGroup", "v1", "One group", refuses=(400, 404)),
    "/api/v2/series": Operation(
        "listSeries",
        "series",
        "Series, page by page",
        _FILTERS,
        (400, 404),
        "Every filter narrows the list; `total` and `last` describe what is left. What is empty counts as absent, "
        "and an unknown status or category matches nothing. A page that does not exist is a 404. A query with more "
        "than 64 parameters, or with a value that is longer than its bound, is a 400.",
    ),
    "/api/v2/series/{slug}": Operation("retrieveSeries", "series", "One series", refuses=(404,)),
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
    "/api/v2/chapters/{id}": Operation("retrieveChapter", "chapters", "One chapter", refuses=(404,), of_series=True),
    "/api/v2/chapters/{id}/pages": Operation(
        "listChapterPages", "pages", "The pages of a chapter, in reading order", ("track",), (404,), of_series=True
    ),
    "/api/v2/chapters/{id}/read": Operation(
        "readChapter",
        "chapters",
        "To the chapter in the reader",
        refuses=(404,),
        description="Temporary: it may go once all clients use `url`.",
        of_series=True,
    ),
    "/api/v2/pages": Operation(
        "listPages",
        "pages",
        "The pages of a chapter, in reading order",
        ("pages_series", "pages_volume", "pages_number", "track"),
        (400,),
        "Use `/api/v2/chapters/{id}/pages`. A chapter that does not exist or is licensed has no pages here. A volume "
        "or a number that is none is a 400.",
        deprecated=True,
        of_series=True,
    ),
    "/api/v2/categories": Operation("listCategories", "categories", "All categories, by id"),
    "/api/v2/categories/{name}": Operation("retrieveCategory", "categories", "One category", refuses=(404,)),
    "/api/v2/authors": Operation("listAuthors", "authors", "All authors, by id"),
    "/api/v2/authors/{id}": Operation("retrieveAuthor", "authors", "One author", refuses=(404,)),
    "/api/v2/artists": Operation("listArtists", "artists", "All artists, by id"),
    "/api/v2/artists/{id}": Operation("retrieveArtist", "artists", "One artist", refuses=(404,)),
    "/api/v2/groups": Operation("listGroups", "groups", "All groups, by id"),
    "/api/v2/groups/{id}": Operation("retrieveGroup", "groups", "One group", refuses=(404,)),
    "/api/v2/members": Operation("listMembers", "members", "All members, by id"),
    "/api/v2/members/{id}": Operation("retrieveMember", "members", "One member", refuses=(404,)),
    "/api/v2/cubari/{slug}": Operation(
        "retrieveCubari",
        "cubari",
        "One series in the reader format",
        refuses=(404,),
        description="Experimental: the format is not ours, and may change with the apps that made it.",
        of_series=True,
    ),
    "/api/v2/bookmarks": Operation(
        "listBookmarks",
        "bookmarks",
        "The bookmarks of an account",
        refuses=(404,),
        description="404 for a key of nobody.",
    ),
    "/api/v2/profile": Operation(
        "retrieveProfile", "profile", "An account", refuses=(404,), description="404 for a key of nobody."
    ),
}
