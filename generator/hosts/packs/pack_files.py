"""Write the packs of a release into a folder, or those that differ from the release that was packed before."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from ...errors import FlatpanelError
from ...filesystem import exclusive, make_folder, sync_filesystem
from ...release.store import Store, is_unused, refuse_links
from ...release.table import ReleaseTable
from . import leaves, state, worker_files
from .leaves import PARTS, Leaf
from .pack_changes import TREES, Changes, compare
from .pack_folder import DamagedPacks, PackFolder
from .pack_format import NO_PACK, PackItem
from .state import PackState

FILES = "files"


class PackTotals(NamedTuple):
    """The release, its URLs and files, and what this run has written, left and removed."""

    release: str
    urls: int
    packs: int
    large: int
    written: int
    bytes: int
    removed: int
    # Bodies that hosts with a limit of 25 MiB refuse, and settings that a user has changed.
    too_large: list[str]
    left: list[str]


Progress = Callable[[int], None]


def pack_release(
    store: Store, target: Path, *, write: bool = True, progress: Progress = lambda done: None
) -> PackTotals:
    """Pack the current release. A second pack into the folder costs what has changed.

    New files come first, the pointer to them (release.js) after them, and unused files are removed last. So a run that
    is interrupted leaves the packs of one of the two releases complete.
    """
    with ExitStack() as stack:
        table = stack.enter_context(store.table())
        earlier = _known(target)
        if write:
            make_folder(target)
            stack.enter_context(exclusive(target))
            # The folder is ours from now on, even if this run is interrupted.
            earlier = _known(target)
            if not state.is_packed(target):
                state.write(target, PackState())
        try:
            return _packed(store, table, earlier, target, write, progress)
        except DamagedPacks:
            # Each file that is still right is used again.
            return _packed(store, table, PackState(settings=earlier.settings), target, write, progress)


def _known(target: Path) -> PackState:
    """What the folder has; an error if it has files of others."""
    if state.is_packed(target):
        return state.read(target)
    if not is_unused(target, state.FILE):
        raise FlatpanelError(f"{target}: is not an empty folder, nor one of an earlier `pack`; choose a new one")
    return PackState()


def _packed(
    store: Store, table: ReleaseTable, earlier: PackState, target: Path, write: bool, progress: Progress
) -> PackTotals:
    segments, changes, urls = compare(table, earlier)
    # A pack replaces and removes files there.
    refuse_links(target, (f"{FILES}/{tree}/" for tree in TREES))
    folders = {tree: PackFolder(target / FILES / tree, store.root, write=write) for tree in TREES}
    new = PackState(table.id, segments, settings=earlier.settings)
    packs = 0
    for tree, folder in folders.items():
        arranged, new.large[tree] = _arranged(tree, folder, earlier, changes, progress)
        new.directories[tree] = leaves.dump(arranged)
        packs += sum(leaf.name != NO_PACK for leaf in arranged)
    files = worker_files.of_release(table, new.directories)
    if write:
        sync_filesystem(target)
        new.settings = worker_files.write(target, files, earlier.settings)
        state.write(target, new)
        sync_filesystem(target)
    return PackTotals(
        release=table.id,
        urls=urls,
        packs=packs,
        large=sum(len(set(new.large[tree].values())) for tree in TREES),
        written=sum(folder.written for folder in folders.values()),
        bytes=sum(folder.bytes for folder in folders.values()),
        removed=sum(folder.remove_unused() for folder in folders.values()),
        too_large=[file for folder in folders.values() for file in folder.too_large],
        left=worker_files.changed_by_others(target, files, new.settings),
    )


def _arranged(
    tree: str, folder: PackFolder, earlier: PackState, changes: Changes, progress: Progress
) -> tuple[list[Leaf], dict[bytes, bytes]]:
    """The leaves of a tree, all written, and its large bodies."""
    large = dict(earlier.large.get(tree, {}))
    directory = earlier.directories.get(tree)
    present = leaves.load(directory, folder.size) if directory else [leaves.of_items(())]
    narrow: list[Leaf] = []
    for part, old in enumerate(leaves.parts(present, folder.load)):
        items: dict[bytes, PackItem | None] = {}
        for key, description in changes.of_part(tree, part):
            large.pop(key, None)
            item = folder.item(key, description) if description else None
            items[key] = item
            if item and item.is_alone:
                large[key] = item.data
        arranged = _of_part(part, old, items, folder)
        # Leaves that cannot be joined with those of other parts are written now, so that memory does not have them all.
        if len(arranged) > 1:
            for leaf in arranged:
                folder.save(leaf)
        narrow += arranged
        progress(1)
    result = list(leaves.arranged(narrow, folder.load))
    for leaf in result:
        folder.save(leaf)
    for name in large.values():
        folder.keep(name)
    return result, large


def _of_part(part: int, old: list[Leaf], items: dict[bytes, PackItem | None], folder: PackFolder) -> list[Leaf]:
    changed = leaves.changed(old, items, folder.load) if items else old
    start = part << leaves.BITS - leaves.PART_BITS
    return list(leaves.arranged(changed, folder.load, start, leaves.PART_BITS))


STEPS = len(TREES) * PARTS
