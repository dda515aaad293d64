"""One file a series for cubari.moe, which reads such files from a repository or a gist.

The files are made from the Cubari JSON of the current release. The API has it by the ids of chapters; cubari.moe
expects the numbers of chapters in a file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .. import encoding
from ..api.payloads.resources import EMPTY_RESULTS_URL
from ..errors import FlatpanelError
from ..filesystem import delete_file, write_if_changed
from ..release.manifest import Published
from ..release.store import Store, read_body

# The names of the files that an export wrote: the next one may change and remove them.
_LIST = ".flatpanel-gists.json"
_CUBARI = "/api/v2/cubari/"
_NO_VOLUME = "0"


class GistTotals(NamedTuple):
    """The number of series, and of files that were written and removed."""

    series: int
    written: int
    removed: int


def export_gists(store: Store, target: Path) -> GistTotals:
    """Write a file for each series that needs no API key. Files that would not change are left alone."""
    resources = store.manifest(store.release()).resources
    gists = {
        f"{url.removeprefix(_CUBARI)}.json": encoding.indented(gist)
        for url, body in resources.items()
        if url.startswith(_CUBARI) and (gist := _readable(store, body, resources))
    }
    if target.exists() and not target.is_dir():
        raise FlatpanelError(f"{target}: is not a folder; choose a new one")
    earlier = _earlier(target / _LIST)
    for name in gists:
        if name not in earlier and (target / name).exists():
            raise FlatpanelError(
                f"{target / name}: is not a file of an earlier export; move it, or choose a new folder"
            )
    # First of all: an interrupted export leaves no file that the next one would refuse.
    write_if_changed(target / _LIST, encoding.indented(sorted(earlier | gists.keys())))
    written = sum(write_if_changed(target / name, text) for name, text in gists.items())
    removed = earlier - gists.keys()
    for name in removed:
        delete_file(target / name)
    write_if_changed(target / _LIST, encoding.indented(sorted(gists)))
    return GistTotals(len(gists), written, len(removed))


def _earlier(file: Path) -> set[str]:
    """The files of an earlier export into the same folder."""
    try:
        names = encoding.parse(file.read_bytes())
    except FileNotFoundError:
        return set()
    except ValueError:
        names = None
    if not isinstance(names, list) or not all(map(_is_file_name, names)):
        raise FlatpanelError(f"{file}: has been changed; remove it together with the files of the earlier export")
    return set(names)


def _is_file_name(name: object) -> bool:
    return isinstance(name, str) and name.endswith(".json") and name == Path(name).name


def _readable(store: Store, body: Published, resources: Mapping[str, Published]) -> dict[str, object] | None:
    """The file of a series; None if its chapters or their pages need an API key."""
    if body.restricted or resources.get(EMPTY_RESULTS_URL, body).restricted:
        return None
    series = encoding.parse(read_body(store.root, body.file, body.etag))
    if any(resources[f"/api/v2/chapters/{id}/pages"].restricted for id in series["chapters"]):
        return None
    return cubari_gist(series)


def cubari_gist(series: Mapping[str, Any]) -> dict[str, object]:
    """The file of a series, from its Cubari JSON: chapters in reading order, by number."""
    by_number: dict[str, list[dict[str, Any]]] = {}
    for chapter in series["chapters"].values():
        by_number.setdefault(chapter["number"], []).append(chapter)
    return {
        **{name: series[name] for name in ("title", "description", "artist", "author", "cover")},
        "chapters": {number: _chapter(chapters) for number, chapters in by_number.items()},
    }


def _chapter(chapters: list[dict[str, Any]]) -> dict[str, object]:
    """The chapters of one number: those of the first volume, and its versions by other groups, are its groups."""
    volume = chapters[0]["volume"]
    standing = [chapter for chapter in chapters if chapter["volume"] == volume][-1]
    groups: dict[str, list[str]] = {}
    for chapter in chapters:
        for group, pages in chapter["groups"].items():
            name = group if chapter["volume"] == volume else f"{group}, {_volume_name(chapter['volume'])}"
            groups[_free_name(name, groups)] = pages
    return {
        "title": standing["title"],
        **({} if volume == _NO_VOLUME else {"volume": volume}),
        "last_updated": max((chapter["last_updated"] for chapter in chapters), key=int),
        "groups": groups,
    }


def _volume_name(volume: str) -> str:
    return "no volume" if volume == _NO_VOLUME else f"Vol. {volume}"


def _free_name(name: str, groups: Mapping[str, object]) -> str:
    """The name, with a number after it if another version of the chapter is of the same groups."""
    count = 1
    while name in groups:
        count += 1
        name = f"{name.removesuffix(f' ({count - 1})')} ({count})"
    return name
