"""A comparison as a comment on a pull request.

Catalog values are never interpreted as markup or mentions: they are inside code fences that they cannot close, or
escaped inside <code>. Links are HTML: a link in Markdown would interpret the title.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ...api.routes import route_of
from ...errors import escaped
from .compare import RETIMED, Comparison
from .entities import BodyReader, EntityChange, PageLink, chapter_links, series_link
from .json_diff import ADDED, CHANGED, REMOVED
from .lines import (
    AFFECTED,
    MAX_AGES,
    access_lines,
    affected_lines,
    body_lines,
    change_lines,
    change_name,
    counted,
    cut,
    grouped,
    headline,
    left_out,
    max_age_lines,
    settings_lines,
    summary,
)

# Maximum length of a comment on GitHub, and the part reserved for the note about omitted sections.
LONGEST, _RESERVED = 65_536, 200
# Maximum number of changes of an entity, and of links to its chapters.
_MAX_LINES, _MAX_LINKS = 50, 10


def markdown(reader: BodyReader, entities: Sequence[EntityChange], *, every: bool = False) -> str:
    """The comment. Sections that exceed the maximum length are omitted at the end, with a note."""
    comparison = reader.comparison
    text = _head(comparison)
    sections = list(_sections(reader, entities, every=every)) if comparison.differs else []
    written = 0
    for section in sections:
        if len(text) + len(section) + _RESERVED > LONGEST:
            break
        text += f"\n{section}"
        written += 1
    if omitted := len(sections) - written:
        text += (
            f"\n… and {counted(omitted, 'more part')}, omitted because a comment has at most {LONGEST:,} characters.\n"
        )
    return text


def _head(comparison: Comparison) -> str:
    names = f"{_code(comparison.old.name)} → {_code(comparison.new.name)}"
    partial = f"\n{left_out(comparison)}.\n" if comparison.left_out else ""
    # In a Markdown paragraph, the content of <code> would be interpreted as Markdown.
    return f"### What changes for clients\n\n<p>{names}: {summary(comparison)}</p>\n{partial}"


def _sections(reader: BodyReader, entities: Sequence[EntityChange], *, every: bool) -> Iterator[str]:
    comparison = reader.comparison
    for title, lines in (
        ("access", [line for entity in entities for line in access_lines(entity)]),
        ("settings", list(settings_lines(comparison))),
        (MAX_AGES, list(max_age_lines(comparison))),
    ):
        if lines:
            yield _details(html.escape(title), _fenced(lines[:_MAX_LINES], more=len(lines) - _MAX_LINES))
    yield _details("by URL", _table(comparison))
    for group in grouped(entities):
        yield _entity_section(reader, group)
    if affected := list(affected_lines(entity for entity in entities if not entity.is_reported)):
        yield _details(AFFECTED, _fenced(affected))
    for difference in comparison.differences if every else ():
        title = _code(f"{difference.kind} {reader.display_url(difference.url)}")
        yield _details(title, _fenced(body_lines(reader, difference, most=_MAX_LINES)))


def _entity_section(reader: BodyReader, group: Sequence[EntityChange]) -> str:
    """The changes of an entity, or of the first one of a group, with links to its pages."""
    first = group[0]
    page, chapters = series_link(reader, first), list(islice(chapter_links(reader, first), _MAX_LINKS + 1))
    title = f"{_code(change_name(first))}: {_link(page)}" if page and len(group) == 1 else _code(headline(group))
    links = [_link(link) for link in (*([page] if page and len(group) > 1 else ()), *chapters[:_MAX_LINKS])]
    more = ", …" if len(chapters) > _MAX_LINKS else ""
    paragraph = f"<p>{', '.join(links)}{more}</p>\n\n" if links else ""
    return _details(title, paragraph + _fenced(change_lines(first, most=_MAX_LINES)))


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
