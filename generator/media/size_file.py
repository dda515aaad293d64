"""Write the sizes of measured pages into `sizes.yaml`."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from .. import encoding
from ..catalog import confined_folder, entities, layout
from ..catalog.confined_folder import Folder
from ..catalog.entities import PageSize
from ..catalog.linking import Linker, path_below
from ..catalog.problems.load import load_valid
from ..catalog.reader import SIZES, Sources
from ..filesystem import exclusive

_HEAD = "# Sizes of pages by chapter id, written by `media check --write-sizes`.\n"


def write(catalog: Folder, measured: Mapping[str, PageSize]) -> int:
    """Write the sizes of the pages in `measured`, by path below the media root. Returns the number of chapters.

    A chapter without a measured page keeps its sizes, as long as their number is that of its pages.
    """
    with exclusive(layout.existing(catalog)):
        texts = dict(_texts(load_valid(catalog), measured))
        text = _HEAD + "".join(f'{chapter}: "{sizes}"\n' for chapter, sizes in sorted(texts.items()))
        if texts or layout.has(confined_folder.of(catalog), SIZES):
            confined_folder.of(catalog).write(SIZES, text.encode())
        return len(texts)


def _texts(sources: Sources, measured: Mapping[str, PageSize]) -> Iterator[tuple[int, str]]:
    linker = Linker(sources, sources.mtimes, encoding.LAST_INSTANT)
    root = linker.media.root
    # Page ids do not matter here.
    ids: Mapping[str, int] = defaultdict(int)
    for entry in sources.series:
        for chapter in linker.series(entry, sources.mtimes, ids).chapters:
            sizes = tuple(measured.get(path_below(root, chapter.pages_root + page)) for page in chapter.pages)
            current = sizes if any(sizes) else chapter.sizes
            if chapter.id is not None and current:
                yield chapter.id, entities.sizes_text(current)
