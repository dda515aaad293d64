"""A project that imports the replay of the original service, or its recorded database."""

import json
import re
import shutil
import sqlite3
import time
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from generator.catalog.problems.load import load_valid
from generator.commands import cli
from tests.support import tree_snapshot
from tests.support.real_service import AFTER_EDIT, RECORDED_AT, USUAL, RealService, recorded_bytes

# The recorded databases by setting or version.
DATABASES = {USUAL: "v0.9.6/db.sqlite3", AFTER_EDIT: "v0.9.6/after-edit.sqlite3", "v0.4.5": "v0.4.5/db.sqlite3"}
# Fields of records by kind, then by key.
Entities = dict[str, dict[Any, dict[str, Any]]]
NAMED = ("authors", "artists", "groups", "members")
ENVIRONMENT = {"SOURCE_DATE_EPOCH": str(RECORDED_AT), "FLATPANEL_IMPORT_KEY": ""}


@dataclass
class FakeClock:
    """A clock that moves while something sleeps, and does not wait."""

    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return time.perf_counter() + sum(self.slept)


def invoke(*words: str) -> Result:
    """Run a command at the instant of the recording, without waiting between its requests."""
    clock = FakeClock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", clock.slept.append)
        patch.setattr(time, "monotonic", clock)
        result = CliRunner().invoke(cli.main, list(words), env=ENVIRONMENT)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@dataclass
class Project:
    """A project that imports a replayed site."""

    folder: Path
    site: RealService

    @property
    def catalog(self) -> Path:
        return self.folder / "catalog_src"

    def import_(self, *arguments: str, url: str = "") -> Result:
        """Run `import`."""
        return self.run("import", url or self.site.url, "--rate", "100", *arguments)

    def import_database(self, file: Path, *arguments: str) -> Result:
        """Run `import` with a database alone."""
        return self.run("import", "--from-database", str(file), *arguments)

    def run(self, command: str, *arguments: str) -> Result:
        catalog = () if command == "init" else ("--catalog", str(self.catalog))
        return invoke(command, *arguments, *catalog)

    def report(self, result: Result) -> str:
        """The whole report: what is printed, and the file of details that it names."""
        words = re.findall(r"[^\s:;,()]+", result.output)
        files = {path for word in words for path in (self.folder / word,) if path.is_file()}
        details = sorted(path for path in files if path.is_relative_to(self.folder) and path.suffix != ".yaml")
        return result.output + "".join(path.read_text() for path in details)

    def entities(self) -> Entities:
        """The records: references are ids, and URLs in the folder of media are paths."""
        return entities(self.catalog)

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


def entities(catalog: Path) -> Entities:
    sources = load_valid(catalog)
    assert sources.site
    media = f"{sources.site.base_url}/media/"
    lists = {name.removesuffix(".yaml"): [entry.record for entry in entries] for name, entries in sources.lists.items()}
    ids = {kind: {record.name: record.id for record in lists[kind]} for kind in NAMED}

    def plain(record: Any) -> dict[str, Any]:
        fields = json.loads(record.model_dump_json(exclude={"chapters"}).replace(media, ""))
        for kind in {"authors", "artists", "groups"} & fields.keys():
            fields[kind] = sorted(ids[kind].get(reference, reference) for reference in fields[kind])
        if "members" in fields:
            roles = [(role["member"], role["role"]) for role in fields["members"]]
            fields["members"] = sorted((ids["members"].get(member, member), role) for member, role in roles)
        return fields

    records = {kind: {record.id: plain(record) for record in lists[kind]} for kind in (*NAMED, "categories")}
    records["series"] = {series.slug: plain(series.entry.record) for series in sources.series}
    records["chapters"] = {}
    for series in sources.series:
        for chapter in (entry.record for entry in series.chapters):
            key = chapter.id or (chapter.volume, chapter.number)
            records["chapters"][series.slug, key] = plain(chapter)
    return records


def differences(here: Entities, there: Entities) -> Counter[str]:
    """The kinds and keys of records that only one side has, and the kinds and fields of other values."""
    lines: Counter[str] = Counter()
    for kind in here:
        only = here[kind].keys() ^ there[kind].keys()
        lines.update(f"{kind} {key[0] if kind == 'chapters' else key}" for key in only)
        for key in here[kind].keys() & there[kind].keys():
            one, other = here[kind][key], there[kind][key]
            lines.update(f"{kind} {name}" for name in one if one[name] != other[name])
    return lines


def project(folder: Path, site: RealService) -> Project:
    folder.mkdir(parents=True, exist_ok=True)
    return Project(folder, site)


@dataclass(frozen=True)
class Imported:
    """A finished import. Tests read its catalog, or copy it to change it."""

    project: Project
    result: Result

    @cached_property
    def entities(self) -> Entities:
        return self.project.entities()

    def copy(self, folder: Path, site: RealService) -> Project:
        """A project that continues after this import, from the same address."""
        shutil.copytree(self.project.folder, folder, symlinks=True, dirs_exist_ok=True)
        return Project(folder, site)


@dataclass
class FirstImports:
    """Imports into an empty project, each made once for all tests of a run."""

    site: RealService
    folder: Path
    # Ends with the tests.
    stack: ExitStack
    made: dict[tuple[object, ...], Imported] = field(default_factory=dict)

    def __call__(
        self,
        *arguments: str,
        setting: str = USUAL,
        version: str = "v0.9.6",
        database: str = "",
        has_site: bool = True,
    ) -> Imported:
        """Import a setting of a version, the recorded database of this name, or both."""
        key = (arguments, setting, version, database, has_site)
        if key not in self.made:
            folder = self.folder / str(len(self.made))
            before = replace(self.site)
            self.site.reset(setting, version)
            made = project(folder / "project", self.site if has_site else RealService(setting, version))
            words = ["--from-database", str(recorded_database(folder, database)), *arguments] if database else arguments
            result = made.import_(*words) if has_site else made.run("import", *words)
            assert result.exit_code == 0, result.output
            # The replay goes on with other tests.
            self.made[key] = Imported(replace(made, site=replace(made.site)), result)
            vars(self.site).update(vars(before))
            self.stack.enter_context(tree_snapshot.unchanged(made.folder))
        return self.made[key]


def recorded_database(folder: Path, name: str = DATABASES[USUAL]) -> Path:
    """Write a recorded database into a folder."""
    file = folder / name.replace("/", "-")
    file.write_bytes(recorded_bytes(f"{name}.xz"))
    return file


def change(file: Path, *statements: str) -> None:
    """Execute SQL in a database."""
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
