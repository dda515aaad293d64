"""A site of the original service, and the site that an import and a build make of it, both served."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from click.testing import Result

from generator.review.site_compare.run import CompareOptions
from generator.server_url import ServerUrl
from tests.conftest import Site, serving
from tests.support import nginx_client
from tests.support.import_project import FakeClock, Project, invoke, recorded_database
from tests.support.real_service import RECORDED_AT, USUAL, RealService, real_service


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
    """Run `compare`."""
    return invoke("compare", first, second, "--rate", "100", "--cache", str(cache), *arguments)


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
    words = ["--allow-missing-ids"]
    if database:
        words += ["--from-database", str(recorded_database(folder, f"{version}/db.sqlite3"))]
    with real_service(setting, version) as old:
        result = Project(folder, old).import_(*words)
        assert result.exit_code == 0, result.output
        with serving(Site(folder), RECORDED_AT) as web:
            yield MovedSite(old, folder, web)
