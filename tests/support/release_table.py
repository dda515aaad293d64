"""Compare the files of a release with those that follow from its table."""

from generator.nginx import maps, table_files
from generator.nginx.config import ServerConf
from generator.release.manifest import without_release_id
from generator.release.store import Store

# Beside the manifest: what the table itself consists of, and the link to the release before.
_NOT_DERIVED = {"manifest.json", "keys.json", "previous"}
_MAPS = {*(f"{name}.map" for name in maps.LONG), maps.REDIRECTS, maps.KEYS}


def different_maps(store: Store) -> list[str]:
    """The maps of the current release that are no function of its table."""
    with store.table() as table:
        files = {path.name: path.read_bytes() for path in table.folder.glob("*.map")}
        derived = {name: table_files.text(table, name) for name in _MAPS}
        return sorted(name for name in files.keys() | _MAPS if derived.get(name) != files.get(name))


def different_configuration(store: Store, server: ServerConf) -> list[str]:
    """The other files of the current release that are no function of its table and of where nginx serves it."""
    with store.table() as table:
        derived = table_files.configuration(table, server)
        built = {
            path.name: without_release_id(path.read_bytes(), table.id)
            for path in table.folder.iterdir()
            if path.name not in _NOT_DERIVED | (_MAPS - derived.keys())
        }
        return sorted(name for name in derived.keys() | built.keys() if derived.get(name) != built.get(name))
