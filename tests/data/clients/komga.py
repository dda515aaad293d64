"""The Komga extension of the Mihon family: src/all/komga @ fd4236e of keiyoushi/extensions-source.

Its requests in the order in which it sends them, and what it reads of the answers. A field without a default in its
classes is required, and null only where the type allows it. A list that is read as a set may repeat no name.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

from tests.data.clients.strict import (
    ISO,
    Reader,
    any_of,
    array,
    boolean,
    fields,
    int32,
    long,
    matching,
    need,
    nullable,
    number,
    string,
)

Get = Callable[[str], Any]
ROOT = "/komga/api/v1"
# The image formats for which it asks for no conversion.
FORMATS = {f"image/{name}" for name in ("jpeg", "png", "gif", "webp", "jxl", "heif", "avif")}


def distinct(read: Reader) -> Reader:
    def each(value: Any) -> list[Any]:
        items: list[Any] = array(read)(value)
        need(len(set(items)) == len(items), "a name twice in a set", value)
        return items

    return each


def locks(*names: str) -> dict[str, Reader]:
    """Whether a person has locked the value of a field."""
    return {f"{name}Lock": boolean for name in names}


DAY = matching(r"\d{4}-\d\d-\d\d")
AUTHOR = fields(name=string, role=string)
PAGE_OF: Callable[[Reader], Reader] = lambda item: fields(  # noqa: E731
    content=array(item),
    **dict.fromkeys(("empty", "first", "last"), boolean),
    **dict.fromkeys(("number", "numberOfElements", "size", "totalElements", "totalPages"), long),
)
SERIES = fields(
    id=string,
    libraryId=string,
    name=string,
    created=nullable(ISO),
    lastModified=nullable(ISO),
    fileLastModified=ISO,
    booksCount=int32,
    metadata=fields(
        **locks("summary", "readingDirection", "publisher", "ageRating", "language", "genres", "tags"),
        status=any_of("ONGOING", "ENDED", "ABANDONED", "HIATUS"),
        created=nullable(ISO),
        lastModified=nullable(ISO),
        title=string,
        titleSort=string,
        summary=string,
        readingDirection=any_of("LEFT_TO_RIGHT", "RIGHT_TO_LEFT", "VERTICAL", "WEBTOON"),
        publisher=string,
        ageRating=nullable(int32),
        language=string,
        genres=distinct(string),
        tags=distinct(string),
        totalBookCount=nullable(int32),
    ),
    booksMetadata=fields(
        authors=array(AUTHOR),
        tags=distinct(string),
        releaseDate=nullable(DAY),
        summary=string,
        summaryNumber=string,
        created=ISO,
        lastModified=ISO,
    ),
)
BOOK = fields(
    id=string,
    seriesId=string,
    seriesTitle=string,
    name=string,
    number=number,
    created=nullable(ISO),
    lastModified=nullable(ISO),
    fileLastModified=ISO,
    sizeBytes=long,
    size=string,
    media=fields(
        status=any_of("READY"), mediaType=string, pagesCount=int32, mediaProfile=any_of("DIVINA", "EPUB", "PDF")
    ),
    metadata=fields(
        **locks("title", "summary", "number", "numberSort", "releaseDate", "authors", "tags"),
        title=string,
        summary=string,
        number=string,
        numberSort=number,
        releaseDate=nullable(DAY),
        authors=array(AUTHOR),
        tags=distinct(string),
    ),
)
IMAGE = fields(number=int32, fileName=string, mediaType=string, width=nullable(int32), height=nullable(int32))
LIBRARY = fields(id=string, name=string)
NAMES = distinct(string)


def decoder(path: str) -> Reader:
    """How it reads the answer of a path."""
    last = path.partition("?")[0].removeprefix(f"{ROOT}/").split("/")
    lists = {"libraries": LIBRARY, "genres": string, "tags": string, "publishers": string, "authors": AUTHOR}
    if len(last) == 1 and last[0] in lists:
        return array(lists[last[0]]) if last[0] in ("libraries", "authors") else distinct(lists[last[0]])
    if len(last) == 1:
        return PAGE_OF(BOOK if last[0] == "books" else SERIES)
    if len(last) == 2:
        return BOOK if last[0] == "books" else SERIES
    return array(IMAGE) if last[-1] == "pages" else PAGE_OF(SERIES if last[0] == "collections" else BOOK)


def parameter(name: str, value: str) -> str:
    """A parameter of a query. The library of the extension encodes commas, too."""
    return f"{name}={quote(value, safe='*-._')}"


def listing(
    search: str = "",
    page: int = 0,
    *,
    kind: str = "series",
    sort: str = "relevance,asc",
    filters: Sequence[tuple[str, str]] = (),
) -> str:
    """The URL of a list, with the parameters in its order."""
    parts = [("search", search), ("page", str(page)), ("deleted", "false"), *filters, ("sort", sort)]
    return f"{ROOT}/{kind}?{'&'.join(parameter(name, value) for name, value in parts)}"


def filter_options(get: Get) -> dict[str, Any]:
    """What it loads when its filters or its settings are opened."""
    names = ("libraries", "collections?unpaged=true", "genres", "tags", "publishers", "authors")
    return {name.partition("?")[0]: get(f"{ROOT}/{name}") for name in names}


def browse(get: Get, page_of: Callable[[int], str]) -> Iterator[dict[str, Any]]:
    """All entries of a list, page by page until the last."""
    number, is_last = 0, False
    while not is_last:
        body = get(page_of(number))
        yield from body["content"]
        number, is_last = number + 1, body["last"]


def chapters(get: Get, series: str) -> list[dict[str, Any]]:
    """The chapters of a series in the order of the app, newest first."""
    body = get(f"{ROOT}/series/{series}/books?unpaged=true&media_status=READY&deleted=false")
    return sorted(body["content"], key=lambda book: book["metadata"]["numberSort"], reverse=True)


def chapter_name(book: dict[str, Any]) -> str:
    """In the default template."""
    return f"{book['metadata']['number']} - {book['metadata']['title']} ({book['size']})"


def image_urls(get: Get, book: str) -> list[str]:
    """The URLs of the images of a chapter: that of their list with a number."""
    url = f"{ROOT}/books/{book}/pages"
    return [
        f"{url}/{image['number']}" + ("" if image["mediaType"] in FORMATS else "?convert=png") for image in get(url)
    ]
