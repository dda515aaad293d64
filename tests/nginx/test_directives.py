"""The emitted configuration against a recorded one, token by token: comments and white space do not count.

`tests/data/nginx_directives/<site>.txt` holds the directives of every emitted file. After an intended change,
`UPDATE_DIRECTIVES=1 pytest tests/nginx/test_directives.py` writes the files again; read the diff.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Site, copy_of
from tests.support.paths import DATA

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|\#[^\n]*)
    |(?P<word>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?:[^\s;{}"'\#\\]|\\.)(?:[^\s;{\\]|\\.)*)
    |(?P<end>[;{}])
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens(text: str) -> Iterator[str]:
    """The words and the signs ; { } of a configuration, as nginx reads them."""
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match, f"not a configuration: {text[position : position + 60]!r}"
        if not match["skip"]:
            yield match[0]
        position = match.end()


def directives(text: str) -> str:
    """One directive per line, indented by its block."""
    lines, words, depth = [], [], 0
    for token in tokens(text):
        if token == "}":
            assert not words
            depth -= 1
        if token in (";", "{", "}"):
            lines.append("  " * depth + " ".join([*words, *([token] if token != ";" else [])]))
            words = []
            depth += token == "{"
        else:
            words.append(token)
    assert not words
    assert depth == 0
    return "".join(f"{line}\n" for line in lines)


def code(text: str) -> str:
    """A script without its comments, each of which stands on lines of its own, and without empty lines."""
    lines = (line.rstrip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.lstrip().startswith("//"))


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
        if path.suffix in (".conf", ".js"):
            sections.append(f"== {path.name}\n{code(text) if path.suffix == '.js' else directives(text)}")
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
