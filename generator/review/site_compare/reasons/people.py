"""Rules for people and groups that the original service mixes up, or does not tell apart."""

import re

from ....reading_sites.lenient import entries, fields, text, texts
from ...diff.json_diff import ADDED, CHANGED, REMOVED
from ..model import V1, V2, Difference
from .facts import Facts

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
