"""A comparison as a comment below a pull request.

Nothing of a catalog is read as markup there: it stands between fences that it cannot close, or escaped in <code>, where
no name is a mention.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ...api.routes import route_of
from ...escaping import escaped
from .as_text import body_lines, change_lines
from .compare import RETIMED, Comparison
from .entity_changes import BodyReader, EntityChange
from .json_diff import ADDED, CHANGED, REMOVED
from .lines import PARTIAL, access, affected, ages, counted, grouped, headline, settings, summary

# As many characters as a comment on GitHub may have, and some of them for what is said of what was left out.
LONGEST, _RESERVED = 65_536, 200
# So many changes of a thing are told.
_MOST = 50


def markdown(reader: BodyReader, found: Sequence[EntityChange], *, every: bool = False) -> str:
    """The shortest first: what does not fit is left out at the end, and that is said."""
    comparison = reader.comparison
    text = _head(comparison)
    sections = list(_sections(reader, found, every=every)) if comparison.differs else []
    done = 0
    for section in sections:
        if len(text) + len(section) + _RESERVED > LONGEST:
            break
        text += f"\n{section}"
        done += 1
    if left := len(sections) - done:
        text += f"\n… and {counted(left, 'more part')}, left out because a comment ends at {LONGEST:,} characters.\n"
    return text


def _head(comparison: Comparison) -> str:
    between = f"{_code(comparison.old.name)} → {_code(comparison.new.name)}"
    partial = f"\n{PARTIAL}.\n" if comparison.is_partial else ""
    # In a paragraph of Markdown's own, what stands in <code> would still be read as Markdown.
    return f"### What changes for clients\n\n<p>{between}: {summary(comparison)}</p>\n{partial}"


def _sections(reader: BodyReader, found: Sequence[EntityChange], *, every: bool) -> Iterator[str]:
    comparison = reader.comparison
    for title, lines in (
        ("access", [line for one in found for line in access(one)]),
        ("settings", list(settings(comparison))),
        ("kept by caches for another time", list(ages(comparison))),
    ):
        if lines:
            yield _details(html.escape(title), _fenced(lines[:_MOST], left=len(lines) - _MOST))
    yield _details("by address", _table(comparison))
    for group in grouped(found):
        yield _details(_code(headline(group)), _fenced(change_lines(group[0], most=_MOST)))
    if shown := list(affected(one for one in found if not one.is_told)):
        yield _details("what shows this", _fenced(shown))
    for each in comparison.differences if every else ():
        yield _details(_code(f"{each.kind} {reader.shown(each.url)}"), _fenced(body_lines(reader, each, most=_MOST)))


def _table(comparison: Comparison) -> str:
    kinds = (ADDED, CHANGED, REMOVED, RETIMED)
    counts: dict[str, Counter[str]] = {}
    for one in comparison.differences:
        counts.setdefault(route_of(one.url), Counter())[one.kind] += 1
    rows = [f"| `{path}` | {' | '.join(str(found[kind] or '') for kind in kinds)} |" for path, found in counts.items()]
    return "\n".join(["| | added | changed | removed | kept for another time |", "|---|--:|--:|--:|--:|", *rows])


def _details(summary: str, content: str) -> str:
    """The empty line ends what is HTML."""
    return f"<details><summary>{summary}</summary>\n\n{content}\n</details>\n"


def _code(text: str) -> str:
    return f"<code>{html.escape(escaped(text))}</code>"


def _fenced(lines: Iterable[str], *, left: int = 0) -> str:
    """Between more backticks than any line has in a row."""
    text = "\n".join([*lines, *([f"… and {left:,} more"] if left > 0 else ())])
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}diff\n{text}\n{fence}\n"
