"""The documents: every command in them works, what they name exists, and what exists is named."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import click
import pytest

from generator import __version__, cli
from generator.authoring import scaffold
from tests.conftest import Site
from tests.support.documents import (
    DOCUMENTS,
    NOT_RUN,
    ROOT,
    SPAN,
    blocks,
    brought,
    not_run,
    project,
    prose,
    sections,
    steps,
)

MAKE = dict(re.findall(r"^([a-z-]+):.*## (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE))
# What a command or a server writes, after a build.
LATER = {
    "catalog_src/views.yaml",
    "catalog_src/.views-seen.json",
    "dist/run/views.log",
    "dist/run/user.conf",
    "dist/private",
}
LINK = re.compile(r"\]\(([^)\s]+)\)")


def missing(*programs: str) -> pytest.MarkDecorator:
    absent = [one for one in programs if not shutil.which(one)]
    return pytest.mark.skipif(bool(absent), reason=f"not installed: {', '.join(absent)}")


@missing("bash", "curl", "make", "openssl")
@pytest.mark.parametrize("document", [name for name in DOCUMENTS if blocks(name, "sh", "console")])
def test_what_a_document_says_to_do_can_be_done(document: str) -> None:
    """Whoever follows a document from top to bottom sees what it shows."""
    # Tests that CONTRIBUTING.md runs compare the example with docs/api.md, which shows port 8000.
    with project(base_url=document != "CONTRIBUTING.md") as person:
        for block in blocks(document, "sh", "console", "diff", "python", "text"):
            person.follow(block)


@pytest.mark.parametrize("beginning", NOT_RUN)
def test_what_is_not_run_is_still_in_a_document(beginning: str) -> None:
    """The list of commands that are taken on trust holds none that nobody is told to type."""
    commands = [command for name in DOCUMENTS for block in blocks(name, "sh", "console") for command, _ in steps(block)]

    assert [command for command in commands if not_run(command) and command.startswith(beginning)]


def test_the_readme_begins_with_its_two_commands() -> None:
    """A stranger types `make serve` and `make test`, and `make help` knows both."""
    first, *_ = blocks("README.md", "sh", "console", "diff", "text")

    assert [command.split("#")[0].strip() for command, _ in steps(first)] == ["make serve", "make test"]
    assert {"serve", "test"} <= MAKE.keys()


@pytest.mark.parametrize("target", MAKE)
def test_every_make_target_is_documented(target: str) -> None:
    """What make can do stands in a document."""
    assert any(f"`make {target}`" in text for text in DOCUMENTS.values())


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    """What build.py can do stands in a document."""
    assert any(re.search(rf"`python build\.py {command}\b", text) for text in DOCUMENTS.values())


def parts(command: str) -> Mapping[str, click.Command]:
    """The commands inside a command, such as `keys add`."""
    group = cli.load(command)
    return group.commands if isinstance(group, click.Group) else {}


def options(command: str) -> set[str]:
    every = [cli.load(command), *parts(command).values()]
    return {option for one in every for parameter in one.params for option in parameter.opts} | {"--help"}


def unknown_in(words: list[str]) -> list[str]:
    """What a command line of build.py names that is not there; capitals stand for anything."""
    if not words or words[0].startswith("-"):
        words = ["build", *words]
    if words[0].isupper():
        return []
    if words[0] not in cli.COMMANDS:
        return [f"build.py {words[0]}"]
    if parts(words[0]) and words[1:] and words[1] not in parts(words[0]):
        return [f"build.py {words[0]} {words[1]}"]
    return [word for word in words if word.startswith("--") and word not in options(words[0])]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_options_and_targets_that_are_named_exist(document: str) -> None:
    """No document tells of what is not there."""
    code = [*SPAN.findall(prose(document))]
    code += [command for block in blocks(document, "sh", "console") for command, _ in steps(block)]
    lines = [line for text in code for line in re.findall(r"(?:build\.py|^flatpanel)((?: +[-\w./:]+)*)", text)]
    targets = [text.split()[1] for text in code if re.match("make [a-z]", text)]
    alone = [text.split()[0] for text in code if re.match("--[a-z]", text)]

    assert {one for line in lines for one in unknown_in(line.split())} <= brought(document)
    assert set(targets) <= MAKE.keys()
    assert set(alone) <= set().union(brought(document), *map(options, cli.COMMANDS))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    """A link inside the project names a file that exists and a heading that is in it."""
    links = [one for one in LINK.findall(prose(document)) if not one.startswith("https://")]

    assert [one for one in links if not leads_somewhere(ROOT / document, one)] == []


def leads_somewhere(document: Path, link: str) -> bool:
    path, _, heading = link.partition("#")
    file = document.parent / path if path else document
    return file.exists() and (not heading or heading in sections(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_that_are_named_exist(document: str, site: Site) -> None:
    """A path of the project, of a new project or of a built site, written as code, is there."""
    site.build()
    ours = {path.name for path in ROOT.iterdir()} - {"dist", "nginx.conf", ".venv"}
    paths = [one for one in SPAN.findall(prose(document)) if re.fullmatch(r"\.?\w[\w./-]*", one)]
    named = [one for one in paths if one.split("/")[0] in ours] + [one for one in paths if one.startswith("dist/")]
    named = [one for one in named if one not in LATER | brought(document) | set(scaffold._FILES)]

    assert [one for one in named if not (ROOT / one).exists() and not (site.folder / one).exists()] == []


def test_the_changelog_knows_this_version() -> None:
    """What this version brought can be read."""
    assert f"## [{__version__}]" in DOCUMENTS["CHANGELOG.md"]
