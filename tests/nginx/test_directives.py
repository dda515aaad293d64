"""The emitted configuration against a recorded one, line by line: comments do not count.

`tests/data/nginx_directives/<site>.txt` holds the directives of every emitted file. After an intended change,
`UPDATE_DIRECTIVES=1 pytest tests/nginx/test_directives.py` writes the files again; read the diff.
"""

import os
from pathlib import Path

import pytest

from tests.conftest import Site, copy_of
from tests.support.paths import DATA

# The sign of comments by the suffix of a file.
COMMENTS = {".conf": "#", ".js": "//"}


def code(text: str, comment: str) -> str:
    """A text without its comments, each of which stands on lines of its own, and without empty lines."""
    lines = (line.rstrip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.lstrip().startswith(comment))


RECORDED = DATA / "nginx_directives"
# Between them, these sites set and leave out every setting that reaches the configuration.
NAMES = ("minimal", "everything", "hostile")
# The smallest site with this line in site.yaml as well.
APPS = "apps: [archives, komga, opds]\n"


def emitted(site: Site) -> str:
    """The directives of all emitted files and the code of the shim, with a fixed id for the release."""
    release = str(site.store.current())
    files = [site.folder / "nginx.conf", *sorted((site.folder / "dist/current/").glob("*.*"))]
    sections = []
    for path in files:
        text = path.read_text(encoding="utf-8").replace(release, "@release@")
        if comment := COMMENTS.get(path.suffix):
            sections.append(f"== {path.name}\n{code(text, comment)}")
    return "\n".join(sections)


@pytest.mark.parametrize("name", [*NAMES, "apps"])
def test_directives_are_the_recorded_ones(tmp_path: Path, name: str) -> None:
    """Rewriting a comment changes no directive and no statement of the shim."""
    site = copy_of("minimal" if name == "apps" else name, tmp_path)
    if name == "apps":
        with (site.folder / "catalog_src/site.yaml").open("a", encoding="utf-8") as settings:
            settings.write(APPS)
    site.build()
    recorded = RECORDED / f"{name}.txt"
    if os.environ.get("UPDATE_DIRECTIVES"):
        recorded.write_text(emitted(site), encoding="utf-8")

    assert emitted(site) == recorded.read_text(encoding="utf-8")
