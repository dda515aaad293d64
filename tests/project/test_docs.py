"""The documents: their commands work, the files and options in them exist, and each command is documented."""

import re
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import click
import pytest

from generator import __version__
from generator.authoring import scaffold
from generator.commands import cli
from tests.conftest import Site
from tests.support.documents import (
    DOCUMENTS,
    NOT_RUN,
    ROOT,
    SPAN,
    added_by_patches,
    blocks,
    first_cells,
    project,
    prose,
    sections,
    steps,
)

# Tests of their own run them: test_recipes.py, test_docs_moving.py, test_docs_first_day.py.
ELSEWHERE = ("docs/recipes/README.md", "docs/moving.md", "docs/first-day.md")
MAKE = dict(re.findall(r"^([a-z-]+):.*## (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE))
# Files that a command or a server writes after a build.
LATER = {
    "catalog_src/views.yaml",
    "catalog_src/.views-seen.json",
    "dist/run/views.log",
    "dist/run/user.conf",
    "dist/run/announced.json",
    "dist/private",
}
ARCHITECTURE = DOCUMENTS["docs/architecture.md"]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def needs(*programs: str) -> pytest.MarkDecorator:
    absent = [program for program in programs if not shutil.which(program)]
    return pytest.mark.skipif(bool(absent), reason=f"not installed: {', '.join(absent)}")


# The README is followed every day; the others are slow.
FOLLOWED = [
    pytest.param(name, marks=[] if name == "README.md" else pytest.mark.documents)
    for name in DOCUMENTS
    if blocks(name, "sh", "console") and name not in ELSEWHERE
]


@needs("bash", "curl", "make", "openssl")
@pytest.mark.parametrize("document", FOLLOWED)
def test_commands_of_a_document_print_what_it_shows(document: str) -> None:
    """Run from top to bottom, each command succeeds and prints the text below it."""
    with project() as runner:
        for block in blocks(document, "sh", "console", "diff", "python", "text"):
            runner.follow(block)


def test_each_exception_from_running_is_in_a_document() -> None:
    """NOT_RUN has no commands that no document contains."""
    commands = [command for name in DOCUMENTS for block in blocks(name, "sh", "console") for command, _ in steps(block)]

    assert [beginning for beginning in NOT_RUN if not any(one.startswith(beginning) for one in commands)] == []


def test_every_target_and_command_is_documented() -> None:
    """Each target of the Makefile and each command of build.py is in a document."""
    text = "".join(DOCUMENTS.values())

    assert [target for target in MAKE if f"`make {target}`" not in text] == []
    assert [command for command in cli.COMMANDS if not re.search(rf"`python build\.py {command}\b", text)] == []


def parts(command: str) -> Mapping[str, click.Command]:
    """The commands inside a command, such as `keys add`."""
    group = cli.load(command)
    return group.commands if isinstance(group, click.Group) else {}


@cache
def options(command: str) -> set[str]:
    every = [cli.load(command), *parts(command).values()]
    return {option for part in every for parameter in part.params for option in parameter.opts} | {"--help"}


def unknown_in(words: list[str]) -> list[str]:
    """Commands and options in a command line that build.py does not have; words in capitals are placeholders."""
    if not words or words[0].startswith("-"):
        words = ["build", *words]
    if words[0].isupper():
        return []
    if words[0] not in cli.COMMANDS:
        return [f"build.py {words[0]}"]
    if parts(words[0]) and words[1:] and words[1] not in parts(words[0]):
        return [f"build.py {words[0]} {words[1]}"]
    return [word for word in words if word.startswith("--") and word not in options(words[0])]


def test_commands_options_and_targets_in_documents_exist() -> None:
    """A document names only commands, options and targets that exist."""
    assert {name: unknown for name in DOCUMENTS if (unknown := unknown_names(name))} == {}


def unknown_names(document: str) -> set[str]:
    code = [*SPAN.findall(prose(document))]
    code += [command for block in blocks(document, "sh", "console") for command, _ in steps(block)]
    lines = [line for text in code for line in re.findall(r"(?:build\.py|^flatpanel)((?: +[-\w./:]+)*)", text)]
    targets = [text.split()[1] for text in code if re.match("make [a-z]", text)]
    alone = [text.split()[0] for text in code if re.match("--[a-z]", text)]

    unknown = {word for line in lines for word in unknown_in(line.split())}
    unknown |= set(alone).difference(*map(options, cli.COMMANDS))
    return unknown - added_by_patches(document) | (set(targets) - MAKE.keys())


def test_targets_of_links_exist() -> None:
    """A link inside the project names an existing file, and a heading in that file."""
    links = [(name, link) for name in DOCUMENTS for link in LINK.findall(prose(name))]
    inside = [(name, link) for name, link in links if not link.startswith("https://")]

    assert [(name, link) for name, link in inside if not has_target(ROOT / name, link)] == []


def has_target(document: Path, link: str) -> bool:
    path, _, heading = link.partition("#")
    file = document.parent / path if path else document
    return file.exists() and (not heading or heading in sections(file.read_text(encoding="utf-8")))


def test_files_in_documents_exist(site: Site) -> None:
    """A path in backticks is a file of the project, of a scaffold or of a built site; images are those of readers."""
    site.write("site.yaml", "base_url: https://comics.example\nmedia_folder: media\n")
    site.build()
    names = {path.name for path in ROOT.iterdir()} - {"build", "dist", "media", "nginx.conf", ".venv"}
    # Commands such as `make serve PORT=8101` write into the others.
    ours = {name for name in names if not name.startswith(".flatpanel_")}
    for document in DOCUMENTS:
        paths = [span for span in SPAN.findall(prose(document)) if re.fullmatch(r"\.?\w[\w./-]*", span)]
        paths = [path for path in paths if path.split("/")[0] in ours or path.startswith("dist/")]
        paths = [path for path in paths if path not in LATER | added_by_patches(document) | set(scaffold._FILES)]
        missing = [path for path in paths if not (ROOT / path).exists() and not (site.folder / path).exists()]
        assert missing == [], document


def test_each_document_is_in_an_index() -> None:
    """docs/README.md links to each document, docs/decisions/README.md to each topic."""
    for index in ("docs/README.md", "docs/decisions/README.md"):
        folder = (ROOT / index).parent
        linked = {(folder / link).resolve() for link in LINK.findall(prose(index))}
        assert {path for path in folder.glob("*.md") if path.name != "README.md"} <= linked, index


def test_each_package_has_a_row_in_the_architecture() -> None:
    """A new package needs a row, and so does the place to start reading it."""
    packages = {f"generator/{path.parent.name}/" for path in ROOT.glob("generator/*/__init__.py")}

    assert set(first_cells(ARCHITECTURE, "package")) - {"generator/"} == packages


def test_each_guarantee_names_a_module_and_a_test() -> None:
    """The test of files in documents sees that they exist."""
    rows = re.findall(r"^\| .+", sections(ARCHITECTURE)["what-is-guaranteed-where"], re.MULTILINE)[1:]

    assert len(rows) > 10
    assert [row for row in rows if not re.search(r" \| `generator/\S+` \| `tests/\S+/test_\w+\.py` \|$", row)] == []


def test_each_decision_has_a_reason() -> None:
    """An entry states a reason or a measurement."""
    entries = [
        (heading, text)
        for name in DOCUMENTS
        if name.startswith("docs/decisions/")
        for heading, text in re.findall(r"^### (.+)\n((?:(?!#).*\n)*)", DOCUMENTS[name], re.MULTILINE)
    ]

    assert len(entries) > 80
    assert [heading for heading, text in entries if not re.search(r"\*\*(Why|Measured)\.\*\*", text)] == []


def test_each_refused_way_has_a_reason() -> None:
    """A row names a way, and the reason or figure against it."""
    rows = [row for row in DOCUMENTS["docs/decisions/refused.md"].splitlines() if row.startswith("| ")]

    assert len(rows) > 80
    assert [row for row in rows if row.count(" |") != 3 or not all(row[2:].split(" | ")[:2])] == []


def test_the_changelog_has_this_version() -> None:
    """The version of the program has a section."""
    assert f"## [{__version__}]" in DOCUMENTS["CHANGELOG.md"]
