"""What a command imports: most of the time of a short command is its imports."""

import os
import re
import subprocess
import sys

import pytest

from tests.conftest import Site, copy_of
from tests.support import tree_snapshot
from tests.support.paths import ROOT

# The modules of this program that every command needs.
START = {
    "generator",
    "generator.commands.cli",
    "generator.commands",
    "generator.commands.help",
    "generator.commands.output",
    "generator.encoding",
    "generator.errors",
}
# Libraries and modules that take long to import, and the packages of this program that import them.
CATALOG = {
    "pydantic",
    "yaml",
    "generator.catalog.records",
    "generator.catalog.yaml",
    "generator.catalog.problems.locate",
}
RENDERING = {"generator.api.routes", "generator.nginx.config", "generator.pipeline.new_release"}
PAGES = {"generator.api.page_routes", "generator.api.feeds"}
UNUSED = {
    *("jinja2", "markdown_it", "http.client", "ssl", "concurrent.futures", "multiprocessing"),
    *("generator.authoring", "generator.hosts", "generator.media", "generator.review"),
    "generator.catalog.json_schema",
}


def imported(*arguments: object) -> set[str]:
    """All modules that a command imports, in a process of its own."""
    command = [sys.executable, "-X", "importtime", ROOT / "build.py", *map(str, arguments)]
    # coverage would import modules as well.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return set(re.findall(r"^import time:[^|]*\|[^|]*\| +(\S+)$", done.stderr, re.MULTILINE))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A site without pages, with a cache: the first build of a site imports more than later ones."""
    site = copy_of("minimal", tmp_path_factory.mktemp("site"))
    imported("build", *tree_snapshot.options(site))
    return site


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_help_imports_no_command(option: str) -> None:
    """The first sentences of the commands are in the table of commands."""
    assert {module for module in imported(option) if module.partition(".")[0] == "generator"} == START


def test_a_build_without_changes_imports_nothing_that_reads_or_renders(built: Site) -> None:
    """It compares statuses with those of the last build."""
    modules = imported("build", *tree_snapshot.options(built))

    assert modules >= {"sqlite3", "generator.pipeline.up_to_date"}
    assert modules & (CATALOG | RENDERING | UNUSED) == set()


def test_an_edit_imports_no_templates_and_no_pages(built: Site) -> None:
    """The configuration comes from the cache, although it names the index of series, which has changed."""
    path = built.folder / "catalog_src/series/first.yaml"
    path.write_text(path.read_text().replace("title: First", "title: Changed"))
    before = built.store.current()
    modules = imported("build", *tree_snapshot.options(built))

    assert built.store.current() != before
    assert modules >= CATALOG | RENDERING
    assert modules & (UNUSED | PAGES) == set()
