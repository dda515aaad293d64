"""A site of the original service, and the site that an import and a build make of it, both served."""

import lzma
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from generator.commands import cli
from generator.review.site_compare.run import CompareOptions
from generator.server_url import ServerUrl
from tests.conftest import Site, serving
from tests.support import nginx_client
from tests.support.real_service import RECORDED, RECORDED_AT, USUAL, RealService, real_service

ENVIRONMENT = {"SOURCE_DATE_EPOCH": str(RECORDED_AT), "FLATPANEL_IMPORT_KEY": ""}


@dataclass
class MovedSite:
    """The replay of a site, and its successor."""

    old: RealService
    folder: Path
    web: nginx_client.Web

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.web.port}"

    def compare(self, *arguments: str) -> Result:
        return compare(self.old.url, self.url, self.folder / "compared", *arguments)


def compare(first: str, second: str, cache: Path, *arguments: str) -> Result:
    """Run `compare`; its clock moves while it sleeps, without waiting."""
    return invoke("compare", first, second, "--rate", "100", "--cache", str(cache), *arguments)


@dataclass
class FakeClock:
    """A clock that moves while something sleeps, and does not wait."""

    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return time.perf_counter() + sum(self.slept)


def invoke(*words: str, environment: dict[str, str] | None = None) -> Result:
    """Run a command without waiting between its requests."""
    clock = FakeClock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", clock.slept.append)
        patch.setattr(time, "monotonic", clock)
        result = CliRunner().invoke(cli.main, list(words), env=ENVIRONMENT | (environment or {}))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def compare_options(first: str, second: str, cache: Path) -> CompareOptions:
    clock = FakeClock()
    urls = ServerUrl.of(first), ServerUrl.of(second)
    return CompareOptions(*urls, cache, RECORDED_AT, clock, clock.slept.append, rate=100)


@contextmanager
def moved_site(
    folder: Path, setting: str = USUAL, version: str = "v0.9.6", *, database: bool = False
) -> Iterator[MovedSite]:
    """Import a replayed site, with its database or without it, build the catalog and serve it."""
    # Only the database of version 0.4.5 tells the ids of chapters.
    words = ["--rate", "100", "--catalog", str(folder / "catalog_src"), "--allow-missing-ids"]
    if database:
        file = folder / "old.sqlite3"
        file.write_bytes(lzma.decompress((RECORDED / version / "db.sqlite3.xz").read_bytes()))
        words += ["--from-database", str(file)]
    with real_service(setting, version) as old:
        result = invoke("import", old.url, *words)
        assert result.exit_code == 0, result.output
        with serving(Site(folder), RECORDED_AT) as web:
            yield MovedSite(old, folder, web)
