"""Rules for a value of the original service that its successor writes in another form."""

import re

from ....catalog import field_values
from ....reading_sites.lenient import count, entries, fields, instant, line, paragraphs, text
from ...diff.json_diff import ADDED, REMOVED
from ..model import V2, Difference
from .facts import Facts, six, value_at

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
