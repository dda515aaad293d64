"""The result of a comparison as lines of text that fit a screen."""

from collections.abc import Iterator, Sequence

from ...errors import escaped
from ..diff.json_diff import JsonChange
from ..diff.lines import change_text, counted, cut
from .model import STATUS, UNUSABLE, Difference
from .run import CompareResult
from .summary import Summary, summary

# Lines, and their length.
SCREEN, WIDTH = 40, 196
# Groups without a reason, notes and names that are shown; the rest is counted.
MAX_GROUPS, MAX_NOTES, MAX_NAMES = 12, 3, 3
_PLURALS = {"category": "categories", "series": "series"}


def text(result: CompareResult) -> list[str]:
    """Return the lines: what has no reason first."""
    groups, unexplained = summary(result.differences), len(result.unexplained)
    lines = [f"{counted(result.paths, 'response')} of each site compared, {result.equal:,} equal"]
    for url, stated in result.stated.items():
        lines.append(f"URLs in responses of {url} begin with {stated}; only the paths behind it are compared")
    for note in [*result.notes[:MAX_NOTES], *_more(len(result.notes) - MAX_NOTES, "notes with --json")]:
        lines.append(f"note: {note}")
    if unexplained:
        lines += [f"{counted(unexplained, 'difference')} without a known reason:"]
        lines += [f"  {line}" for line in _unexplained(groups)]
    if groups.by_reason:
        lines.append(f"{counted(len(result.differences) - unexplained, 'difference')} with a known reason:")
        reasons = [
            f"  {len(differences):,} × {reason}: {example(differences[0])}"
            for reason, differences in groups.by_reason.items()
        ]
        shown = max(SCREEN - len(lines) - 2, 1)
        lines += [*reasons[:shown], *_more(len(reasons) - shown, "reasons with --json")]
    return [line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines]


def _unexplained(groups: Summary) -> Iterator[str]:
    for which, names in (("first", groups.only_first), ("second", groups.only_second)):
        for kind, those in names.items():
            more = f" and {len(those) - MAX_NAMES:,} more" if len(those) > MAX_NAMES else ""
            label = kind if len(those) == 1 else _PLURALS.get(kind, f"{kind}s")
            yield f"{len(those):,} {label} only on the {which} site: {cut(escaped(', '.join(those[:MAX_NAMES])))}{more}"
    if groups.following:
        yield f"{counted(groups.following, 'other difference')} of responses that mention these"
    for differences in groups.others[:MAX_GROUPS]:
        yield f"{len(differences):,} × {label_of(differences)}: {example(differences[0])}"
    yield from _more(len(groups.others) - MAX_GROUPS, "kinds of differences with --json")


def label_of(differences: Sequence[Difference]) -> str:
    """The kind of response and its field."""
    first = differences[0]
    kind = {STATUS: "another status", UNUSABLE: "no usable response"}.get(first.kind, first.kind)
    return f"{first.route} {first.field} {kind}" if first.field else f"{first.route} {kind}"


def example(difference: Difference) -> str:
    """A difference in one line."""
    path = cut(escaped(difference.path))
    if difference.kind in (STATUS, UNUSABLE):
        return f"{path}: {difference.first} → {difference.second}"
    if not difference.steps:
        return path
    change = JsonChange(difference.steps, difference.kind, difference.first, difference.second)
    return f"{path} {change_text(change)}"


def _more(count: int, label: str) -> Iterator[str]:
    if count > 0:
        yield f"  and {count:,} more {label}"
