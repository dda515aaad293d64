"""Three catalogs and every byte of their exported sites.

`tests/data/golden/<site>/` is what `build.py export` writes for `tests/data/sites/<site>`. After an intended change,
`UPDATE_GOLDEN=1 pytest tests/responses/test_golden.py` writes the folders again; `git diff` then shows the changed
responses. Only this file reads the variable.
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
# The one URL that ends in .json.
DOCUMENT = "api/v2/openapi.json"
NAMES = ("minimal", "everything", "hostile")
ACCEPT = "to accept the new bytes, run UPDATE_GOLDEN=1 pytest tests/responses/test_golden.py and read the diff"


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below `folder` by its path, except the documentation page, which is third-party."""
    files = (path for path in folder.rglob("*") if path.is_file() and "docs" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(files)}


def url(path: str) -> str:
    """The URL of an exported body."""
    if path == "index.json":
        return "/"
    return quote(f"/{path}" if path == DOCUMENT else f"/{path.removesuffix('.json')}")


@cache
def bodies(name: str) -> dict[str, bytes]:
    """The bodies of a golden site by URL."""
    return {url(path): body for path, body in tree(GOLDEN / name).items() if path.endswith(".json")}


@cache
def sidecar(name: str, url: str) -> dict[str, str]:
    """The headers in the sidecar of a URL, with names in lower case."""
    plain = {"/": "index.json", f"/{DOCUMENT}": DOCUMENT}.get(url, f"{unquote(url[1:])}.json")
    path = GOLDEN / name / f"{plain}.headers"
    lines = (line.partition(": ") for line in path.read_text().splitlines())
    return {name.lower(): value for name, _, value in lines}


def differences(expected: dict[str, bytes], built: dict[str, bytes]) -> list[str]:
    """One line for each file that is missing, new or different."""
    return [
        f"{path}: {'is missing' if path not in built else 'is new' if path not in expected else 'has other bytes'}"
        for path in sorted(expected.keys() | built.keys())
        if expected.get(path) != built.get(path)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_export_equals_the_golden_tree(name: str, tmp_path: Path) -> None:
    """The same catalog gives the same files with the same bytes on every machine."""
    site = copy_of(name, tmp_path)
    site.build()
    export_release(site.store, tmp_path / "exported")
    built = tree(tmp_path / "exported")
    if os.environ.get("UPDATE_GOLDEN"):
        shutil.rmtree(GOLDEN / name, ignore_errors=True)
        shutil.copytree(tmp_path / "exported", GOLDEN / name, ignore=shutil.ignore_patterns("docs"))

    different = differences(tree(GOLDEN / name), built)

    assert not different, "\n".join([f"{name}: {len(different)} files differ", *different, ACCEPT])


def test_differences_include_missing_and_new_files() -> None:
    expected = {"gone": b"1", "same": b"1", "changed": b"1"}
    built = {"new": b"1", "same": b"1", "changed": b"2"}

    assert differences(expected, built) == ["changed: has other bytes", "gone: is missing", "new: is new"]


def test_site_everything_uses_every_field() -> None:
    """A field that no golden site uses could break unnoticed."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((SITES / "everything").rglob("*.yaml")))
    # `port` is set when a site is served, and `server_folder` affects paths only.
    fields = {name for record in records() for name in record.model_fields} - {"port", "server_folder"}

    assert {name for name in fields if not re.search(rf"\b{name}:", text)} == set()


def records() -> list[type[model.Record]]:
    """All classes of records in a catalog."""
    kinds = (kind for kind in vars(model).values() if isinstance(kind, type))
    return [kind for kind in kinds if issubclass(kind, model.Record)]


@pytest.mark.parametrize("name", NAMES)
def test_unpublished_text_is_in_no_file(name: str) -> None:
    """Scheduled chapters, restricted series and hidden licensed series are in no body and no file name."""
    nowhere = re.compile(r"rumour|secret|to-come|/99\b|Behind a key")
    # v2 lists and describes licensed and restricted series; /api and /api/v1 do not contain them.
    not_in_old = re.compile(r"Members Only|members-only|Hidden|LICENSED")
    everything = {path: path.encode() + body for path, body in tree(GOLDEN / name).items() if path != DOCUMENT}
    old = {path: text for path, text in everything.items() if "/v2/" not in path}

    assert [path for path, text in everything.items() if nowhere.search(text.decode())] == []
    assert [path for path, text in old.items() if not_in_old.search(text.decode())] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_body_is_compact_json(name: str) -> None:
    """It has no byte order mark, no whitespace and no unneeded escapes."""
    again = {
        url: json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":")).encode()
        for url, body in bodies(name).items()
    }

    assert again == bodies(name)
