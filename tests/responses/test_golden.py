"""Three catalogs and every byte that becomes of them.

`tests/data/golden/<site>/` is what `build.py export` writes for `tests/data/sites/<site>`. After an intended change,
`UPDATE_GOLDEN=1 pytest tests/responses/test_golden.py` writes the folders again; `git diff` then shows what clients
will see. Only this file reads the variable.
"""

import json
import os
import re
import shutil
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from generator.catalog import records as model
from generator.release.export import export_release
from tests.conftest import SITES, copy_of
from tests.support.paths import DATA

GOLDEN = DATA / "golden"
# The one path that says itself that it is JSON.
DOCUMENT = "api/v2/openapi.json"
NAMES = ("minimal", "everything", "hostile")
ACCEPT = (
    "UPDATE_GOLDEN=1 pytest tests/responses/test_golden.py accepts the new bytes; read the diff before you commit it"
)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below `folder` by its path, but the page that shows the document: it is somebody else's work."""
    files = (path for path in folder.rglob("*") if path.is_file() and "docs" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(files)}


def url(path: str) -> str:
    """The URL that an exported body stands for."""
    if path == "index.json":
        return "/"
    return quote(f"/{path}" if path == DOCUMENT else f"/{path.removesuffix('.json')}")


@cache
def bodies(name: str) -> dict[str, bytes]:
    """Every URL of a golden site and its body."""
    return {url(path): body for path, body in tree(GOLDEN / name).items() if path.endswith(".json")}


@cache
def sidecar(name: str, url: str) -> dict[str, str]:
    """The headers that the golden site holds for a URL, with their names in lower case."""
    plain = {"/": "index.json", f"/{DOCUMENT}": DOCUMENT}.get(url, f"{unquote(url[1:])}.json")
    path = GOLDEN / name / f"{plain}.headers"
    lines = (line.partition(": ") for line in path.read_text().splitlines())
    return {name.lower(): value for name, _, value in lines}


def differences(expected: dict[str, bytes], found: dict[str, bytes]) -> list[str]:
    """One line a file that is not as expected, in either direction."""
    return [
        f"{path}: {'is missing' if path not in found else 'is new' if path not in expected else 'has other bytes'}"
        for path in sorted(expected.keys() | found.keys())
        if expected.get(path) != found.get(path)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_catalog_becomes_exactly_its_golden_tree(name: str, tmp_path: Path) -> None:
    """The same catalog gives the same files, no fewer, no more, with the same bytes, on every machine."""
    site = copy_of(name, tmp_path)
    site.build()
    export_release(site.store, tmp_path / "exported")
    found = tree(tmp_path / "exported")
    if os.environ.get("UPDATE_GOLDEN"):
        shutil.rmtree(GOLDEN / name, ignore_errors=True)
        shutil.copytree(tmp_path / "exported", GOLDEN / name, ignore=shutil.ignore_patterns("docs"))

    different = differences(tree(GOLDEN / name), found)

    assert not different, "\n".join([f"{name}: {len(different)} files differ", *different, ACCEPT])


def test_differences_are_seen_in_both_directions() -> None:
    """A golden file that is not built any more is as wrong as a built one that is not golden."""
    expected = {"gone": b"1", "same": b"1", "changed": b"1"}
    found = {"new": b"1", "same": b"1", "changed": b"2"}

    assert differences(expected, found) == ["changed: has other bytes", "gone: is missing", "new: is new"]


def test_the_site_called_everything_uses_every_field() -> None:
    """A field that no golden site uses could break without a test that notices."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((SITES / "everything").rglob("*.yaml")))
    # The port is chosen when the site is served, and the folder of a server is a matter of paths alone.
    fields = {name for record in records() for name in record.model_fields} - {"port", "server_folder"}

    assert {name for name in fields if not re.search(rf"\b{name}:", text)} == set()


def records() -> list[type[model.Record]]:
    """Every kind of thing that a catalog is made of."""
    kinds = (kind for kind in vars(model).values() if isinstance(kind, type))
    return [kind for kind in kinds if issubclass(kind, model.Record)]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_published_is_in_no_file(name: str) -> None:
    """Scheduled chapters, restricted series and hidden licensed ones leave no trace, not even in a file's name."""
    nowhere = re.compile(r"rumour|secret|to-come|/99\b|Behind a key")
    # v2 lists and describes what may not be read; the old families do not know of it.
    not_in_old = re.compile(r"Members Only|members-only|Hidden|LICENSED")
    everything = {path: path.encode() + body for path, body in tree(GOLDEN / name).items() if path != DOCUMENT}
    old = {path: text for path, text in everything.items() if "/v2/" not in path}

    assert [path for path, text in everything.items() if nowhere.search(text.decode())] == []
    assert [path for path, text in old.items() if not_in_old.search(text.decode())] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_body_is_compact_json_without_a_byte_too_many(name: str) -> None:
    """No byte order mark, no blank between values, no line break at the end, no letter escaped without need."""
    again = {
        url: json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":")).encode()
        for url, body in bodies(name).items()
    }

    assert again == bodies(name)
