"""A comparison as text for a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from .compare import UrlDifference
from .entity_changes import BodyReader, EntityChange
from .lines import MARKS, PARTIAL, access, affected, ages, grouped, headline, lines, settings, summary, urls

# So many changes of a thing are told.
_MOST = 20


def text(reader: BodyReader, found: Sequence[EntityChange], *, every: bool = False) -> Iterator[str]:
    """Line by line; `every` tells of each URL, however many there are."""
    comparison = reader.comparison
    yield f"{comparison.old.name} → {comparison.new.name}: {summary(comparison)}"
    if comparison.is_partial:
        yield PARTIAL
    for group in grouped(found):
        yield from ("", headline(group), *_indented(change_lines(group[0], most=_MOST)), *_indented(access(group[0])))
    yield from _section("what shows this", affected(one for one in found if not one.is_told))
    yield from _section("kept by caches for another time", ages(comparison))
    yield from _section("settings", settings(comparison))
    for difference in comparison.differences if every else ():
        mark = MARKS.get(difference.kind, "!")
        yield from ("", f"{mark} {reader.shown(difference.url)}", *_indented(body_lines(reader, difference)))


def change_lines(one: EntityChange, *, most: int) -> Iterator[str]:
    """What is said of a thing below its headline."""
    if one.seen_in:
        yield f"in {one.seen_in}:"
    yield from lines(one.changes, most=most)
    yield f"  {urls(one)}"


def body_lines(reader: BodyReader, one: UrlDifference, *, most: int | None = None) -> Iterator[str]:
    """What changed inside a body, each on its own."""
    return lines(reader.details(one), most=most, whole=True)


def _section(title: str, inside: Iterable[str]) -> Iterator[str]:
    found = list(_indented(inside))
    if found:
        yield from ("", title, *found)


def _indented(inside: Iterable[str]) -> Iterator[str]:
    return (f"  {one}" for one in inside)
