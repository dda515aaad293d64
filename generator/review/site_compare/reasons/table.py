"""Why a field may differ between a site of the original service and its successor.

A rule explains one field for one cause, and checks the cause in other responses. It never explains a chapter, a page
or a person that only the first site has.
"""

from collections.abc import Callable
from urllib.parse import parse_qsl

from ....reading_sites.lenient import count, entries, fields, text, texts
from ...diff.json_diff import ADDED, CHANGED, MOVED, REMOVED
from ..model import V1, V2, Difference
from . import list_order, people, statuses, values
from .alignment import ENCODED, SIX_DIGITS, TWO_FOLDERS
from .facts import Facts

Rule = Callable[[Difference, Facts], bool]


def _scheduled_cubari(difference: Difference, facts: Facts) -> bool:
    """The list of chapters of the series does not have it."""
    if difference.kind != REMOVED or len(difference.steps) != 2 or difference.steps[0] != "chapters":
        return False
    slug = difference.path.rpartition("/")[2]
    chapters = facts.first.get(f"{V2}/series/{slug}/chapters")
    ids = [str(chapter.get("id")) for chapter in entries(fields(chapters.value).get("results"))]
    return chapters.good and difference.steps[1].strip('[]"') not in ids


def _sum_of_views(difference: Difference, facts: Facts) -> bool:
    if difference.route != f"{V2}/series/{{slug}}" or difference.name != "views":
        return False
    chapters = facts.results(f"{difference.path}/chapters")
    return bool(chapters) and difference.second == sum(count(chapter.get("views")) for chapter in chapters)


def _licensed_views(difference: Difference, facts: Facts) -> bool:
    """No response of the first site has the views of single chapters."""
    if difference.route != f"{V2}/series/{{slug}}" or difference.name != "views":
        return False
    return fields(facts.first_value(difference.path)).get("licensed") is True and type(difference.second) is int


def _multiplied_chapters(difference: Difference, facts: Facts) -> bool:
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


def _category_name(difference: Difference, facts: Facts) -> bool:
    """A category whose id is not its name in lower case is not found by its name in the original service."""
    name, slug = _query(difference).get("categories", ""), text(fields(difference.second).get("slug"))
    if difference.kind != ADDED or not name or not slug:
        return False
    if name not in texts(fields(facts.first_value(f"{V2}/series/{slug}")).get("categories")):
        return False
    # Without version 1, no response has ids.
    ids = [row.get("id") for row in facts.listed(f"{V1}/categories") if row.get("name") == name]
    return not ids or name.lower() not in ids


def _no_release(difference: Difference, facts: Facts) -> bool:
    if difference.kind != REMOVED or difference.route != f"{V1}/releases":
        return False
    release = fields(difference.first)
    return (
        len(difference.steps) == 1
        and not release.get("latest_chapter")
        and not list(facts.old_chapters(text(release.get("slug"))))
    )


def _two_folders(difference: Difference, facts: Facts) -> bool:
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


RULES: dict[str, Rule] = {
    "line ends are \\n; control characters, and tabs in a line, are replaced": values.cleaned_text,
    SIX_DIGITS: values.six_digits,
    "numbers are written without .0": values.whole_number,
    'no volume is 0 in the list of releases, and "0" in the Cubari JSON': values.no_volume,
    "times have whole seconds": values.seconds,
    ENCODED: values.image_path,
    "empty aliases are left out": values.empty_alias,
    "a member has the roles of this group, not those of all groups": people.group_roles,
    "roles of a member are in another order": people.role_order,
    "only version 2 is available: members of one name cannot be told apart": people.namesake_members,
    "groups of one name cannot be told apart where version 1 hides a chapter": people.namesake_groups,
    "the original service lists one series of each title for a group": people.same_title,
    "the Cubari JSON has published chapters only": _scheduled_cubari,
    "views of a series are the sum of those of its published chapters": _sum_of_views,
    "views of the chapters of a licensed series are not public": _licensed_views,
    "views that the first site counted since the import": values.counted_views,
    "filters of the original service multiply the number of chapters": _multiplied_chapters,
    "categories are found by their name, too": _category_name,
    "a series without chapters has no release": _no_release,
    "the first site is older than the field": values.new_field,
    "the first site fails with status 500": statuses.broken,
    "a category whose name has a comma has no response of its own": statuses.comma,
    "the Cubari JSON of a series without a published chapter is 404": statuses.empty_cubari,
    TWO_FOLDERS: _two_folders,
}


def reason(difference: Difference, facts: Facts) -> str:
    """Return the first reason that explains a difference; empty if there is none."""
    if not facts.from_original:
        return ""
    if difference.kind == MOVED:
        return list_order.reason(difference, facts)
    return next((sentence for sentence, rule in RULES.items() if rule(difference, facts)), "")
