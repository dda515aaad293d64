"""The changes of a series as sentences for people: field by field, and each chapter by its number."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from ...escaping import escaped
from ..diff.entity_views import chapter_at
from ..diff.json_diff import ADDED, CHANGED, REMOVED, JsonChange, path_text
from ..diff.lines import change_text, counted, cut, grouped_changes, similar, value_text
from ..diff.model import EntityChange

_View = Mapping[str, Any]
# The field with the names of the pages. Only their number is shown.
_PAGES = "pages_list"


def sentences(entity: EntityChange, before: _View, after: _View) -> Iterator[str]:
    """Describe a change. `before` and `after` are the fields of the series, as far as they are public."""
    if entity.kind != CHANGED:
        chapters = len((after if entity.kind == ADDED else before).get("chapters", ()))
        yield f"series {entity.kind}" + (f", with {counted(chapters, 'chapter')}" if chapters else "")
        return
    if entity.body_url:
        yield f"in {entity.body_url}: {counted(len(entity.changes), 'changed field')}"
    else:
        changes = _with_page_counts(entity.changes, before, after)
        for group in grouped_changes(changes):
            yield f"{_sentence(group[0], before, after)}{similar(group)}"
    access = Counter(difference.access for difference in entity.access_differences if difference.access)
    for (old, new), count in access.items():
        yield f"access: {old} → {new} ({counted(count, 'URL')})"
    if entity.causes and not entity.changes:
        yield f"caused by {', '.join(map(str, entity.causes))}"


def _with_page_counts(changes: Iterable[JsonChange], before: _View, after: _View) -> Iterator[JsonChange]:
    """Replace the changes of the pages of a chapter by one change of their number."""
    for chapter, own in groupby(changes, lambda change: change.path[:2] if _PAGES in change.path[2:3] else None):
        if chapter:
            old, new = (len(chapter_at(view, chapter[1]).get(_PAGES, ())) for view in (before, after))
            yield JsonChange((*chapter, "pages"), CHANGED, old, new)
        else:
            yield from own


def _sentence(change: JsonChange, before: _View, after: _View) -> str:
    match change.path:
        case "chapters", step if change.kind in (ADDED, REMOVED):
            chapter = change.new if change.kind == ADDED else change.old
            title = f": {value_text(chapter['title'])}" if chapter.get("title") else ""
            return f"{_chapter_name(chapter)} {change.kind}{title}"
        case "chapters", step, *field if field:
            name = _chapter_name(chapter_at(before, step) or chapter_at(after, step))
            return f"{name}: {_field(change._replace(path=tuple(field)))}"
    return _field(change)


def _chapter_name(chapter: _View) -> str:
    if not chapter:
        return "a chapter"
    volume = f"volume {chapter['volume']}, " if chapter["volume"] != "0" else ""
    return f"{volume}chapter {chapter['number']}"


def _field(change: JsonChange) -> str:
    """A changed field; a list item by its name instead of its position."""
    if change.path == ("pages",) and change.old == change.new:
        return f"pages: {change.old}, other files or another order"
    if change.kind not in (ADDED, REMOVED):
        return change_text(change)
    value = change.new if change.kind == ADDED else change.old
    name = value.get("name", value) if isinstance(value, dict) else value
    path = change.path[:-1] if change.path[-1].startswith("[") else change.path
    return f"{cut(escaped(path_text(path)))}: {value_text(name)} {change.kind}"
