"""Why a field may differ between a site of the original service and its successor: the table REASONS.

A row explains one field for one cause: its function checks the cause in other responses. No row explains a chapter, a
page or a person that only the first site has.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from ...api.routes import route_of
from ...catalog import field_values
from ...reading_sites.lenient import (
    count,
    entries,
    fields,
    http_date,
    instant,
    line,
    lines,
    paragraphs,
    text,
    texts,
    whole,
)
from ..diff.json_diff import ADDED, CHANGED, MOVED, REMOVED, Path
from .facts import SERIES_LIST, STATUS, V1, V2, Difference, Facts, plain_volume, six, value_at

# Known differences in the form of whole responses of the original service
#
# Each function changes the value of the first site until it has the form of the second, and yields the differences that
# it removed with their reasons. What is left is compared field by field, so no other difference is hidden. The list of
# authors in version 1 cannot be aligned: the original service lists artists there, so other responses state what is
# right.

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
    """Whether the first site states artists as its authors, and the second one the authors of its series.

    Series that only the second site has are differences of the list of series.
    """
    name, rest = path[: len(_AUTHORS)], path[len(_AUTHORS) :]
    if name != _AUTHORS or not first or first != facts.first_value(f"{V1}/artists{rest}"):
        return False
    if rest:
        return second in [*entries(facts.second_value(_AUTHORS))]
    described = {text(series.get("slug")): series for series in facts.listed(f"{V1}/series")}
    people = [
        person
        | {"series": [series for series in entries(person.get("series")) if text(series.get("slug")) in described]}
        for person in entries(second)
    ]
    authors = [(author.get("id"), author.get("name")) for author in facts.results(f"{V2}/authors")]
    if [(person.get("id"), person.get("name")) for person in people] != authors:
        return False
    stated = Counter(
        (text(series.get("slug")), *_names([text(person.get("name")), *texts(person.get("aliases"))]))
        for person in people
        for series in entries(person.get("series"))
    )
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


_SERIES, _CUBARI = f"{V2}/series/{{slug}}", f"{V2}/cubari/{{slug}}"

# People and groups that the original service mixes up, or does not tell apart

_ROLES = re.compile(r"(.*) \((.*)\)", re.DOTALL)


def group_roles(difference: Difference, facts: Facts) -> bool:
    """The groups of version 2 state the roles of a member in one group."""
    if not isinstance(difference.first, str):
        return False
    id, step = _id(difference), next((step for step in reversed(difference.steps) if step.startswith("[id=")), "")
    groups = [group for group in facts.listed(f"{V1}/groups") if group.get("id") == id]
    members = [member for group in groups for member in entries(group.get("members"))]
    names = {text(member.get("name")) for member in members if f"[id={member.get('id')}]" == step}
    stated = texts(fields(facts.first_value(f"{V2}/groups/{id}")).get("members"))
    if stated:
        return not any(f"{difference.first}: {name}" in stated for name in names)
    # Without version 2, the member should have the role in another group.
    return any(
        f"[id={member.get('id')}]" == step and difference.first in texts(member.get("roles"))
        for group in entries(facts.second_value(f"{V1}/groups"))
        if group.get("id") != id
        for member in entries(group.get("members"))
    )


def _id(difference: Difference) -> int | None:
    """The id of a person or group: that of a response of its own, or of the first item that the field is in."""
    last = difference.path.rpartition("/")[2]
    match = re.fullmatch("[0-9]+", last) or next(
        filter(None, (re.fullmatch(r"\[id=([0-9]+)\]", step) for step in difference.steps)), None
    )
    return int(match[match.lastindex or 0]) if match else None


def role_order(difference: Difference, facts: Facts) -> bool:
    pairs = [_ROLES.fullmatch(text(value)) for value in (difference.first, difference.second)]
    groups = [(match[1], sorted(match[2].split(", "))) for match in pairs if match]
    return len(groups) == 2 and groups[0] == groups[1]


def namesake_members(difference: Difference, facts: Facts) -> bool:
    """Without version 1, the roles of a member may be those of another one with the same name."""
    if facts.first.get(f"{V1}/releases").good:
        return False
    second = _results(facts.second_value(f"{V2}/members"))
    if difference.route == f"{V2}/members":
        second = _results(facts.values[1])
    elif facts.values[1] not in second:
        return False
    id, group = _id(difference), text(difference.first if difference.kind == REMOVED else difference.second)
    counts = []
    for members in (facts.results(f"{V2}/members"), second):
        names = [member.get("name") for member in members if member.get("id") == id]
        namesakes = [member for member in members if member.get("name") in names]
        counts.append((len(namesakes) > 1, sum(group in texts(member.get("groups")) for member in namesakes)))
    return counts[0] == counts[1] and counts[0][0]


def _results(value: object) -> list[dict[str, Any]]:
    return list(entries(fields(value).get("results")))


def namesake_groups(difference: Difference, facts: Facts) -> bool:
    """The series has chapters that share a number, and is among those of another group with the same name."""
    slug, id = text(fields(difference.first).get("slug")), _id(difference)
    chapters = facts.results(f"{V2}/series/{slug}/chapters")
    numbers = {(str(chapter.get("volume")), str(chapter.get("number"))) for chapter in chapters}
    names = [group.get("name") for group in facts.listed(f"{V1}/groups") if group.get("id") == id]
    others = entries(facts.second_value(f"{V1}/groups"))
    return len(numbers) < len(chapters) and any(
        group.get("name") in names
        and group.get("id") != id
        and slug in [series.get("slug") for series in entries(group.get("series"))]
        for group in others
    )


def same_title(difference: Difference, facts: Facts) -> bool:
    """The group has another series with this title, and a chapter of this one."""
    added, id = fields(difference.second), _id(difference)
    group = next((group for group in facts.listed(f"{V1}/groups") if group.get("id") == id), {})
    titles = [series.get("title") for series in entries(group.get("series"))]
    chapters = facts.old_chapters(text(added.get("slug")))
    return added.get("title") in titles and any(
        group.get("id") == id for _, _, chapter in chapters for group in entries(chapter.get("groups"))
    )


# Values that the successor writes in another form

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def cleaned_text(difference: Difference, facts: Facts) -> bool:
    first, second = difference.first, difference.second
    return isinstance(first, str) and second in (paragraphs(first), line(first))


def six_digits(difference: Difference, facts: Facts) -> bool:
    first, second = difference.first, difference.second
    if not (isinstance(first, str) and isinstance(second, str)):
        return False
    return _NUMBER.sub(lambda match: six(match[0]), second) in (first, line(first))


def whole_number(difference: Difference, facts: Facts) -> bool:
    values = (difference.first, difference.second)
    return all(type(value) in (int, float) for value in values) and len({*values}) == 1


def no_volume(difference: Difference, facts: Facts) -> bool:
    return (difference.first, difference.second) in ((None, 0), ("None", "0"))


def rounded_up(difference: Difference, facts: Facts) -> bool:
    """The original service rounds this time to the next second."""
    first, second = text(difference.first), text(difference.second)
    return first.isdecimal() and second.isdecimal() and int(first) == int(second) + 1


def whole_seconds(difference: Difference, facts: Facts) -> bool:
    first, second = text(difference.first), text(difference.second)
    if first.isdecimal():
        return second == f"{first[:-3]}000"
    whole = re.sub(r"\.[0-9]+", "", first)
    return whole != first and instant(whole) == instant(second) is not None


def image_path(difference: Difference, facts: Facts) -> bool:
    first, second = difference.first, difference.second
    return isinstance(first, str) and isinstance(second, str) and facts.same_image(first, second)


def empty_alias(difference: Difference, facts: Facts) -> bool:
    return bool(difference.first == "")


def field_of_series(difference: Difference, facts: Facts) -> bool:
    """A field of the series itself that no response of the original service has."""
    return len(difference.steps) == 1


def new_field(difference: Difference, facts: Facts) -> bool:
    """Versions before 0.6 have neither version 2 nor full titles; the default format of titles is used."""
    if facts.has_v2:
        return False
    chapter = fields(value_at(facts.values[1], difference.steps[:-1]))
    volume, number = ["", "", *text(chapter.get("url")).strip("/").split("/")][-2:]
    values = {"volume": volume, "number": number, "title": text(chapter.get("title"))}
    template = field_values.DEFAULT_CHAPTER_TITLE
    return bool(difference.second == field_values.full_title(template, None if volume == "0" else 1, values))


# Paths with another status

_BROKEN, _LICENSED, _MISSING = 500, 451, 404


def broken(difference: Difference, facts: Facts) -> bool:
    return (difference.first, difference.second) == (_BROKEN, 200)


def comma(difference: Difference, facts: Facts) -> bool:
    return difference.second == _MISSING and "," in unquote(difference.path)


def empty_cubari(difference: Difference, facts: Facts) -> bool:
    """Neither site has the series in version 2: it has no published chapter."""
    path = f"{V2}/series/{difference.path.rpartition('/')[2]}"
    missing = facts.first.get(path).status == facts.second.get(path).status == _MISSING
    return missing and difference.first in (200, _LICENSED) and difference.second == _MISSING


# Chapters, views and lists of series


def scheduled_cubari(difference: Difference, facts: Facts) -> bool:
    """The list of chapters of the series does not have it."""
    if len(difference.steps) != 2 or difference.steps[0] != "chapters":
        return False
    slug = difference.path.rpartition("/")[2]
    chapters = facts.first.get(f"{V2}/series/{slug}/chapters")
    ids = [str(chapter.get("id")) for chapter in _results(chapters.value)]
    return chapters.good and difference.steps[1].strip('[]"') not in ids


def sum_of_views(difference: Difference, facts: Facts) -> bool:
    return _is_sum(difference.second, facts.results(f"{difference.path}/chapters"))


def _is_sum(views: object, chapters: list[dict[str, Any]]) -> bool:
    return bool(chapters) and views == sum(count(chapter.get("views")) for chapter in chapters)


def licensed_views(difference: Difference, facts: Facts) -> bool:
    """No response of the first site has the views of single chapters."""
    return fields(facts.first_value(difference.path)).get("licensed") is True and type(difference.second) is int


def counted_views(difference: Difference, facts: Facts) -> bool:
    first, second = difference.first, difference.second
    if not (type(first) is type(second) is int and first > second > 0):
        return False
    is_series = difference.route == _SERIES
    return not is_series or _is_sum(second, _results(facts.second_value(f"{difference.path}/chapters")))


def multiplied_chapters(difference: Difference, facts: Facts) -> bool:
    if "?" not in difference.path:
        return False
    listed = {f"[slug={series.get('slug')}]": series.get("chapters") for series in facts.results(f"{V2}/series")}
    count = listed.get(difference.steps[1]) if len(difference.steps) > 1 else None
    first = difference.first
    return bool(isinstance(count, int) and count and isinstance(first, int) and first % count == 0) and (
        difference.second == count
    )


def category_name(difference: Difference, facts: Facts) -> bool:
    """A category whose id is not its name in lower case is not found by its name in the original service."""
    name, slug = _query(difference).get("categories", ""), text(fields(difference.second).get("slug"))
    if not name or not slug:
        return False
    if name not in texts(fields(facts.first_value(f"{V2}/series/{slug}")).get("categories")):
        return False
    # Without version 1, no response has ids.
    ids = [row.get("id") for row in facts.listed(f"{V1}/categories") if row.get("name") == name]
    return not ids or name.lower() not in ids


def _query(difference: Difference) -> dict[str, str]:
    return dict(parse_qsl(difference.path.partition("?")[2]))


def no_release(difference: Difference, facts: Facts) -> bool:
    release = fields(difference.first)
    return (
        len(difference.steps) == 1
        and not release.get("latest_chapter")
        and not list(facts.old_chapters(text(release.get("slug"))))
    )


def two_folders(difference: Difference, facts: Facts) -> bool:
    """The images of this chapter are in several folders; those of the second site are among them."""
    value = facts.first_value(difference.path)
    if difference.route == _CUBARI:
        chapter = fields(fields(fields(value).get("chapters")).get(difference.steps[1].strip('[]"')))
        images = [image for images in fields(chapter.get("groups")).values() for image in texts(images)]
    else:
        images = [text(page.get("image")) for page in _results(value)]
    return len({facts.image(image).rpartition("/")[0] for image in images}) > 1


# The order of a list: the original service has no order there, or another documented one

_IDENTITY = re.compile(r"\[.*\]")


def field_order(difference: Difference, facts: Facts) -> bool:
    return not _IDENTITY.fullmatch(difference.steps[-1])


def unordered(difference: Difference, facts: Facts) -> bool:
    """A list of strings without an order in the original service."""
    is_member = difference.route.startswith(f"{V2}/members")
    names = ("aliases", "alt_titles", "roles", *(["groups"] if is_member else []))
    return difference.route != SERIES_LIST and _list_name(difference) in names


def _list_name(difference: Difference) -> str:
    return "".join(difference.steps[-2:-1])


def page_order(difference: Difference, facts: Facts) -> bool:
    return difference.route != SERIES_LIST and _list_name(difference) == "pages_list" and not facts.has_v2


def documented_order(difference: Difference, facts: Facts) -> bool:
    """A list of version 1 has the order of the contract on the second site."""
    items = value_at(facts.values[1], difference.steps[:-1])
    if isinstance(items, dict):
        # Volumes and chapters.
        return difference.route.startswith(f"{V1}/series/") and [*items] == sorted(items, key=_numeric)
    listed = [*entries(items)]
    if difference.route == f"{V1}/releases":
        dates = [http_date(text(fields(series.get("latest_chapter")).get("date"))) or 0 for series in listed]
        return dates == sorted(dates, reverse=True)
    if difference.route == f"{V1}/categories":
        return listed == sorted(listed, key=lambda category: text(category.get("id")))
    is_of_series = (difference.route, len(difference.steps)) == (f"{V1}/series", 1) or "series" in difference.steps[-2:]
    titles = [(text(series.get("title")), text(series.get("slug"))) for series in listed]
    return is_of_series and difference.route.startswith(f"{V1}/") and titles == sorted(titles)


def _numeric(key: str) -> tuple[float, str]:
    try:
        return float(key), key
    except ValueError:
        return 0.0, key


def sorted_series(difference: Difference, facts: Facts) -> bool:
    """Both lists are sorted by the values that both sites state: only equal and unknown values differ.

    Titles are sorted by the rules of a database on the first site.
    """
    order = _query(difference).get("sort", "title")
    name = order.removeprefix("-")
    values = _sort_values(name, facts)
    for value in facts.values[1:] if name == "title" else facts.values:
        slugs = [text(series.get("slug")) for series in _results(value)]
        stated = [(isinstance(values[slug], str), values[slug]) for slug in slugs if values.get(slug) is not None]
        if stated != sorted(stated, reverse=order.startswith("-")):
            return False
    return True


def _sort_values(name: str, facts: Facts) -> dict[str, Any]:
    """The values that a list of series is sorted by, without values that differ between the sites."""
    field = {"latest_upload": "updated", "chapter_count": "chapters"}.get(name, name)
    if field not in facts.sorted_by:
        listed = _results(facts.second_value(SERIES_LIST))
        values = {text(series.get("slug")): series.get(field) for series in listed}
        if field == "views":
            # Those of the series themselves, if both sites state the same.
            for slug in values:
                first, second = (site.get(f"{SERIES_LIST}/{slug}").value for site in (facts.first, facts.second))
                views = fields(second).get("views")
                values[slug] = views if fields(first).get("views") == views else None
        facts.sorted_by[field] = {slug: value for slug, value in values.items() if isinstance(value, int | float | str)}
    return facts.sorted_by[field]


class Reason(NamedTuple):
    """A sentence, and the differences that it explains: those of its kinds, fields and routes that pass a check."""

    sentence: str
    check: Callable[[Difference, Facts], bool]
    kinds: tuple[str, ...] = (ADDED, CHANGED, REMOVED)
    # Empty: all.
    fields: tuple[str, ...] = ()
    # Empty: all. `*` at the end stands for the rest.
    routes: tuple[str, ...] = ()

    def explains(self, difference: Difference, facts: Facts) -> bool:
        return (
            difference.kind in self.kinds
            and (not self.fields or difference.name in self.fields)
            and (
                not self.routes
                or difference.route in self.routes
                or any(route[-1] == "*" and difference.route.startswith(route[:-1]) for route in self.routes)
            )
            and self.check(difference, facts)
        )


_MOVED, _REMOVED, _ADDED, _CHANGED, _STATUS = (MOVED,), (REMOVED,), (ADDED,), (CHANGED,), (STATUS,)
_GROUPS, _MEMBERS, _IN_SERIES = (f"{V1}/groups*",), (f"{V2}/members*",), (_SERIES,)
_NUMBERED, _IMAGES = ("url", "full_title", "number", "Location"), ("cover", "logo", "image", "groups")
_SECONDS = "times have whole seconds"

# The first reason that explains a difference is its reason.
# fmt: off
REASONS = (
    Reason("line ends are \\n; control characters, and tabs in a line, are replaced", cleaned_text),
    Reason(SIX_DIGITS, six_digits, fields=_NUMBERED),
    Reason("numbers are written without .0", whole_number, fields=("number",)),
    Reason('no volume is 0 in the list of releases, and "0" in the Cubari JSON', no_volume, fields=("volume",)),
    Reason(_SECONDS, rounded_up, fields=("last_updated",)),
    Reason(_SECONDS, whole_seconds, fields=("updated", "published")),
    Reason(ENCODED, image_path, fields=_IMAGES),
    Reason("empty aliases are left out", empty_alias, _REMOVED, ("aliases", "alt_titles")),
    Reason("a member has the roles of this group, not those of all groups", group_roles, _REMOVED, ("roles",)),
    Reason("roles of a member are in another order", role_order, _CHANGED, routes=_MEMBERS),
    Reason("only version 2 is available: members of one name cannot be told apart", namesake_members,
           (ADDED, REMOVED), ("groups",), _MEMBERS),
    Reason("groups of one name cannot be told apart where version 1 hides a chapter", namesake_groups,
           _REMOVED, ("series",), _GROUPS),
    Reason("the original service lists one series of each title for a group", same_title,
           _ADDED, ("series",), _GROUPS),
    Reason("the Cubari JSON has published chapters only", scheduled_cubari, _REMOVED),
    Reason("views of a series are the sum of those of its published chapters", sum_of_views,
           fields=("views",), routes=_IN_SERIES),
    Reason("views of the chapters of a licensed series are not public", licensed_views,
           fields=("views",), routes=_IN_SERIES),
    Reason("views that the first site counted since the import", counted_views, fields=("views",)),
    Reason("filters of the original service multiply the number of chapters", multiplied_chapters,
           _CHANGED, ("chapters",)),
    Reason("categories are found by their name, too", category_name, _ADDED),
    Reason("a series without chapters has no release", no_release, _REMOVED, routes=(f"{V1}/releases",)),
    Reason("the first site is older than the field", new_field, _ADDED, ("full_title",)),
    Reason("the original service does not state kind, rating, language and links of a series", field_of_series,
           _ADDED, ("kind", "rating", "language", "links"), _IN_SERIES),
    Reason("the first site fails with status 500", broken, _STATUS),
    Reason("a category whose name has a comma has no response of its own", comma,
           _STATUS, routes=(f"{V2}/categories/{{name}}",)),
    Reason("the Cubari JSON of a series without a published chapter is 404", empty_cubari,
           _STATUS, routes=(_CUBARI,)),
    Reason(TWO_FOLDERS, two_folders, _REMOVED, ("groups", "results"), (_CUBARI, f"{V2}/chapters/{{id}}/pages")),
    Reason("fields of an object are in the documented order", field_order, _MOVED),
    Reason("series with the same or an unknown value are sorted by slug", sorted_series,
           _MOVED, routes=(SERIES_LIST,)),
    Reason("aliases, roles, and the groups of a member have a fixed order; the original service has none", unordered,
           _MOVED),
    Reason("pages are in the order of their numbers; version 0.4.5 has no order", page_order, _MOVED),
    Reason("lists of version 1 have the documented order", documented_order, _MOVED, routes=(f"{V1}/*",)),
)
# fmt: on


def reason(difference: Difference, facts: Facts) -> str:
    """Return the first reason that explains a difference; empty if there is none."""
    if not facts.from_original:
        return ""
    return next((row.sentence for row in REASONS if row.explains(difference, facts)), "")
