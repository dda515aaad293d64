"""Why a field may differ between a site of the original service and its successor.

A rule explains one field for one cause, and checks the cause in other responses. It never explains a chapter, a page
or a person that only the first site has. RULES has every rule with its sentence.
"""

import re
from collections.abc import Callable
from urllib.parse import parse_qsl, unquote

from ....catalog import field_values
from ....reading_sites.lenient import count, entries, fields, instant, line, paragraphs, text, texts
from ...diff.json_diff import ADDED, CHANGED, MOVED, REMOVED
from ..model import STATUS, V1, V2, Difference
from . import list_order
from .alignment import ENCODED, SIX_DIGITS, TWO_FOLDERS
from .facts import Facts, six, value_at

# People and groups that the original service mixes up, or does not tell apart

_ROLES = re.compile(r"(.*) \((.*)\)", re.DOTALL)


def group_roles(difference: Difference, facts: Facts) -> bool:
    """The groups of version 2 state the roles of a member in one group."""
    if difference.kind != REMOVED or difference.name != "roles" or not isinstance(difference.first, str):
        return False
    id, step = _id(difference), next((step for step in reversed(difference.steps) if step.startswith("[id=")), "")
    groups = [group for group in facts.listed(f"{V1}/groups") if group.get("id") == id]
    members = [member for group in groups for member in entries(group.get("members"))]
    names = {text(member.get("name")) for member in members if f"[id={member.get('id')}]" == step}
    stated = texts(fields(facts.first_value(f"{V2}/groups/{id}")).get("members"))
    if stated:
        return not any(f"{difference.first}: {name}" in stated for name in names)
    # Without version 2, the member should have the role in another group.
    return _has_role_elsewhere(difference, step, facts)


def _has_role_elsewhere(difference: Difference, step: str, facts: Facts) -> bool:
    return any(
        f"[id={member.get('id')}]" == step and difference.first in texts(member.get("roles"))
        for group in entries(facts.second_value(f"{V1}/groups"))
        if group.get("id") != _id(difference)
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
    if difference.kind != CHANGED or not difference.route.startswith(f"{V2}/members"):
        return False
    pairs = [_ROLES.fullmatch(text(value)) for value in (difference.first, difference.second)]
    groups = [(match[1], sorted(match[2].split(", "))) for match in pairs if match]
    return len(groups) == 2 and groups[0] == groups[1]


def namesake_members(difference: Difference, facts: Facts) -> bool:
    """Without version 1, the roles of a member may be those of another one with the same name."""
    is_of_members = difference.name == "groups" and difference.route.startswith(f"{V2}/members")
    if difference.kind not in (ADDED, REMOVED) or not is_of_members:
        return False
    if facts.first.get(f"{V1}/releases").good:
        return False
    second = _members(facts.second_value(f"{V2}/members"))
    if difference.route == f"{V2}/members":
        second = _members(facts.values[1])
    elif facts.values[1] not in second:
        return False
    id, group = _id(difference), text(difference.first if difference.kind == REMOVED else difference.second)
    counts = []
    for members in (facts.results(f"{V2}/members"), second):
        names = [member.get("name") for member in members if member.get("id") == id]
        namesakes = [member for member in members if member.get("name") in names]
        counts.append((len(namesakes) > 1, sum(group in texts(member.get("groups")) for member in namesakes)))
    return counts[0] == counts[1] and counts[0][0]


def _members(value: object) -> list[dict[str, object]]:
    return list(entries(fields(value).get("results")))


def namesake_groups(difference: Difference, facts: Facts) -> bool:
    """The series has chapters that share a number, and is among those of another group with the same name."""
    if difference.kind != REMOVED or not difference.route.startswith(f"{V1}/groups") or difference.name != "series":
        return False
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
    if difference.kind != ADDED or not difference.route.startswith(f"{V1}/groups") or difference.name != "series":
        return False
    added, id = fields(difference.second), _id(difference)
    group = next((group for group in facts.listed(f"{V1}/groups") if group.get("id") == id), {})
    titles = [series.get("title") for series in entries(group.get("series"))]
    chapters = facts.old_chapters(text(added.get("slug")))
    return added.get("title") in titles and any(
        group.get("id") == id for _, _, chapter in chapters for group in entries(chapter.get("groups"))
    )


# Values that the successor writes in another form

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_NUMBERED = ("url", "full_title", "number", "Location")
_IMAGES = ("cover", "logo", "image", "groups")
_ALIASES = ("aliases", "alt_titles")


def cleaned_text(difference: Difference, facts: Facts) -> bool:
    first, second = difference.first, difference.second
    return isinstance(first, str) and second in (paragraphs(first), line(first))


def six_digits(difference: Difference, facts: Facts) -> bool:
    first, second = difference.first, difference.second
    if difference.name not in _NUMBERED or not (isinstance(first, str) and isinstance(second, str)):
        return False
    return _NUMBER.sub(lambda match: six(match[0]), second) in (first, line(first))


def whole_number(difference: Difference, facts: Facts) -> bool:
    values = (difference.first, difference.second)
    return difference.name == "number" and all(type(value) in (int, float) for value in values) and len({*values}) == 1


def no_volume(difference: Difference, facts: Facts) -> bool:
    return difference.name == "volume" and (difference.first, difference.second) in ((None, 0), ("None", "0"))


def seconds(difference: Difference, facts: Facts) -> bool:
    first, second = text(difference.first), text(difference.second)
    if difference.name == "last_updated":
        # The original service rounds it to the next second.
        return first.isdecimal() and second.isdecimal() and int(first) == int(second) + 1
    if difference.name not in ("updated", "published"):
        return False
    if first.isdecimal():
        return second == f"{first[:-3]}000"
    whole = re.sub(r"\.[0-9]+", "", first)
    return whole != first and instant(whole) == instant(second) is not None


def image_path(difference: Difference, facts: Facts) -> bool:
    first, second = difference.first, difference.second
    if difference.name not in _IMAGES or not (isinstance(first, str) and isinstance(second, str)):
        return False
    return facts.same_image(first, second)


def empty_alias(difference: Difference, facts: Facts) -> bool:
    return difference.kind == REMOVED and difference.name in _ALIASES and difference.first == ""


def counted_views(difference: Difference, facts: Facts) -> bool:
    first, second = difference.first, difference.second
    if difference.name != "views" or not (type(first) is type(second) is int and first > second > 0):
        return False
    if difference.route != f"{V2}/series/{{slug}}":
        return True
    chapters = list(entries(fields(facts.second_value(f"{difference.path}/chapters")).get("results")))
    return bool(chapters) and second == sum(count(chapter.get("views")) for chapter in chapters)


def new_field(difference: Difference, facts: Facts) -> bool:
    """Versions before 0.6 have neither version 2 nor full titles; the default format of titles is used."""
    has_v2 = facts.first.get(f"{V2}/series").status in (200, 401)
    if has_v2 or difference.kind != ADDED or difference.name != "full_title":
        return False
    chapter = fields(value_at(facts.values[1], difference.steps[:-1]))
    volume, number = ["", "", *text(chapter.get("url")).strip("/").split("/")][-2:]
    values = {"volume": volume, "number": number, "title": text(chapter.get("title"))}
    template = field_values.DEFAULT_CHAPTER_TITLE
    return bool(difference.second == field_values.full_title(template, None if volume == "0" else 1, values))


# Paths with another status

_BROKEN, _LICENSED, _MISSING = 500, 451, 404


def broken(difference: Difference, facts: Facts) -> bool:
    return difference.kind == STATUS and (difference.first, difference.second) == (_BROKEN, 200)


def comma(difference: Difference, facts: Facts) -> bool:
    if difference.kind != STATUS or difference.route != f"{V2}/categories/{{name}}":
        return False
    return difference.second == _MISSING and "," in unquote(difference.path)


def empty_cubari(difference: Difference, facts: Facts) -> bool:
    """Neither site has the series in version 2: it has no published chapter."""
    if difference.kind != STATUS or difference.route != f"{V2}/cubari/{{slug}}":
        return False
    path = f"{V2}/series/{difference.path.rpartition('/')[2]}"
    missing = facts.first.get(path).status == facts.second.get(path).status == _MISSING
    return missing and difference.first in (200, _LICENSED) and difference.second == _MISSING


# Chapters, views and lists of series


def scheduled_cubari(difference: Difference, facts: Facts) -> bool:
    """The list of chapters of the series does not have it."""
    if difference.kind != REMOVED or len(difference.steps) != 2 or difference.steps[0] != "chapters":
        return False
    slug = difference.path.rpartition("/")[2]
    chapters = facts.first.get(f"{V2}/series/{slug}/chapters")
    ids = [str(chapter.get("id")) for chapter in entries(fields(chapters.value).get("results"))]
    return chapters.good and difference.steps[1].strip('[]"') not in ids


def sum_of_views(difference: Difference, facts: Facts) -> bool:
    if difference.route != f"{V2}/series/{{slug}}" or difference.name != "views":
        return False
    chapters = facts.results(f"{difference.path}/chapters")
    return bool(chapters) and difference.second == sum(count(chapter.get("views")) for chapter in chapters)


def licensed_views(difference: Difference, facts: Facts) -> bool:
    """No response of the first site has the views of single chapters."""
    if difference.route != f"{V2}/series/{{slug}}" or difference.name != "views":
        return False
    return fields(facts.first_value(difference.path)).get("licensed") is True and type(difference.second) is int


def multiplied_chapters(difference: Difference, facts: Facts) -> bool:
    if difference.name != "chapters" or "?" not in difference.path or difference.kind != CHANGED:
        return False
    listed = {f"[slug={series.get('slug')}]": series.get("chapters") for series in facts.results(f"{V2}/series")}
    count = listed.get(difference.steps[1]) if len(difference.steps) > 1 else None
    first = difference.first
    return bool(isinstance(count, int) and count and isinstance(first, int) and first % count == 0) and (
        difference.second == count
    )


def _query(difference: Difference) -> dict[str, str]:
    return dict(parse_qsl(difference.path.partition("?")[2]))


def category_name(difference: Difference, facts: Facts) -> bool:
    """A category whose id is not its name in lower case is not found by its name in the original service."""
    name, slug = _query(difference).get("categories", ""), text(fields(difference.second).get("slug"))
    if difference.kind != ADDED or not name or not slug:
        return False
    if name not in texts(fields(facts.first_value(f"{V2}/series/{slug}")).get("categories")):
        return False
    # Without version 1, no response has ids.
    ids = [row.get("id") for row in facts.listed(f"{V1}/categories") if row.get("name") == name]
    return not ids or name.lower() not in ids


def no_release(difference: Difference, facts: Facts) -> bool:
    if difference.kind != REMOVED or difference.route != f"{V1}/releases":
        return False
    release = fields(difference.first)
    return (
        len(difference.steps) == 1
        and not release.get("latest_chapter")
        and not list(facts.old_chapters(text(release.get("slug"))))
    )


def two_folders(difference: Difference, facts: Facts) -> bool:
    """The images of this chapter are in several folders; those of the second site are among them."""
    if difference.kind != REMOVED or difference.route not in (f"{V2}/cubari/{{slug}}", f"{V2}/chapters/{{id}}/pages"):
        return False
    if difference.name not in ("groups", "results"):
        return False
    images = _images_around(difference, facts.first_value(difference.path))
    return len({facts.image(image).rpartition("/")[0] for image in images}) > 1


def _images_around(difference: Difference, value: object) -> list[str]:
    """The images of the chapter that a difference is in."""
    if difference.route.endswith("/pages"):
        return [text(page.get("image")) for page in entries(fields(value).get("results"))]
    chapter = fields(fields(fields(value).get("chapters")).get(difference.steps[1].strip('[]"')))
    return [image for images in fields(chapter.get("groups")).values() for image in texts(images)]


Rule = Callable[[Difference, Facts], bool]

RULES: dict[str, Rule] = {
    "line ends are \\n; control characters, and tabs in a line, are replaced": cleaned_text,
    SIX_DIGITS: six_digits,
    "numbers are written without .0": whole_number,
    'no volume is 0 in the list of releases, and "0" in the Cubari JSON': no_volume,
    "times have whole seconds": seconds,
    ENCODED: image_path,
    "empty aliases are left out": empty_alias,
    "a member has the roles of this group, not those of all groups": group_roles,
    "roles of a member are in another order": role_order,
    "only version 2 is available: members of one name cannot be told apart": namesake_members,
    "groups of one name cannot be told apart where version 1 hides a chapter": namesake_groups,
    "the original service lists one series of each title for a group": same_title,
    "the Cubari JSON has published chapters only": scheduled_cubari,
    "views of a series are the sum of those of its published chapters": sum_of_views,
    "views of the chapters of a licensed series are not public": licensed_views,
    "views that the first site counted since the import": counted_views,
    "filters of the original service multiply the number of chapters": multiplied_chapters,
    "categories are found by their name, too": category_name,
    "a series without chapters has no release": no_release,
    "the first site is older than the field": new_field,
    "the first site fails with status 500": broken,
    "a category whose name has a comma has no response of its own": comma,
    "the Cubari JSON of a series without a published chapter is 404": empty_cubari,
    TWO_FOLDERS: two_folders,
}


def reason(difference: Difference, facts: Facts) -> str:
    """Return the first reason that explains a difference; empty if there is none."""
    if not facts.from_original:
        return ""
    if difference.kind == MOVED:
        return list_order.reason(difference, facts)
    return next((sentence for sentence, rule in RULES.items() if rule(difference, facts)), "")
