"""A project that imports the replay of the original service, or its recorded database."""

import lzma
import re
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from generator import cli
from tests.support.real_database import Entities, differences, explained, faults, imported, real_database
from tests.support.real_service import RECORDED, RECORDED_AT, RealService

ENVIRONMENT = {"SOURCE_DATE_EPOCH": str(RECORDED_AT), "FLATPANEL_IMPORT_KEY": ""}


@dataclass
class Project:
    """A project that imports a replayed site."""

    folder: Path
    site: RealService
    slept: list[float] = field(default_factory=list)

    @property
    def catalog(self) -> Path:
        return self.folder / "catalog_src"

    def import_(self, *arguments: str, url: str = "") -> Result:
        """Run `import`; its clock moves while it sleeps, without waiting."""
        return self.run("import", url or self.site.url, "--rate", "100", *arguments)

    def import_database(self, file: Path, *arguments: str) -> Result:
        """Run `import` with a database alone."""
        return self.run("import", "--from-database", str(file), *arguments)

    def run(self, command: str, *arguments: str) -> Result:
        catalog = () if command == "init" else ("--catalog", str(self.catalog))
        clock = time.monotonic
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "sleep", self.slept.append)
            patch.setattr(time, "monotonic", lambda: clock() + sum(self.slept))
            result = CliRunner().invoke(cli.main, [command, *arguments, *catalog], env=ENVIRONMENT)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def report(self, result: Result) -> str:
        """The whole report: what is printed, and the file of details that it names."""
        words = re.findall(r"[^\s:;,()]+", result.output)
        files = {path for word in words for path in (self.folder / word,) if path.is_file()}
        details = sorted(path for path in files if path.is_relative_to(self.folder) and path.suffix != ".yaml")
        return result.output + "".join(path.read_text() for path in details)

    def entities(self) -> Entities:
        return imported(self.catalog, self.media)

    @property
    def media(self) -> str:
        return f"{self.site.url}/media/"

    def faults(self, setting: str, version: str = "v0.9.6", media: str = "") -> list[str]:
        """Differences from the database that have no reason."""
        with real_database(setting, version) as database:
            return faults(differences(self.catalog, database, setting, media=media or self.media))

    def explained(self, setting: str, version: str = "v0.9.6", media: str = "") -> list[str]:
        with real_database(setting, version) as database:
            return explained(differences(self.catalog, database, setting, media=media or self.media))

    def text(self, file: str) -> str:
        return (self.catalog / file).read_text()

    def edit(self, file: str, before: str, after: str) -> None:
        text = self.text(file)
        assert text.count(before) == 1, (file, before)
        (self.catalog / file).write_text(text.replace(before, after))

    def files(self) -> dict[str, bytes]:
        """The text of each file of the catalog."""
        paths = sorted(self.catalog.rglob("*.yaml"))
        return {str(path.relative_to(self.catalog)): path.read_bytes() for path in paths}


def project(folder: Path, site: RealService) -> Project:
    folder.mkdir(parents=True, exist_ok=True)
    return Project(folder, site)


def recorded_database(folder: Path, name: str = "v0.9.6/db.sqlite3") -> Path:
    """Write a recorded database into a folder."""
    file = folder / name.replace("/", "-")
    file.write_bytes(lzma.decompress((RECORDED / f"{name}.xz").read_bytes()))
    return file


def change(file: Path, *statements: str) -> None:
    """Execute SQL in a database."""
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
