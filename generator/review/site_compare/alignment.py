"""Known differences in the form of whole responses of the original service.

Each function changes the value of the first site until it has the form of the second, and yields the differences that
it removed with their reasons. What is left is compared field by field, so no other difference is hidden.
The list of authors in version 1 cannot be aligned: the original service lists artists there, so other responses state
what is right.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from ...api.routes import route_of
from ...reading_sites.lenient import entries, fields, http_date, line, lines, text, texts, whole
from ..diff.json_diff import Path
from .compared_site import V1, V2
from .facts import Facts, plain_volume, six

NO_VOLUME_KEY = 'chapters without a volume are below the key "0", not "null"'
SIX_DIGITS = "numbers keep all of their digits; the original service rounds them to six"
ENCODED = "file names and paths of images are percent-encoded"
PAGES_ROOT = "pages_root is the folder of the images; the original service computes it from volume and number"
TWO_FOLDERS = "the pages of one chapter are in several folders, which a catalog cannot hold"
PAGE_IDS = "ids of pages are computed from the id of the chapter"
PAGE_NUMBERS = "gaps in page numbers are closed"
SCHEDULED = "the latest chapter is a published one; the original service shows scheduled ones, too"


class Explained(NamedTuple):
    """A difference that an alignment removed."""

    steps: Path
    first: Any
    second: Any
    reason: str


Aligned = Iterator[Explained]


def align(path: str, first: Any, second: Any, facts: Facts) -> Aligned:
    """Change `first` in place; yield what was different."""
    if aligned := _ALIGNMENTS.get(route_of(path)):
        yield from aligned(path.split("/"), first, second, facts)


def _series(parts: list[str], first: Any, second: Any, facts: Facts) -> Aligned:
    volumes, others = fields(fields(first).get("volumes")), fields(fields(second).get("volumes"))
    if "null" in volumes and "0" not in volumes:
        volumes["0"] = volumes.pop("null")
        yield Explained(("volumes", '["null"]'), "null", "0", NO_VOLUME_KEY)
    for volume in volumes.keys() & others.keys():
        for explained in _volume([*parts[:5], volume], volumes[volume], others[volume], facts):
            yield explained._replace(steps=("volumes", f'["{volume}"]', *explained.steps))


def _volume(parts: list[str], first: Any, second: Any, facts: Facts) -> Aligned:
    chapters, others = fields(first), fields(second)
    for number in [number for number in chapters if number not in others]:
        exact = next((other for other in others if other not in chapters and six(other) == number), None)
        if exact is not None:
            chapters[exact] = chapters.pop(number)
            yield Explained((f'["{number}"]',), number, exact, SIX_DIGITS)
    for number in [number for number in others if number in chapters]:
        for explained in _chapter([*parts[:6], number], chapters[number], others[number], facts):
            yield explained._replace(steps=(f'["{number}"]', *explained.steps))


def _chapter(parts: list[str], first: Any, second: Any, facts: Facts) -> Aligned:
    """Compare the pages of a chapter in version 1 as images: `pages_root` and `pages_list` together."""
    chapter, other = fields(first), fields(second)
    pages, others = _pages(chapter), _pages(other)
    if pages == others:
        return
    paths = [unquote(others[0]) + unquote(name) for name in others[1]]
    if (unquote(pages[0]), pages[1]) == (unquote(others[0]), [unquote(name) for name in others[1]]):
        reason = ENCODED
    else:
        stated = next(facts.cubari_pages(parts[4], plain_volume(parts[5]), parts[6]), [])
        images = [unquote(facts.image(image)) for image in stated]
        folders = {image.rpartition("/")[0] for image in images}
        if images and images == paths:
            reason = PAGES_ROOT
        elif len(folders) > 1 and len(paths) < len(images) and set(paths) <= set(images):
            reason = TWO_FOLDERS
        else:
            return
    for value in (chapter, other):
        value.pop("pages_root", None)
        value.pop("pages_list", None)
    yield Explained(("pages_list",), "".join([pages[0], *pages[1][:1]]), "".join([others[0], *others[1][:1]]), reason)


def _pages(chapter: Mapping[str, Any]) -> tuple[str, list[str]]:
    return text(chapter.get("pages_root")), texts(chapter.get("pages_list"))


def _page_list(parts: list[str], first: Any, second: Any, facts: Facts) -> Aligned:
    """Compare pages by position: their ids differ, and the second site numbers them without gaps."""
    if not (isinstance(first, dict) and isinstance(second, dict)):
        return
    pages, others = list(entries(first.get("results"))), list(entries(second.get("results")))
    numbers = [page.get("number") for page in pages]
    ids, other_ids = ([whole(page.get("id")) for page in items] for items in (pages, others))
    if ids != other_ids and ids and len({*other_ids} - {None}) == len(others) > 0:
        for page in (*pages, *others):
            page.pop("id", None)
        yield Explained(("results", "[0]", "id"), ids[0], other_ids[0], PAGE_IDS)
    if len(pages) == len(others) and numbers != list(range(1, len(pages) + 1)):
        for page, other in zip(pages, others, strict=True):
            number, wanted = page.get("number"), other.get("number")
            if number != wanted and text(page.get("url")).endswith(f"/{number}/"):
                page["url"] = f"{page['url'].removesuffix(f'/{number}/')}/{wanted}/"
                page["number"] = wanted
                yield Explained(("results", f"[number={number}]", "number"), number, wanted, PAGE_NUMBERS)
    for value, items in ((first, pages), (second, others)):
        value["results"] = {str(position): page for position, page in enumerate(items, 1)}


def _releases(parts: list[str], first: Any, second: Any, facts: Facts) -> Aligned:
    """Replace latest chapters that are scheduled, if the second site has the newest published one."""
    others = {text(series.get("slug")): series for series in entries(second)}
    for series in entries(first):
        slug = text(series.get("slug"))
        latest, other = fields(series.get("latest_chapter")), fields(fields(others.get(slug)).get("latest_chapter"))
        if (http_date(text(latest.get("date"))) or 0) <= facts.now or not other:
            continue
        written = {name: str(value) for name, value in other.items()} | {"number": six(str(other.get("number")))}
        if written in ({**newest, "number": six(newest["number"])} for newest in facts.newest_chapters(slug)):
            series["latest_chapter"] = dict(other)
            steps = (f"[slug={slug}]", "latest_chapter")
            yield Explained(steps, latest, other, SCHEDULED)


_ALIGNMENTS: Mapping[str, Callable[[list[str], Any, Any, Facts], Aligned]] = {
    "/api/v1/series/{slug}": _series,
    "/api/v1/series/{slug}/{volume}": _volume,
    "/api/v1/series/{slug}/{volume}/{chapter}": _chapter,
    "/api/v1/releases": _releases,
    "/api/v2/chapters/{id}/pages": _page_list,
}

# The list of authors in version 1

_AUTHORS = f"{V1}/authors"


def is_corrected_author_list(path: str, first: Any, second: Any, facts: Facts) -> bool:
    """Whether the first site states artists as its authors, and the second one the authors of its series."""
    name, rest = path[: len(_AUTHORS)], path[len(_AUTHORS) :]
    if name != _AUTHORS or not first or first != facts.first_value(f"{V1}/artists{rest}"):
        return False
    if rest:
        return second in [*entries(facts.second_value(_AUTHORS))]
    people = [*entries(second)]
    authors = [(author.get("id"), author.get("name")) for author in facts.results(f"{V2}/authors")]
    if [(person.get("id"), person.get("name")) for person in people] != authors:
        return False
    stated = Counter(
        (text(series.get("slug")), *_names([text(person.get("name")), *texts(person.get("aliases"))]))
        for person in people
        for series in entries(person.get("series"))
    )
    described = {text(series.get("slug")): series for series in facts.listed(f"{V1}/series")}
    return stated == _credits(facts) and all(_is_complete(person, described) for person in people)


def _credits(facts: Facts) -> Counter[tuple[str, ...]]:
    """The slug of each series of the first site, with the names of each of its authors."""
    return Counter(
        (text(series.get("slug")), *_names(texts(names)))
        for series in facts.listed(f"{V1}/series")
        for names in _items(series.get("authors"))
    )


def _names(names: list[str]) -> list[str]:
    """A name, then other names in a fixed order."""
    return [*map(line, names[:1]), *sorted(lines(names[1:]))]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_complete(person: dict[str, Any], described: dict[str, dict[str, Any]]) -> bool:
    """Whether a person has all fields, and series as the first site describes them, by title."""
    expected = []
    for series in entries(person.get("series")):
        series_there = described.get(text(series.get("slug")), {})
        aliases = sorted(lines(series_there.get("aliases")))
        stated = texts(series.get("aliases"))
        right = aliases == sorted(stated) and series.get("aliases") == stated
        title = line(series_there.get("title"))
        expected.append({"slug": series_there.get("slug"), "title": title, "aliases": stated if right else None})
    by_title = sorted(expected, key=lambda series: (text(series["title"]), text(series["slug"])))
    return person.get("series") == by_title and isinstance(person.get("aliases"), list)
