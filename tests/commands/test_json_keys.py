"""The keys of `--json` stay (docs/stability.md): tests/data/json_keys.txt has them and their types."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator

from tests.commands.test_cli import Run, misspell, schedule
from tests.conftest import Site
from tests.support import tree_snapshot
from tests.support.paths import DATA

RECORDED = DATA / "json_keys.txt"
# Values of the catalog and of responses, which have keys of their own.
VALUES = {"default", "example", "new", "old"}


def keys(value: object, path: str) -> Iterator[tuple[str, str]]:
    """The path and type of each value."""
    yield path, type(value).__name__
    if isinstance(value, list):
        for item in value:
            yield from keys(item, f"{path}[]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from [] if key in VALUES else keys(item, f"{path}.{key}")


def printed(run: Run, site: Site) -> Iterator[tuple[str, str]]:
    """What commands print for a site with two releases, a scheduled chapter, and mistakes at the end."""

    def asked(command: str, *options: object) -> Iterator[tuple[str, str]]:
        return keys(json.loads(run(*command.split(), *options, "--json").stdout), command)

    catalog, out, _ = site.paths
    options = tree_snapshot.options(site)
    tree_snapshot.first_version(site)
    site.build()
    first = site.folder / "dist/releases" / str(site.store.current())
    tree_snapshot.second_version(site)
    schedule(site)
    yield from asked("build --check", *options)
    yield from asked("build", *options)
    yield from asked("check", "--catalog", catalog)
    yield from asked("ids", "--catalog", catalog, "--out", out)
    yield from asked("next", "--catalog", catalog, "--as-of", site.options.as_of)
    yield from asked("next --all", "--catalog", catalog, "--as-of", site.options.as_of)
    yield from asked("diff", first, out)
    yield from asked("verify", "--out", out)
    yield from asked("releases", "--out", out)
    yield from asked("pack", site.folder / "packed", "--out", out)
    yield from asked("rollback", "--out", out, "--reopen")
    yield from asked("explain")
    yield from asked("init", site.folder / "project")
    misspell(site)
    yield from asked("check", "--catalog", catalog)
    yield from asked("rollback", "--out", site.folder / "nothing")


def test_the_keys_of_json_are_those_of_the_first_version(site: Site, run: Run) -> None:
    """UPDATE_GOLDEN=1 writes the file. A new key is a new line; a line that disappears breaks a promise."""
    types = defaultdict(set)
    for path, name in printed(run, site):
        types[path].add(name)
    lines = "".join(f"{path}: {' | '.join(sorted(types[path]))}\n" for path in sorted(types))
    if os.environ.get("UPDATE_GOLDEN"):
        RECORDED.write_text(lines, encoding="utf-8")

    assert lines == RECORDED.read_text(encoding="utf-8")
