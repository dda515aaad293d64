"""Recorded migrations: the catalog, the report and the exit code of each are in a file of `tests/data/imports/`.

A file has the exit code and the counts of each import of a migration, its notes in the order of the alphabet, and the
SHA-256 of each catalog file. Accept other results with UPDATE_GOLDEN=1.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import Result

from tests.support.import_project import DATABASES, FirstImports, Imported, Project, recorded_database
from tests.support.paths import DATA
from tests.support.real_service import (
    AFTER_EDIT,
    BAD_FORMAT,
    BIG_NUMBER,
    CDNS,
    CONTROL_CHARACTER,
    USUAL,
    V1_OFF,
    RealService,
    recorded_bytes,
)
from tests.support.runs import sample

GOLDEN = DATA / "imports"
OLD_RELEASES = [(version, setting) for version in ("v0.8.5", "v0.8.0") for setting in (USUAL, V1_OFF)]
SETTINGS = [("v0.9.6", setting) for setting in (*CDNS, "HTTPS=off", BIG_NUMBER, BAD_FORMAT, CONTROL_CHARACTER)]
SITES = [("v0.9.6", USUAL), ("v0.9.6", V1_OFF), ("v0.9.6", AFTER_EDIT), ("v0.4.5", USUAL)]
SITES += sample([*OLD_RELEASES, *SETTINGS], 3)
WITHOUT_IDS = "--allow-missing-ids"
ACCOUNTS = ("--accounts", "--personal-data")


def notes(made: Project, result: Result) -> Iterator[str]:
    """Yield a line for each group of the report, with its notes in the order of the alphabet."""
    _, *groups = made.report(result).removeprefix(result.output).split("\n\n")
    for heading, *notes in map(str.splitlines, groups):
        sentence = re.sub(r" \([0-9]+\)$", "", heading)
        places = sorted(note.strip().removesuffix(f": {sentence}") for note in notes)
        if not heading.startswith("files ("):
            yield ": ".join([heading, *filter(None, [", ".join(places)])])


def portable(made: Project, text: str) -> str:
    """Replace the addresses and folders of this run."""
    address = f"127.0.0.1:{made.site.port}"
    names = {made.site.url: "SITE", address: "SITE", quote(address, safe=""): "SITE"}
    for name, placeholder in ({str(made.folder): "PROJECT"} | names).items():
        text = text.replace(name, placeholder)
    return re.sub(r"/\S*pytest-of-\S*/", "FOLDER/", text)


def golden(name: str, made: Project, results: Iterable[Result]) -> None:
    """Compare a migration with its golden file, or write it. The report of an import is read before the next import.

    It has exit code, counts and notes of each import, the whole output of one that failed, and the digests of files.
    """
    lines: list[str] = []
    for result in results:
        output = result.output.splitlines()
        counts = [line for line in output if re.search("added [0-9]+ series|^removed|requests; wrote", line)]
        shown = [*counts, *sorted(notes(made, result))] if result.exit_code == 0 else output
        lines += [f"exit code {result.exit_code}", *(portable(made, line) for line in shown), ""]
    for file, text in made.files().items():
        content = portable(made, text.decode()).encode()
        lines.append(f"{hashlib.sha256(content).hexdigest()}  {file}")
    written = "".join(f"{line}\n" for line in lines)
    path = GOLDEN / f"{re.sub('[^a-z0-9.]+', '-', name.lower()).strip('-')}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(written)
    assert written == path.read_text()


def first(made: Imported, name: str) -> None:
    golden(name, made.project, [made.result])


@pytest.mark.parametrize(("version", "setting"), SITES)
def test_import_of_a_site(version: str, setting: str, first_import: FirstImports) -> None:
    """Each release and each setting; only release 0.4.5 has no ids in any response."""
    options = [WITHOUT_IDS] if version == "v0.4.5" else []
    first(first_import(*options, setting=setting, version=version), f"site {version} {setting}")


@pytest.mark.parametrize("name", DATABASES)
def test_import_of_a_database(name: str, first_import: FirstImports) -> None:
    """Both versions, without a site."""
    version = "v0.4.5" if name == "v0.4.5" else "v0.9.6"
    first(first_import(database=DATABASES[name], has_site=False, version=version), f"database {name}")


def test_import_of_accounts(first_import: FirstImports) -> None:
    """The catalog has no key, only digests."""
    first(first_import(*ACCOUNTS, database=DATABASES[USUAL], has_site=False), "database accounts")


@pytest.mark.parametrize(("version", "setting"), [("v0.9.6", USUAL), ("v0.9.6", V1_OFF), ("v0.4.5", USUAL)])
def test_import_of_a_site_with_its_database(version: str, setting: str, first_import: FirstImports) -> None:
    """Each fact comes from the better source."""
    database = DATABASES["v0.4.5" if version == "v0.4.5" else USUAL]
    first(first_import(setting=setting, version=version, database=database), f"site and database {version} {setting}")


def test_import_of_a_dump(tmp_path: Path) -> None:
    """The catalog is that of the SQLite file."""
    made = Project(tmp_path, RealService(USUAL, "v0.9.6"))
    (tmp_path / "dump.json").write_bytes(recorded_bytes("v0.9.6/dumpdata.json.xz"))
    golden("dump", made, [made.import_database(tmp_path / "dump.json", *ACCOUNTS)])


# Second imports, each from a copy of a first one


def edit(made: Project) -> None:
    """Change three fields, two of which the recorded edits change as well, and remove an entry."""
    made.edit("series/kiln-sisters.yaml", "title: Kiln Sisters", "title: The Kiln Sisters  # ours")
    made.edit("series/kiln-sisters.yaml", "description: Two kilns, three sisters.", "description: Three sisters.")
    made.edit("groups.yaml", "name: Ostrich Lamp", "name: Our Lamp")
    for file in (made.catalog / "series").glob("*.yaml"):
        file.write_text(file.read_text().replace("Ostrich Lamp", "Our Lamp"))
    (made.catalog / "series/the-unwritten-almanac.yaml").unlink()


@pytest.mark.end_to_end
@pytest.mark.parametrize("options", [(), ("--remove",), ("--mine",), ("--theirs", "--remove")])
def test_second_import_of_a_site(
    options: tuple[str, ...], first_import: FirstImports, service: RealService, tmp_path: Path
) -> None:
    """The site and people have changed the same fields and others; a third import shows what is left."""
    made = first_import().copy(tmp_path / "project", service)
    edit(made)
    made.site.edit()
    golden(f"second site {' '.join(options)}", made, (made.import_(*words) for words in (options, ())))


@pytest.mark.parametrize("options", [(), ("--theirs", "--remove", *ACCOUNTS)])
def test_second_import_of_a_database(
    options: tuple[str, ...], first_import: FirstImports, edited_database: Path, tmp_path: Path
) -> None:
    """Accounts are new in a catalog that has been imported without them."""
    of_database = first_import(database=DATABASES[USUAL], has_site=False)
    made = of_database.copy(tmp_path / "project", of_database.project.site)
    edit(made)
    results = (made.import_database(edited_database, *words) for words in (options, ()))
    golden(f"second database {' '.join(options[:2])}", made, results)


def test_sources_in_turns(
    first_import: FirstImports, service: RealService, edited_database: Path, tmp_path: Path
) -> None:
    """The database, the site, both after edits of both sides, and the site again."""
    made = first_import(database=DATABASES[USUAL], has_site=False).copy(tmp_path / "project", service)

    def results() -> Iterator[Result]:
        yield made.import_()
        edit(made)
        service.edit()
        yield made.import_("--from-database", str(recorded_database(tmp_path)))
        yield made.import_("--from-database", str(edited_database), "--remove")
        yield made.import_()

    golden("sources in turns", made, results())


# Interruptions and refusals


def test_import_without_ids_is_refused(service: RealService, tmp_path: Path) -> None:
    """An app recognises a chapter by its id."""
    service.reset(USUAL, "v0.4.5")
    made = Project(tmp_path, service)
    golden("without ids", made, [made.import_()])
