"""What docs/stability.md promises exists: files to include, blocks of templates, hooks."""

import re

import yaml

from tests.conftest import Site
from tests.support.documents import DOCUMENTS, SPAN
from tests.support.paths import ROOT

STABILITY = DOCUMENTS["docs/stability.md"]
TEMPLATES = ROOT / "generator/api/pages/templates"


def test_every_block_of_a_template_is_promised() -> None:
    """A theme replaces blocks by their names."""
    rows = re.findall(r"^\| (`\w+\.html`.*) \| (.+) \|$", STABILITY, re.MULTILINE)
    promised = {name: set(SPAN.findall(blocks)) for names, blocks in rows for name in SPAN.findall(names)}
    texts = {path.name: path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.html")}

    assert promised == {
        name: blocks for name, text in texts.items() if (blocks := set(re.findall(r"{% block (\w+)", text)))
    }


def test_files_to_include_are_those_of_the_guide_and_of_a_release(site: Site) -> None:
    """A server of your own names them in its configuration."""
    (line,) = re.findall("^A server of your own includes .*", STABILITY, re.MULTILINE)
    files = set(SPAN.findall(line)) - {"dist/current"}
    site.write("site.yaml", "base_url: https://comics.example\npages: true\nmedia_folder: media\n")
    site.build()

    assert files == set(re.findall(r"include \S+/dist/current/(\S+\.conf);", DOCUMENTS["docs/serving.md"]))
    assert [name for name in files if not (site.folder / "dist/current" / name).is_file()] == []


def test_the_hooks_exist() -> None:
    (row,) = re.findall("^.* hooks for pre-commit .*", STABILITY, re.MULTILINE)
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))

    assert set(SPAN.findall(row)) == {hook["id"] for hook in hooks}
