"""Changes as lines of text, and a comparison as text, as JSON and as a comment on a pull request.

In text, long values are cut, similar changes are grouped, and control characters are escaped.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from ... import encoding
from ...api.routes import route_of
from ...catalog.field_values import common_start
from ...errors import counted, escaped
from .compare import RETIMED, Comparison, UrlDifference
from .entities import BodyReader, EntityChange, PageLink, chapter_links, series_link
from .json_diff import ADDED, CHANGED, MOVED, REMOVED, JsonChange, path_text

MARKS = {ADDED: "+", REMOVED: "-", CHANGED: "!", MOVED: "!"}
AFFECTED, MAX_AGES = "also affected", "different max-age"
# Maximum width of a value, and how many characters before the first difference of a long text are shown.
_WIDTH, _BEFORE = 80, 20
# Maximum number of similar changes, of names and of causes that are listed one by one.
_MAX_LISTED = 3
# Maximum number of entities with similar changes that are listed one by one.
_MAX_ENTITIES = 50


def lines(changes: Iterable[JsonChange], *, most: int | None = None, ungrouped: bool = False) -> Iterator[str]:
    """One line for each change or group of similar changes, at most `most`."""
    groups = [[change] for change in changes] if ungrouped else grouped_changes(changes)
    for group in islice(groups, most):
        yield f"{MARKS[group[0].kind]} {change_text(group[0])}{similar(group)}"
    if most is not None and len(groups) > most:
        yield f"  … and {len(groups) - most:,} more"


def similar(group: Sequence[JsonChange]) -> str:
    """The number of the other changes of a group, as the end of the line about its first one."""
    return f", and {len(group) - 1:,} similar changes" if len(group) > 1 else ""


def grouped_changes(changes: Iterable[JsonChange]) -> list[list[JsonChange]]:
    """Groups of changes of the same field in many list items; every other change alone."""
    groups: dict[tuple[str, ...], list[JsonChange]] = {}
    for change in changes:
        groups.setdefault(_field(change), []).append(change)
    return [
        part
        for group in groups.values()
        for part in ([group] if len(group) > _MAX_LISTED else [[change] for change in group])
    ]


def _field(change: JsonChange) -> tuple[str, ...]:
    """The kind of a change and its path without the identities of list items."""
    return change.kind, *("[]" if step.startswith("[") else step for step in change.path)


def change_text(change: JsonChange) -> str:
    path = cut(escaped(path_text(change.path))) or "(whole body)"
    match change.kind:
        case "added":
            return f"{path}: {value_text(change.new)}"
        case "removed":
            return f"{path}: {value_text(change.old)}"
        case "moved":
            return f"{path}: moved from position {change.old} to {change.new}"
    old, new = change.old, change.new
    if isinstance(old, str) and isinstance(new, str):
        start = max(0, len(common_start(old, new)) - _BEFORE)
        if max(len(old), len(new)) > _WIDTH and start:
            old, new = f"…{old[start:]}", f"…{new[start:]}"
    return f"{path}: {value_text(old)} → {value_text(new)}"


def value_text(value: Any) -> str:
    """A value as JSON, cut to the maximum width."""
    return cut(escaped(encoding.json_text(value)))


def cut(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def left_out(comparison: Comparison) -> str:
    """The line about a comparison that is not complete."""
    return f"one side is only a manifest, so {comparison.left_out} were not compared"


def summary(comparison: Comparison) -> str:
    """The counts of all kinds in one line."""
    if not comparison.differs:
        return "no differences"
    labels = {"retimed": "with different max-age"}
    counts = comparison.counts
    unchanged = counts.pop("unchanged")
    parts = [f"{count:,} {labels.get(kind, kind)}" for kind, count in counts.items() if count]
    return f"{', '.join([*parts, f'{unchanged:,} unchanged'])}"


def grouped(entities: Sequence[EntityChange]) -> Iterator[list[EntityChange]]:
    """The reported entities; more than _MAX_ENTITIES with similar changes as one group."""
    groups: dict[object, list[EntityChange]] = {}
    for entity in entities:
        groups.setdefault(_similarity(entity), []).append(entity)
    for entity in entities:
        group = groups[_similarity(entity)]
        if entity.is_reported and (len(group) <= _MAX_ENTITIES or entity is group[0]):
            yield group if len(group) > _MAX_ENTITIES else [entity]


def _similarity(entity: EntityChange) -> object:
    """A key that is equal for entities with similar changes."""
    fields = frozenset(map(_field, entity.changes))
    return entity.is_reported, entity.name.kind, entity.kind, fields, tuple(access_lines(entity))


def headline(group: Sequence[EntityChange]) -> str:
    """The name of an entity, or of many, and the kind of its change."""
    first = group[0]
    if len(group) > 1:
        return f"{first.name.kind} {_names(group)} {first.kind} in a similar way; the first:"
    title = f": {value_text(first.title)}" if first.title else ""
    return f"{change_name(first)}{title}"


def change_name(entity: EntityChange) -> str:
    """The name of an entity, and the kind of its change."""
    return f"{escaped(str(entity.name))} {entity.kind}"


def _names(group: Sequence[EntityChange]) -> str:
    names = escaped(", ".join(entity.name.name for entity in group[:_MAX_LISTED] if entity.name.name))
    return f"{names} and {len(group) - _MAX_LISTED:,} more" if len(group) > _MAX_LISTED else names


def url_counts(entity: EntityChange) -> str:
    """The number of URLs that differ, by kind if there are several kinds."""
    kinds = Counter(difference.kind for difference in entity.differences)
    urls = counted(len(entity.differences), "URL")
    return urls if len(kinds) == 1 else f"{urls}: {', '.join(f'{count:,} {kind}' for kind, count in kinds.items())}"


def access_lines(entity: EntityChange) -> Iterator[str]:
    """Changes of access, one line for each route and change."""
    counts = Counter(
        (route_of(difference.url), *difference.access) for difference in entity.differences if difference.access
    )
    for (path, before, after), count in counts.items():
        yield f"! {path}: {before} → {after}" + (f" ({count:,} URLs)" if count > 1 else "")


def max_age_lines(comparison: Comparison) -> Iterator[str]:
    """Changes of max-age, with the number of URLs and an example."""
    urls_by_ages: dict[tuple[int, int], list[str]] = {}
    for difference in comparison.differences:
        if difference.max_ages:
            urls_by_ages.setdefault(difference.max_ages, []).append(difference.url)
    for (before, after), urls in urls_by_ages.items():
        yield f"! {before} s → {after} s: {counted(len(urls), 'URL')}, such as {escaped(urls[0])}"


def settings_lines(comparison: Comparison) -> Iterator[str]:
    """The names of changed configuration files. Their content may include digests of API keys."""
    return (f"! {escaped(name)}" for name in comparison.settings)


def affected_lines(entities: Iterable[EntityChange]) -> Iterator[str]:
    """The entities without changes of their own and the causes of theirs, one line for each kind."""
    groups: dict[str, list[EntityChange]] = {}
    for entity in entities:
        groups.setdefault(entity.name.kind, []).append(entity)
    for kind, group in groups.items():
        urls = counted(sum(len(entity.differences) for entity in group), "URL")
        causes = [str(name) for name in dict.fromkeys(name for entity in group for name in entity.causes)]
        caused = f", caused by {escaped(', '.join(causes[:_MAX_LISTED]))}" if causes else ""
        caused += f" and {len(causes) - _MAX_LISTED:,} more" if len(causes) > _MAX_LISTED else ""
        yield f"{f'{kind} {_names(group)}'.rstrip()} ({urls}{caused})"


# The comparison as text for a terminal

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


# The comparison as JSON


def comparison_json(reader: BodyReader, entities: Sequence[EntityChange], *, every: bool = False) -> dict[str, object]:
    """The whole comparison, uncut. `every` adds the changed fields of each URL."""
    comparison = reader.comparison
    return {
        "differs": comparison.differs,
        "old": comparison.old.name,
        "new": comparison.new.name,
        "counts": comparison.counts,
        "complete": not comparison.left_out,
        "things": [_entity_json(reader, entity) for entity in entities],
        "urls": [_url_json(reader, difference, every=every) for difference in comparison.differences],
        "settings": comparison.settings,
    }


def _entity_json(reader: BodyReader, entity: EntityChange) -> dict[str, object]:
    return {
        "kind": entity.name.kind,
        "name": entity.name.name,
        "change": entity.kind,
        "title": entity.title,
        "changes": [_change_json(change) for change in entity.changes],
        "seen_in": entity.body_url or None,
        "because": [str(name) for name in entity.causes],
        "urls": [reader.display_url(difference.url) for difference in entity.differences],
    }


def _url_json(reader: BodyReader, difference: UrlDifference, *, every: bool) -> dict[str, object]:
    access, max_ages = difference.access, difference.max_ages
    value: dict[str, object] = {"url": reader.display_url(difference.url), "change": difference.kind}
    if access:
        value["access"] = {"old": access[0], "new": access[1]}
    if max_ages:
        value["max_age"] = {"old": max_ages[0], "new": max_ages[1]}
    if every:
        value["changes"] = [_change_json(change) for change in reader.details(difference)]
    return value


def _change_json(change: JsonChange) -> dict[str, object]:
    fields = {"path": path_text(change.path), "change": change.kind, "old": change.old, "new": change.new}
    return {name: value for name, value in fields.items() if value is not None or change.kind == "changed"}


# The comparison as a comment on a pull request
#
# Catalog values are never interpreted as markup or mentions: they are inside code fences that they cannot close, or
# escaped inside <code>. Links are HTML: a link in Markdown would interpret the title.

# Maximum length of a comment on GitHub, and the part reserved for the note about omitted sections.
LONGEST, _RESERVED = 65_536, 200
# Maximum number of changes of an entity, and of links to its chapters.
_MAX_SHOWN, _MAX_LINKS = 50, 10


def markdown(reader: BodyReader, entities: Sequence[EntityChange], *, every: bool = False) -> str:
    """The comment. Sections that exceed the maximum length are omitted at the end, with a note."""
    comparison = reader.comparison
    comment = _head(comparison)
    sections = list(_sections(reader, entities, every=every)) if comparison.differs else []
    written = 0
    for section in sections:
        if len(comment) + len(section) + _RESERVED > LONGEST:
            break
        comment += f"\n{section}"
        written += 1
    if omitted := len(sections) - written:
        comment += (
            f"\n… and {counted(omitted, 'more part')}, omitted because a comment has at most {LONGEST:,} characters.\n"
        )
    return comment


def _head(comparison: Comparison) -> str:
    names = f"{_code(comparison.old.name)} → {_code(comparison.new.name)}"
    partial = f"\n{left_out(comparison)}.\n" if comparison.left_out else ""
    # In a Markdown paragraph, the content of <code> would be interpreted as Markdown.
    return f"### What changes for clients\n\n<p>{names}: {summary(comparison)}</p>\n{partial}"


def _sections(reader: BodyReader, entities: Sequence[EntityChange], *, every: bool) -> Iterator[str]:
    comparison = reader.comparison
    for title, content in (
        ("access", [line for entity in entities for line in access_lines(entity)]),
        ("settings", list(settings_lines(comparison))),
        (MAX_AGES, list(max_age_lines(comparison))),
    ):
        if content:
            yield _details(html.escape(title), _fenced(content[:_MAX_SHOWN], more=len(content) - _MAX_SHOWN))
    yield _details("by URL", _table(comparison))
    for group in grouped(entities):
        yield _entity_section(reader, group)
    if affected := list(affected_lines(entity for entity in entities if not entity.is_reported)):
        yield _details(AFFECTED, _fenced(affected))
    for difference in comparison.differences if every else ():
        title = _code(f"{difference.kind} {reader.display_url(difference.url)}")
        yield _details(title, _fenced(body_lines(reader, difference, most=_MAX_SHOWN)))


def _entity_section(reader: BodyReader, group: Sequence[EntityChange]) -> str:
    """The changes of an entity, or of the first one of a group, with links to its pages."""
    first = group[0]
    page, chapters = series_link(reader, first), list(islice(chapter_links(reader, first), _MAX_LINKS + 1))
    title = f"{_code(change_name(first))}: {_link(page)}" if page and len(group) == 1 else _code(headline(group))
    links = [_link(link) for link in (*([page] if page and len(group) > 1 else ()), *chapters[:_MAX_LINKS])]
    more = ", …" if len(chapters) > _MAX_LINKS else ""
    paragraph = f"<p>{', '.join(links)}{more}</p>\n\n" if links else ""
    return _details(title, paragraph + _fenced(change_lines(first, most=_MAX_SHOWN)))


def _link(link: PageLink) -> str:
    return f'<a href="{html.escape(link.url)}">{_code(cut(link.title))}</a>'


def _table(comparison: Comparison) -> str:
    kinds = (ADDED, CHANGED, REMOVED, RETIMED)
    counts: dict[str, Counter[str]] = {}
    for difference in comparison.differences:
        counts.setdefault(route_of(difference.url), Counter())[difference.kind] += 1
    rows = [f"| `{path}` | {' | '.join(str(row[kind] or '') for kind in kinds)} |" for path, row in counts.items()]
    return "\n".join(["| | added | changed | removed | different max-age |", "|---|--:|--:|--:|--:|", *rows])


def _details(summary: str, content: str) -> str:
    """A collapsed section. The empty line ends the HTML block."""
    return f"<details><summary>{summary}</summary>\n\n{content}\n</details>\n"


def _code(text: str) -> str:
    return f"<code>{html.escape(escaped(text))}</code>"


def _fenced(lines: Iterable[str], *, more: int = 0) -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    text = "\n".join([*lines, *([f"… and {more:,} more"] if more > 0 else ())])
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}diff\n{text}\n{fence}\n"
