"""A catalog with pages, and every byte of its exported pages, feeds and sitemaps.

`tests/data/golden_pages/` has the exported files, without those of the API and the assets, and their sidecars in one
file. After an intended change, `UPDATE_GOLDEN=1 pytest tests/responses/test_golden_pages.py` writes them again.
"""

import os
import shutil
from pathlib import Path

from generator.hosts.plain.export import export_release
from tests.conftest import copy_of
from tests.support.paths import DATA

GOLDEN = DATA / "golden_pages"
SIDECARS = "headers.txt"
ACCEPT = "to accept the new bytes, run UPDATE_GOLDEN=1 pytest tests/responses/test_golden_pages.py and read the diff"


def files(folder: Path) -> dict[str, bytes]:
    """The content of each file outside of the API and the assets."""
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: path.read_bytes() for name, path in paths.items() if not name.startswith(("api/", "assets/"))}


def exported(folder: Path) -> dict[str, bytes]:
    """The bodies of the site, and their sidecars in one file."""
    site = copy_of("pages", folder)
    site.build()
    export_release(site.store, folder / "exported")
    # Paths with old slugs, which are no page.
    (folder / "exported/redirects.json").unlink()
    content = files(folder / "exported")
    sidecars = {name: text for name, text in content.items() if name.endswith(".headers")}
    lines = b"".join(name.removesuffix(".headers").encode() + b"\n" + text for name, text in sidecars.items())
    return {name: text for name, text in content.items() if name not in sidecars} | {SIDECARS: lines}


def test_export_equals_the_golden_pages(tmp_path: Path) -> None:
    built = exported(tmp_path)
    if os.environ.get("UPDATE_GOLDEN"):
        shutil.rmtree(GOLDEN, ignore_errors=True)
        for name, text in built.items():
            path = GOLDEN / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
    golden = files(GOLDEN)
    different = [name for name in sorted(golden.keys() | built.keys()) if golden.get(name) != built.get(name)]

    assert not different, "\n".join([*different, ACCEPT])
    assert len(built) > 50


def test_golden_pages_show_nothing_hidden() -> None:
    """Scheduled, restricted and licensed chapters are on no page, nor is markup of the catalog."""
    hidden = ("to-come", "99.png", "secret", "Not any more", "gone.jpg", "Wren", "Translator")
    markup = ("<script>alert", "<i>sighs", 'href="javascript:')
    shown = {name: text.decode() for name, text in files(GOLDEN).items()}

    # JSON has texts as they are: scripts insert them as texts.
    pages = {name: text for name, text in shown.items() if not name.endswith((".json", ".opds", ".divina"))}

    assert [(name, word) for name, text in shown.items() for word in hidden if word in text] == []
    assert [(name, word) for name, text in pages.items() for word in markup if word in text] == []
    # A series without chapters is on its own page only.
    assert [name for name, text in shown.items() if "Nothing Yet" in text] == ["read/empty/index.html"]
