"""Files that `import --from-database` gets: it never writes beside them, and refuses a wrong one in one line."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from generator.errors import FlatpanelError
from generator.imports.database import source, sqlite_file, tables
from tests.support.import_project import Project, change
from tests.support.real_service import recorded_bytes


def refused(made: Project, file: Path) -> str:
    """The message of an import; nothing is written."""
    result = made.import_database(file)

    assert result.exit_code == 1
    assert made.files() == {}
    (line,) = result.output.splitlines()
    return line.replace(str(file), "FILE")


def read(file: Path) -> list[dict[str, Any]]:
    """The series of a database, as an import reads them."""
    with source.opened(file) as tables:
        return list(tables.rows("reader_series"))


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_file_is_only_read(mode: str, database: Path) -> None:
    """SQLite creates `-wal` and `-shm` beside a file, even to read it, unless it is told that the file is immutable."""
    change(database, f"PRAGMA journal_mode = {mode}")
    folder = database.parent / "with # and ? and %20"
    folder.mkdir()
    file = database.rename(folder / database.name)
    before = file.read_bytes()

    assert read(file)
    assert {path: path.read_bytes() for path in folder.iterdir()} == {file: before}


def test_file_with_changes_in_a_wal_file_is_refused(made: Project, database: Path) -> None:
    """A copy would lack the changes. The command that the message names makes a complete one."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("UPDATE reader_series SET title = 'Later'")
        connection.commit()
        copy = database.with_name("copy of db.sqlite3")
        shutil.copy(database, copy)
        shutil.copy(f"{database}-wal", f"{copy}-wal")
    link = database.with_name("link")
    link.symlink_to(copy)

    assert refused(made, copy) == (
        "FILE: its last changes are only in copy of db.sqlite3-wal; make a complete copy with "
        "`sqlite3 'FILE' '.backup copy of db-copy.sqlite3'` and import that"
    )
    assert "its last changes are only in" in refused(made, link)
    # An empty one is left by a program that ended in order.
    Path(f"{copy}-wal").write_bytes(b"")
    assert read(copy)


def test_file_with_a_rollback_journal_is_refused(made: Project, database: Path) -> None:
    """A change was interrupted, or goes on now. A journal that is left over has no header."""
    journal = Path(f"{database}-journal")
    journal.write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(504))

    assert refused(made, database).startswith("FILE: its last changes are only in v0.9.6-db.sqlite3-journal; ")
    journal.write_bytes(bytes(512))
    assert read(database)


def damaged(file: Path) -> None:
    text = file.read_bytes()
    file.write_bytes(text[:100] + bytes(5) + text[105:])


def of_release_0_5(file: Path) -> None:
    file.write_bytes(recorded_bytes("v0.4.5/db.sqlite3.xz"))
    change(file, "ALTER TABLE reader_series ADD COLUMN id integer")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda file: file.write_bytes(b""), "the file is empty; copy it again"),
        (lambda file: file.write_text("no database\n"), "neither an SQLite file nor the JSON of dumpdata"),
        (lambda file: file.write_bytes(file.read_bytes()[:-5000]), "incomplete: it has 617592 of 622592 bytes; copy"),
        (lambda file: file.write_bytes(file.read_bytes()[:60]), "incomplete: it has 60 of 100 bytes; copy it again"),
        (damaged, "SQLite cannot read the file: database disk image is malformed; make a complete copy with `sqlite3 "),
        ("DROP TABLE reader_page", "not a database of MangAdventure: it has no table reader_page"),
        ("DROP TABLE reader_alias", "a database of MangAdventure, but not of version 0.4.5 or 0.9.6: it has none of"),
        (of_release_0_5, "but not of version 0.9.6: it has no column status in the table reader_series; update the"),
        ("ALTER TABLE reader_series DROP COLUMN licensed", "it has no column licensed in the table reader_series"),
        ("DROP TABLE django_redirect", "but not of version 0.9.6: it has no table django_redirect; update the old"),
    ],
)
def test_wrong_file_is_refused_in_one_line(
    edit: str | Callable[[Path], object], message: str, made: Project, database: Path
) -> None:
    """The line names the file, the fault and the fix."""
    change(database, edit) if isinstance(edit, str) else edit(database)

    line = refused(made, database)
    assert line.startswith("FILE: ")
    assert message in line


# Schemas that are programs


def endless(file: Path, *statements: str) -> None:
    """Put a view that never ends in the place of the other names of series."""
    change(
        file,
        "DROP TABLE reader_alias",
        "CREATE VIEW endless (id, object_id, content_type_id, name) AS WITH RECURSIVE n(i) AS "
        "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i, 1, 'x' FROM n",
        "PRAGMA writable_schema = on",
        *statements,
    )


SEARCH = "CREATE VIRTUAL TABLE reader_alias USING fts5(id, object_id, content_type_id, name, content='endless')"
VIEW = "CREATE VIEW reader_alias AS SELECT * FROM endless"
# SQLite believes the statement of an entry, not its type.
FALSE_TYPE = "UPDATE sqlite_master SET type = 'table' WHERE name = 'reader_alias'"
GENERATED = (
    "ALTER TABLE reader_series RENAME description TO text",
    "ALTER TABLE reader_series ADD COLUMN description TEXT AS (printf('%.*c', 900000000, 'x')) VIRTUAL",
)
LONG_ROW = "UPDATE reader_series SET title = CAST(zeroblob(5000000) AS TEXT) WHERE id = 3"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda file: endless(file, SEARCH), "it has none of the tables reader_alias"),
        (lambda file: endless(file, VIEW), "it has none of the tables reader_alias"),
        (lambda file: endless(file, VIEW, FALSE_TYPE), "malformed database schema (reader_alias)"),
        (lambda file: change(file, *GENERATED), "it has no column description in the table reader_series"),
        (lambda file: change(file, LONG_ROW), "a row has more than 4 MiB; shorten its text"),
    ],
)
def test_only_plain_tables_are_read(
    edit: Callable[[Path], object], message: str, made: Project, database: Path
) -> None:
    """Others have rows that an expression makes, of any number and length."""
    edit(database)

    assert message in refused(made, database)


def test_tables_with_any_other_name_are_ignored(made: Project, database: Path) -> None:
    """A name may be no UTF-8; SQLite quotes it in a message if the schema is malformed as well."""
    sql = "CAST(CAST('CREATE TABLE \"' AS BLOB) || x'ff' || CAST('\" (a)' AS BLOB) AS TEXT)"
    change(
        database,
        "CREATE TABLE other (a)",
        "PRAGMA writable_schema = on",
        f"UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT), sql = {sql} WHERE name = 'other'",
    )
    assert "its schema is malformed, and has a name that is not UTF-8" in refused(made, database)
    change(database, "PRAGMA writable_schema = on", "UPDATE sqlite_master SET tbl_name = name WHERE tbl_name = 'other'")

    assert read(database)


@pytest.mark.parametrize(
    ("limit", "most", "message"),
    [
        ("_MAX_STEPS", 1000, "SQLite cannot read the file: interrupted"),
        ("MAX_MEMORY", 4 << 20, "its rows take more than 4 MiB of memory"),
    ],
)
def test_work_and_rows_are_bounded(
    limit: str, most: int, message: str, made: Project, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged table may have more rows than its file has bytes."""
    monkeypatch.setattr(sqlite_file, "_STEP", 100)
    monkeypatch.setattr(tables if limit == "MAX_MEMORY" else sqlite_file, limit, most)
    if limit == "MAX_MEMORY":
        values = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40000) SELECT 'x', 1, 1 FROM n"
        change(database, f"INSERT INTO reader_page (image, number, chapter_id) {values}")

    assert message in refused(made, database)


def test_file_that_is_missing_or_a_folder_is_wrong_usage(made: Project, tmp_path: Path) -> None:
    """As every option with a wrong value."""
    for file in (tmp_path, tmp_path / "none"):
        assert made.import_database(file).exit_code == 2


def test_file_that_changes_while_it_is_read_is_refused(database: Path) -> None:
    """The service still runs; what was read may be half of a change."""
    fault = "changed while it was read; make a complete copy with"
    with pytest.raises(FlatpanelError, match=fault), source.opened(database) as tables:
        assert list(tables.rows("reader_series"))
        change(database, "UPDATE reader_series SET title = 'Later'")

    def overwrite() -> None:
        with sqlite_file.opened(database) as tables:
            rows = tables.rows("reader_page")
            next(rows)
            database.write_bytes(database.read_bytes()[:4096] + bytes(600_000))
            list(rows)

    with pytest.raises(FlatpanelError, match="changed while it was read"):
        overwrite()


def test_wal_file_that_appears_while_the_file_is_read_is_refused(database: Path) -> None:
    """The file itself does not change until the next checkpoint."""
    with pytest.raises(FlatpanelError, match="its last changes are only in"), source.opened(database):
        Path(f"{database}-wal").write_bytes(b"changes")


def test_file_without_a_valid_count_of_pages_is_read(database: Path) -> None:
    """Versions of SQLite before 3.7 do not write it, so two counters in the header differ."""
    text = database.read_bytes()
    database.write_bytes(text[:24] + bytes(4) + text[28:])

    assert read(database)
