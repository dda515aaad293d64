"""Interrupted writing of an import: `check` and `build` refuse the catalog, and the next import writes the rest."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from generator.catalog import confined_folder, snapshot, unfinished_import
from generator.catalog.unfinished_import import JOURNAL
from generator.commands import cli
from tests.authoring.conftest import killed_after
from tests.conftest import Site

URL = "https://comics.example"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site(tmp_path)
    (tmp_path / "catalog_src/series").mkdir(parents=True)
    site.write("site.yaml", f"base_url: {URL}\n")
    return site


def catalog(site: Site) -> Path:
    return site.folder / "catalog_src"


def names(site: Site) -> list[str]:
    return sorted(path.name for path in catalog(site).iterdir())


def interrupt(site: Site, count: int) -> None:
    """Write files, and die before the one after `count`."""
    with killed_after(count):
        unfinished_import.write(catalog(site), FILES)
    assert (catalog(site) / JOURNAL).stat().st_mode & 0o777 == 0o600


FILES: dict[str, bytes | None] = {
    "authors.yaml": b"- {id: 1, name: New}\n",
    "artists.yaml": b"- {id: 1, name: \xc3\xbc}\n",
    "series/old/series.yaml": None,
    "series/old/chapters/1.yaml": None,
}


@pytest.mark.parametrize("count", range(4))
def test_interrupted_import_is_finished(count: int, site: Site) -> None:
    """The journal has the rest; the folder of a removed series goes, too."""
    site.write("authors.yaml", "- {id: 1, name: Old}\n")
    site.write("series/old/series.yaml", "title: Old\ncover: c.png\n")
    site.write("series/old/chapters/1.yaml", "{number: 1, published: 2024-01-01, pages: [1.png]}\n")
    interrupt(site, count)
    unfinished_import.finish(catalog(site))

    assert names(site) == ["artists.yaml", "authors.yaml", "series", "site.yaml"]
    assert list((catalog(site) / "series").iterdir()) == []
    assert (catalog(site) / "authors.yaml").read_bytes() == FILES["authors.yaml"]
    assert (catalog(site) / "artists.yaml").read_bytes() == FILES["artists.yaml"]


def test_files_that_people_edited_since_are_kept(site: Site) -> None:
    """The next import compares them with the site."""
    interrupt(site, 0)
    site.write("authors.yaml", "- {id: 1, name: Ours}\n")
    unfinished_import.finish(catalog(site))

    assert (catalog(site) / "authors.yaml").read_text() == "- {id: 1, name: Ours}\n"
    assert (catalog(site) / "artists.yaml").read_bytes() == FILES["artists.yaml"]


def test_import_without_changes_leaves_no_journal(site: Site) -> None:
    """Nor does one that ends."""
    unfinished_import.write(catalog(site), {})
    unfinished_import.write(catalog(site), {"authors.yaml": b"- {id: 1, name: A}\n"})

    assert names(site) == ["authors.yaml", "series", "site.yaml"]


@pytest.mark.parametrize("command", ["check", "build"])
def test_unfinished_import_is_refused(command: str, site: Site) -> None:
    """Also where no file has changed since the last build.

    A repository of another person may contain a journal, and a message with a command that sends a secret file.
    """
    site.build()
    site.write(JOURNAL, journal("authors.yaml", arguments=["--key-file", "../secret", "https://evil.example"]))
    catalog_folder, out, conf = map(str, site.paths)
    words = [command, "--catalog", catalog_folder]
    result = CliRunner().invoke(cli.main, words if command == "check" else [*words, "--out", out, "--nginx", conf])

    assert result.exit_code == 1
    advice = f"run the same import again, or remove {catalog_folder}/{JOURNAL} if you started none"
    assert result.output == f"{catalog_folder}: an import is unfinished; {advice}\n"


@pytest.mark.parametrize(
    ("start", "value", "end"), [("[", "{}", "]"), ('{"files":{"a.yaml":["",[', "[]", "]]}}")], ids=["list", "files"]
)
def test_huge_journal_needs_little_memory(start: str, value: str, end: str, site: Site) -> None:
    """Commands only see that it exists; the next import makes no values of a line that no import has written."""
    site.write(JOURNAL, start + f"{value}," * (8 << 20) + value + end)
    code = (
        "import re, sys; from pathlib import Path; from generator.catalog import unfinished_import as journal\n"
        "try: journal.refuse(Path(sys.argv[1]))\n"
        "except journal.FlatpanelError: journal.finish(Path(sys.argv[1]))\n"
        # The maximum of `resource` includes that of the process that started this one.
        "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    kilobytes = subprocess.run([sys.executable, "-c", code, catalog(site)], capture_output=True, check=True).stdout

    assert int(kilobytes) < 200_000
    assert not (catalog(site) / JOURNAL).exists()


def journal(file: str, **more: object) -> str:
    return json.dumps({**more, "files": {file: ["", "text"]}}, separators=(",", ":"))


@pytest.mark.parametrize(
    "text",
    ["no JSON", '{"files":{"a.yaml":1}}', '{"files":{"a.yaml":["","\\u0100"]}}', '{"files":{"\\x":["",null]}}'],
)
def test_damaged_journal_is_dropped(text: str, site: Site) -> None:
    """It names no file to write."""
    site.write(JOURNAL, text)
    unfinished_import.finish(catalog(site))

    assert names(site) == ["series", "site.yaml"]


@pytest.mark.parametrize("file", ["../up.yaml", ".git/config.yaml", "notes.txt", "series//x.yaml", "/x.yaml"])
def test_journal_names_catalog_files_only(file: str, site: Site) -> None:
    """A repository of another person may contain a journal."""
    site.write(JOURNAL, f"{journal(file)}\n{journal('authors.yaml')}")
    unfinished_import.finish(catalog(site))

    assert names(site) == ["authors.yaml", "series", "site.yaml"]
    assert not (site.folder / "up.yaml").exists()


def test_journal_of_version_1_0_is_finished(site: Site) -> None:
    """Its lines also have the arguments of the import."""
    site.write(JOURNAL, journal("authors.yaml", arguments=["--from-database", 'my "copy".sqlite3']))
    unfinished_import.finish(catalog(site))

    assert (catalog(site) / "authors.yaml").read_text() == "text"


def test_fingerprint_of_a_catalog_includes_the_journal(site: Site) -> None:
    """`serve --watch` builds again when the import has ended."""
    before = snapshot.take(catalog(site))
    site.write(JOURNAL, "{}")

    assert snapshot.take(catalog(site)) != before


def test_folder_with_other_files_is_kept(site: Site) -> None:
    """Removing a file twice does nothing."""
    site.write("series/one/series.yaml", "")
    site.write("series/one/notes.txt", "")
    folder = confined_folder.of(catalog(site))
    folder.delete("series/one/series.yaml")
    folder.delete("series/one/series.yaml")

    assert [path.name for path in (catalog(site) / "series/one").iterdir()] == ["notes.txt"]
