"""The emitted configuration against a recorded one, token by token: comments and white space do not count.

`tests/data/nginx_directives/<site>.txt` holds the directives of every emitted file. After an intended change,
`UPDATE_DIRECTIVES=1 pytest tests/nginx/test_directives.py` writes the files again; read the diff.
"""

import os
from pathlib import Path

import pytest

from tests.conftest import Site, copy_of
from tests.support.nginx_syntax import code, directives
from tests.support.paths import DATA

RECORDED = DATA / "nginx_directives"
# Between them, these sites set and leave out every setting that reaches the configuration.
NAMES = ("minimal", "everything", "hostile")


def emitted(site: Site) -> str:
    """The directives of all emitted files and the code of the shim, with a fixed id for the release."""
    release = str(site.store.current())
    files = [site.folder / "nginx.conf", *sorted((site.folder / "dist/current/").glob("*.*"))]
    sections = []
    for path in files:
        text = path.read_text(encoding="utf-8").replace(release, "@release@")
        if path.suffix in (".conf", ".js"):
            sections.append(f"== {path.name}\n{code(text) if path.suffix == '.js' else directives(text)}")
    return "\n".join(sections)


@pytest.mark.parametrize("name", NAMES)
def test_directives_are_the_recorded_ones(tmp_path: Path, name: str) -> None:
    """Rewriting a comment changes no directive and no statement of the shim."""
    site = copy_of(name, tmp_path)
    site.build()
    recorded = RECORDED / f"{name}.txt"
    if os.environ.get("UPDATE_DIRECTIVES"):
        recorded.write_text(emitted(site), encoding="utf-8")

    assert emitted(site) == recorded.read_text(encoding="utf-8")


def test_directives_are_read_as_nginx_reads_them() -> None:
    """A # begins a comment only where a word could begin; quotes, escapes and blocks keep their text."""
    text = """
    # map $a { }
    map "$a # b" $c{ # d
        "~^\\"x;{}'$"  a#b;   default '';
    }
    if ($a = b) { return 400; }
    """

    assert directives(text).splitlines() == [
        'map "$a # b" $c {',
        '  "~^\\"x;{}\'$" a#b',
        "  default ''",
        "}",
        "if ($a = b) {",
        "  return 400",
        "}",
    ]
