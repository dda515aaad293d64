"""Files that are in the folder of the media under another path than the catalog names, and the commands that move them.

The original service moves a folder when the volume of a chapter changes, but not the paths in its database. An author
who edits a volume or a slug leaves the files behind.
"""

import re
import shlex
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from ..catalog.linking import SERIES_MEDIA
from ..errors import counted
from .named_files import NamedMedia

# The name of an uploaded page: a digest of its content. Equal names mean equal content.
_DIGEST = re.compile(r"[0-9a-f]{32}\.[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Move:
    """A file, and the path that the catalog names.

    A copy leaves a file that the catalog names, too. A move that is not certain relies on names such as `01.jpg`.
    """

    source: str
    target: str
    is_copy: bool
    is_certain: bool


def find_moves(named: NamedMedia, missing: Sequence[str], present: Set[str]) -> list[Move]:
    """Find files for missing paths among the files in the folder."""
    finder = _Finder(named, present)
    candidates = [(path, *candidate) for path in missing if (candidate := finder.candidate(path))]
    left = Counter(source for _, source, _ in candidates)
    moves = []
    for target, source, is_certain in candidates:
        left[source] -= 1
        # The last use of a file that the catalog does not name moves it.
        moves.append(Move(source, target, source in named.files or left[source] > 0, is_certain))
    return moves


class _Finder:
    def __init__(self, named: NamedMedia, present: Set[str]) -> None:
        self._named = named
        unnamed = present - named.files.keys()
        self._by_spelling = {_spelling(path): path for path in sorted(unnamed)}
        # The files below the folder of each slug, by name: those that the catalog does not name first.
        self._by_name: Mapping[tuple[str, str], list[str]] = defaultdict(list)
        for path in (*sorted(unnamed), *sorted(present - unnamed)):
            parts = path.split("/")
            if parts[0] == SERIES_MEDIA and len(parts) > 2:
                self._by_name[parts[1], parts[-1]].append(path)

    def candidate(self, path: str) -> tuple[str, bool] | None:
        """Return the file for a missing path, and whether that is certain."""
        if other := self._by_spelling.get(_spelling(path)):
            return other, True
        file = self._named.files[path]
        name = path.rpartition("/")[2]
        files = [
            other for slug in self._named.slugs.get(file.owner, ()) for other in self._by_name.get((slug, name), ())
        ]
        if _DIGEST.fullmatch(name):
            return (files[0], True) if files else None
        files = [other for other in files if other not in self._named.files and _is_same_place(path, other)]
        return (files[0], False) if len(files) == 1 else None


def _is_same_place(path: str, other: str) -> bool:
    """Whether two paths differ only in the slug of the series, or only in the volume of a chapter."""
    parts, other_parts = path.split("/"), other.split("/")
    if len(parts) != len(other_parts):
        return False
    different = [index for index, pair in enumerate(zip(parts, other_parts, strict=True)) if pair[0] != pair[1]]
    return different == [1] or (different == [2] and len(parts) == 5)


def _spelling(path: str) -> str:
    """Return a path without the differences that some systems do not keep: letter case, and composed letters."""
    return unicodedata.normalize("NFC", path).casefold()


def script(folder: Path, moves: Iterable[Move]) -> Iterator[str]:
    """Yield the lines of a shell script. Moves that are not certain are comments."""
    moves = list(moves)
    yield "#!/bin/sh"
    files = counted(sum(move.is_certain for move in moves), "file")
    yield f"# Moves or copies {files} to the paths that the catalog names."
    if any(not move.is_certain for move in moves):
        yield "# Lines after #? rely on names only: look at the images, then remove the #?."
    yield from ("set -eu", f"cd -- {shlex.quote(str(folder))}")
    made: set[str] = set()
    for move in moves:
        mark = "" if move.is_certain else "#? "
        parent = move.target.rpartition("/")[0]
        if parent and mark + parent not in made:
            made.add(mark + parent)
            yield f"{mark}mkdir -p -- {shlex.quote(parent)}"
        command = "cp -p" if move.is_copy else "mv"
        yield f"{mark}{command} -- {shlex.quote(move.source)} {shlex.quote(move.target)}"
