"""The findings of a check or a copy as lines that fit a screen: by kind, then by folder."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..errors import counted
from .folder_check import Finding
from .image_sizes import Size
from .named_files import MediaFile

# How many lines each kind has, unless all are shown.
_EXAMPLES = 2


def lines(findings: Iterable[Finding], labels: Mapping[str, str], *, shows_all: bool) -> Iterator[str]:
    """Yield the lines of all findings; `labels` has the heading of each kind."""
    by_kind: dict[str, list[Finding]] = {}
    for finding in findings:
        by_kind.setdefault(finding.kind, []).append(finding)
    for kind, group in by_kind.items():
        yield f"{labels.get(kind, kind)}: {counted(len(group), 'file')}"
        entries = list(map(_one, group)) if shows_all else list(_by_folder(group))
        shown = entries if shows_all else entries[:_EXAMPLES]
        yield from (f"  {entry}" for entry in shown)
        if len(entries) > len(shown):
            yield f"  and {len(entries) - len(shown):,} more (--all)"


def size_lines(sizes: Mapping[str, Size], files: Mapping[str, MediaFile]) -> Iterator[str]:
    """Yield the smallest and the largest image of each kind, by their number of pixels."""
    by_kind: dict[str, list[Size]] = {}
    for path, size in sizes.items():
        by_kind.setdefault(files[path].kind, []).append(size)
    for kind, group in sorted(by_kind.items()):
        smallest, *_, largest = sorted(group, key=lambda size: (size[0] * size[1], size)) * 2
        yield f"{kind}s: {smallest[0]} x {smallest[1]} to {largest[0]} x {largest[1]} pixels"


def mebibytes(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MiB"


def _one(finding: Finding) -> str:
    return f"{finding.path}: {finding.detail}" if finding.detail else finding.path


def _by_folder(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield one line for each folder; of moved files, one for each pair of folders."""
    folders: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        detail = _folder(finding.detail) if finding.kind == "moved" else finding.detail
        folders.setdefault((_folder(finding.path), detail), []).append(finding)
    for (folder, detail), group in folders.items():
        if len(group) == 1:
            yield _one(group[0])
        else:
            yield f"{folder}: {counted(len(group), 'file')}" + (f": {detail}" if detail else "")


def _folder(path: str) -> str:
    return path.rpartition("/")[0] + "/"
