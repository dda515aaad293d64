"""A comparison as text for a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from .compare import UrlDifference
from .lines import (
    AFFECTED,
    MARKS,
    MAX_AGES,
    access_lines,
    affected_lines,
    grouped,
    headline,
    left_out,
    lines,
    max_age_lines,
    settings_lines,
    summary,
    url_counts,
)
from .model import BodyReader, EntityChange

# Maximum number of changes of an entity.
_MAX_LINES = 20


def text(reader: BodyReader, entities: Sequence[EntityChange], *, every: bool = False) -> Iterator[str]:
    """The lines of the text. `every` adds the changed fields of each URL, without a limit."""
    comparison = reader.comparison
    yield f"{comparison.old.name} → {comparison.new.name}: {summary(comparison)}"
    if comparison.left_out:
        yield left_out(comparison)
    for group in grouped(entities):
        first = group[0]
        yield from ("", headline(group), *_indented(change_lines(first, most=_MAX_LINES)))
        yield from _indented(access_lines(first))
    yield from _section(AFFECTED, affected_lines(entity for entity in entities if not entity.is_reported))
    yield from _section(MAX_AGES, max_age_lines(comparison))
    yield from _section("settings", settings_lines(comparison))
    for difference in comparison.differences if every else ():
        mark = MARKS.get(difference.kind, "!")
        yield from ("", f"{mark} {reader.display_url(difference.url)}", *_indented(body_lines(reader, difference)))


def change_lines(entity: EntityChange, *, most: int) -> Iterator[str]:
    """The lines below the headline of an entity."""
    if entity.body_url:
        yield f"in {entity.body_url}:"
    yield from lines(entity.changes, most=most)
    yield f"  {url_counts(entity)}"


def body_lines(reader: BodyReader, difference: UrlDifference, *, most: int | None = None) -> Iterator[str]:
    """The changed fields of a body, ungrouped."""
    return lines(reader.details(difference), most=most, ungrouped=True)


def _section(title: str, content: Iterable[str]) -> Iterator[str]:
    indented = list(_indented(content))
    if indented:
        yield from ("", title, *indented)


def _indented(content: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in content)
