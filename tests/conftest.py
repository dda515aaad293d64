"""Sites to test: catalogs under tests/data/sites, built once, served by a real nginx."""

import faulthandler
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import coverage
import hypothesis
import pytest
from click.testing import CliRunner, Result

from generator import encoding, filesystem
from generator.api import routes
from generator.api.payloads.resources import JSON
from generator.catalog import json_schema
from generator.commands import cli
from generator.pipeline import program_version, rollback
from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from generator.pipeline.build_result import BuildResult
from generator.release import transaction
from generator.release.manifest import Manifest
from generator.release.store import Store
from tests.support import browser, nginx_client, parts, runs, tree_snapshot
from tests.support.paths import DATA

SITES = DATA / "sites"
# The instant at which the test sites are built; every entity in them says when it was modified.
AS_OF = 1_790_000_000
# Limits for what never ends. A machine that is ten times slower stays far below them.
SECONDS_OF_A_TEST, SECONDS_OF_A_SLOW_TEST, SECONDS_OF_A_CLEAN_UP = 1200, 7200, 300
# When the files of the test sites were written, as far as a build can tell. The site itself says no other date.
WRITTEN = 1_700_000_000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--everything", action="store_true", help="run slow tests too, and all cases of those with samples"
    )
    parser.addoption(
        "--part", action="append", choices=parts.PARTS, help="run one part of the tests, or more if given again"
    )


def pytest_configure(config: pytest.Config) -> None:
    runs.everything = config.option.everything or config.option.part not in (None, [parts.COVERAGE])
    # No example has a time limit: a busy machine is no failure.
    hypothesis.settings.register_profile("flatpanel", deadline=None, max_examples=runs.examples(100))
    hypothesis.settings.load_profile("flatpanel")
    # Most of the time of a small build is for what all sites have: Swagger UI, scripts and styles.
    for name in ("deflate_piece", "etag", "sha256"):
        setattr(encoding, name, functools.lru_cache(256)(getattr(encoding, name)))
    # Each new cache reads all files of the program. Tests change copies of them only.
    own, read = program_version._PACKAGE, program_version._digest_of_contents
    read_once = functools.cache(read)
    program_version._digest_of_contents = lambda: (read_once if own == program_version._PACKAGE else read)()
    # Each import and each `init` writes the same schemas.
    json_schema.schemas = functools.cache(json_schema.schemas)
    # A forked process writes what it measures. At its end it would write all that its parent has measured, too.
    if measuring := coverage.Coverage.current():
        os.register_at_fork(after_in_child=lambda: setattr(measuring, "save", lambda: None))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import the files only that may have tests of the part: the import of all takes longer than many a part."""
    chosen = config.option.part
    if not chosen or collection_path.suffix != ".py" or any(parts.may_be_in(collection_path, part) for part in chosen):
        return None
    return True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other parts, and slow ones in the everyday run: one that names no files and markers."""
    if config.option.part:
        chosen = [any(parts.is_in(item, part) for part in config.option.part) for item in items]
    elif runs.everything or config.args != config.getini("testpaths") or config.option.markexpr:
        return
    else:
        assert not (hidden := parts.hidden(items)), f"add the kind to the text of the file: {hidden}"
        chosen = [not parts.is_slow(item) for item in items]
    config.hook.pytest_deselected(items=[item for item, is_chosen in zip(items, chosen, strict=True) if not is_chosen])
    items[:] = [item for item, is_chosen in zip(items, chosen, strict=True) if is_chosen]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """End a test that waits for ever, wherever it waits. The traceback shows the place, and its clean-up may wait too.

    faulthandler_timeout in pyproject.toml ends what no signal interrupts.
    """
    seconds = SECONDS_OF_A_SLOW_TEST if parts.is_slow(item) else SECONDS_OF_A_TEST

    def end(number: int, frame: FrameType | None) -> None:
        __tracebackhide__ = True
        waiting = [one.f_locals.get("self") for one, _ in traceback.walk_stack(frame)]
        commands = [f"; it waits for {one.args}" for one in waiting if isinstance(one, subprocess.Popen)]
        pytest.fail(f"{item.nodeid} has not ended after {seconds} seconds{''.join(commands[:1])}")

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, SECONDS_OF_A_CLEAN_UP)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def pytest_unconfigure() -> None:
    """A thread that a test has left behind must not keep the process."""
    faulthandler.dump_traceback_later(SECONDS_OF_A_CLEAN_UP, exit=True, file=sys.__stderr__)


@dataclass(frozen=True)
class Site:
    """A built catalog in a folder of its own."""

    folder: Path

    @property
    def options(self) -> Options:
        return Options(self.folder / "catalog_src", self.folder / "dist", self.folder / "nginx.conf", AS_OF)

    @property
    def store(self) -> Store:
        return Store(self.folder / "dist")

    @property
    def manifest(self) -> Manifest:
        return self.store.manifest(self.store.current())

    def write(self, path: str, text: str) -> None:
        """A file of the catalog."""
        file = self.folder / "catalog_src" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def build(self, as_of: int = AS_OF) -> BuildResult:
        return pipeline.build(Options(*self.paths, as_of))

    def roll_back(self, wanted: str | None = None, at: int = AS_OF) -> str:
        """What `rollback --reopen` does; the release that is current afterwards."""
        with transaction.begin(self.store, pytest.fail) as opened:
            found = rollback.plan(opened, wanted)
            rollback.carry_out(opened, found, at)
        return found.release

    @property
    def paths(self) -> tuple[Path, Path, Path]:
        return self.folder / "catalog_src", self.folder / "dist", self.folder / "nginx.conf"


# What the fixture `serve` gives: a test site by name, built and served.
Serve = Callable[[str], tuple[Site, nginx_client.Web]]


def copy_of(name: str, folder: Path) -> Site:
    """The test site `name`, not built yet."""
    shutil.copytree(SITES / name, folder / "catalog_src")
    date(folder)
    return Site(folder)


def date(folder: Path) -> None:
    """Nothing of a catalog may depend on when it was checked out."""
    for path in (folder / "catalog_src").rglob("*"):
        os.utime(path, (WRITTEN, WRITTEN))


@contextmanager
def serving(site: Site, as_of: int = AS_OF) -> Iterator[nginx_client.Web]:
    """Build a site that a test has written, for a free port, and serve it."""
    with nginx_client.listening() as listener:
        settings = site.folder / "catalog_src/site.yaml"
        text = re.sub("^port: .*\n", "", settings.read_text(encoding="utf-8"), flags=re.MULTILINE)
        settings.write_text(f"{text}port: {listener.getsockname()[1]}\n", encoding="utf-8")
        date(site.folder)
        site.build(as_of)
        with nginx_client.running(site.folder, listener) as web:
            yield web


def without_help(said: str) -> str:
    """Problems in one line each, without the lines below them that explain."""
    return "".join(line for line in said.splitlines(keepends=True) if not line.startswith(" "))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A small catalog of two series that a test may change."""
    return copy_of("minimal", tmp_path)


@pytest.fixture
def without_sync_and_docs(monkeypatch: pytest.MonkeyPatch) -> None:
    """For hundreds of builds: no fsync, and no two megabytes of Swagger UI."""
    monkeypatch.setattr(transaction, "sync_filesystem", lambda root: None)
    for module in (filesystem, transaction, transaction):
        monkeypatch.setattr(module, "sync", lambda folder: None)
    monkeypatch.setattr(routes, "ROUTES", tuple(one for one in routes.ROUTES if one.type == JSON))


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """A test site by name, built and served; each is started once."""
    started: dict[str, tuple[Site, nginx_client.Web]] = {}
    with ExitStack() as stack:

        def start(name: str) -> tuple[Site, nginx_client.Web]:
            if name not in started:
                made = copy_of(name, tmp_path_factory.mktemp(name))
                started[name] = made, stack.enter_context(serving(made))
                stack.enter_context(tree_snapshot.unchanged(made.folder))
            return started[name]

        yield start
        # No request of a test may cause an error in the log.
        assert [line for _, server in started.values() for line in server.complaints()] == []


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    """One browser for all tests; each opens tabs of its own."""
    with browser.running(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="session")
def run() -> Callable[..., Result]:
    """The command line, in this process; a traceback is a failure of the test."""

    def invoke(*arguments: object, input: str | None = None, **environment: str) -> Result:
        words = [str(one) for one in arguments]
        result = CliRunner().invoke(cli.main, words, input=input, env=environment, prog_name="python build.py")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke
