"""Four catalogs and every byte of their exported sites.

`tests/data/golden/<site>/` has a file for each URL of `tests/data/sites/<site>`: headers and indented body. After an
intended change, `UPDATE_GOLDEN=1 pytest tests/responses/test_golden.py` writes the files again; `git diff` then shows
the changed responses. Only this file reads the variable.
"""

import os
import re
from pathlib import Path

import pytest

from generator.catalog import records as model
from generator.hosts.plain.export import export_release
from tests.conftest import SITES, copy_of
from tests.support.golden import bodies, etag, exported, responses, write
from tests.support.tables import each

NAMES = ("minimal", "everything", "hostile", "imported")
ACCEPT = "to accept the new bytes, run UPDATE_GOLDEN=1 pytest tests/responses/test_golden.py and read the diff"


@pytest.mark.parametrize("name", NAMES)
def test_export_equals_the_golden_responses(name: str, tmp_path: Path) -> None:
    """The same catalog gives the same bodies and sidecars on every machine, and no other file."""
    site = copy_of(name, tmp_path)
    site.build()
    export_release(site.store, tmp_path / "exported")
    # Paths with old slugs, which have no response of their own.
    (tmp_path / "exported/redirects.json").unlink(missing_ok=True)
    built = exported(tmp_path / "exported")
    if os.environ.get("UPDATE_GOLDEN"):
        write(name, built)
        responses.cache_clear()

    golden = responses(name)
    different = [url for url in sorted(golden.keys() | built.keys()) if golden.get(url) != built.get(url)]

    assert not different, "\n".join([f"{name}: {len(different)} responses differ", *different, ACCEPT])
    files = [path for path in (tmp_path / "exported").rglob("*") if path.is_file() and "docs" not in path.parts]
    assert len(files) == 2 * len(built)


def test_golden_sites_use_every_field() -> None:
    """A field that no golden site uses could break unnoticed."""
    files = [path for name in ("everything", "imported") for path in sorted((SITES / name).rglob("*.yaml"))]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    # `port` is set when a site is served, and `server_folder` affects paths only.
    fields = {name for record in records() for name in record.model_fields} - {"port", "server_folder"}

    assert {name for name in fields if not re.search(rf"\b{name}:", text)} == set()


def records() -> list[type[model.Record]]:
    """All classes of records in a catalog."""
    kinds = (kind for kind in vars(model).values() if isinstance(kind, type))
    return [kind for kind in kinds if issubclass(kind, model.Record)]


@each("name", NAMES)
def test_unpublished_text_is_in_no_response(name: str) -> None:
    """Scheduled chapters, restricted series and hidden licensed series are in no body and no URL."""
    nowhere = re.compile(r"rumour|secret|to-come|/99\b|Behind a key")
    # v2 lists and describes licensed and restricted series; /api and /api/v1 do not contain them.
    not_in_old = re.compile(r"Members Only|members-only|Hidden|LICENSED")
    texts = {url: url + body.decode() for url, body in bodies(name).items() if url != "/api/v2/openapi.json"}
    old = {url: text for url, text in texts.items() if "/v2/" not in url}

    assert [url for url, text in texts.items() if nowhere.search(text)] == []
    assert [url for url, text in old.items() if not_in_old.search(text)] == []


@each("name", NAMES)
def test_golden_etags_prove_the_bytes(name: str) -> None:
    """A body is stored indented; compacted, it has the MD5 that its ETag names."""
    wrong = [
        url
        for url, response in responses(name).items()
        if f"ETag: {etag(response.body)}" not in response.sidecar.decode()
    ]

    assert wrong == []
