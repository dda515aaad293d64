"""The original service and its database, imports into an empty project, commands that edit a catalog, and refusals."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from generator.catalog import unfinished_import
from generator.errors import FlatpanelError
from tests.conftest import Site
from tests.support import author_catalogs
from tests.support.author_catalogs import FIRST, Run
from tests.support.fake_site import FakeSite, again, read, texts
from tests.support.import_project import DATABASES, FirstImports, Project, project, recorded_database
from tests.support.real_service import AFTER_EDIT, USUAL, RealService, real_service


def refused(site: Site, command: Run, *arguments: object, code: int = 1) -> str:
    """The message of a command that fails, prints nothing else, and leaves the catalog as it is."""
    before = author_catalogs.everything(site)
    result = command(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert author_catalogs.everything(site) == before
    return str(result.stderr)


def refused_import(site: FakeSite, catalog: Path, **options: Any) -> str:
    """The message of a second import that is refused, and leaves the catalog as it is."""
    before = texts(catalog)
    with pytest.raises(FlatpanelError) as caught:
        again(site, catalog, **options)
    assert texts(catalog) == before
    return str(caught.value)


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; return its output."""
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@contextmanager
def killed_after(files: int) -> Iterator[None]:
    """Let an import die before it writes one more file."""
    left, apply = [None] * files, unfinished_import._apply

    def applied(*arguments: Any) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        apply(*arguments)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(unfinished_import, "_apply", applied)
        yield


def read_import(folder: Path, file: str) -> Any:
    """A file of the catalog that was imported into a folder."""
    return read(folder / "catalog_src", file)


def split_series(catalog: Path) -> None:
    """Make the series of an imported catalog a folder with a file for each of its two chapters."""
    series = catalog / "series/one"
    (series / "chapters").mkdir(parents=True)
    head, _, tail = (catalog / "series/one.yaml").read_text().partition("\nchapters:\n")
    (series / "series.yaml").write_text(head)
    for name, text in zip("ab", tail.split("\n\n"), strict=True):
        (series / f"chapters/{name}.yaml").write_text("\n".join(line[4:] for line in text.splitlines()) + "\n")
    (catalog / "series/one.yaml").unlink()


def write_own_series(catalog: Path, id: int) -> None:
    """Add a series that the site does not have, with a chapter of this id."""
    chapters = f"[{{id: {id}, number: 1, published: 2020-01-01, pages: []}}]"
    (catalog / "series/mine.yaml").write_text(f"title: Mine\ncover: c.jpg\nchapters: {chapters}\n")


@pytest.fixture(scope="session")
def replay() -> Iterator[RealService]:
    with real_service() as service:
        yield service


@pytest.fixture(scope="session")
def first_import(replay: RealService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FirstImports]:
    with ExitStack() as stack:
        yield FirstImports(replay, tmp_path_factory.mktemp("first"), stack)


@pytest.fixture
def service(replay: RealService) -> RealService:
    """The usual site."""
    replay.reset()
    return replay


@pytest.fixture
def fresh(service: RealService, tmp_path: Path) -> Project:
    """An empty project, and the usual site."""
    return project(tmp_path / "project", service)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return recorded_database(tmp_path)


@pytest.fixture
def edited_database(tmp_path: Path) -> Path:
    """The database after the recorded edits."""
    return recorded_database(tmp_path, DATABASES[AFTER_EDIT])


@pytest.fixture
def made(tmp_path: Path) -> Project:
    """An empty project for a database without a site."""
    return project(tmp_path / "project", RealService(USUAL, "v0.9.6"))


@pytest.fixture
def ids(site: Site, run: Run) -> Callable[..., Result]:
    """Run `build.py ids` on a site whose first series has no chapters."""
    site.write(FIRST, "title: First\ncover: cover.jpg\nmodified: 2026-02-01\n")
    paths = ("--catalog", site.folder / "catalog_src", "--out", site.folder / "dist")
    return lambda *arguments: run("ids", *paths, *arguments)


@pytest.fixture
def counting(site: Site) -> Site:
    """A catalog of two series: one with the chapters 1 and 2, one with the chapter 3."""
    return author_catalogs.with_chapters(site)


@pytest.fixture
def add_views(counting: Site, run: Run) -> Callable[..., Result]:
    """Run `build.py views` with logs of these contents."""

    def command(*contents: str | bytes, json: bool = False) -> Result:
        logs = []
        for number, content in enumerate(contents):
            log = counting.folder / f"views.log.{number}"
            log.write_bytes(content if isinstance(content, bytes) else content.encode())
            logs.append(log)
        return run("views", "--catalog", counting.folder / "catalog_src", *["--json"] * json, *logs)

    return command
