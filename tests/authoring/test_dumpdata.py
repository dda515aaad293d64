"""The JSON of `dumpdata` gives the same tables as the SQLite file, with or without natural keys."""

import gzip
import json
import lzma
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from generator.errors import FlatpanelError
from generator.imports import spilled
from generator.imports.database import dumpdata, source, tables
from generator.imports.database.tables import TABLES
from tests.support.documents import DOCUMENTS
from tests.support.import_project import recorded_database
from tests.support.real_service import recorded_bytes

Item = dict[str, Any]
Edit = Callable[[list[Item]], list[Item]]
COMMAND = "python manage.py dumpdata reader groups users auth.user contenttypes redirects sites --output dump.json"
# The fields that refer to other objects by natural keys, with the model of these.
REFERENCES = {"user": "auth.user", "manager": "auth.user", "content_type": "contenttypes.contenttype"}


@pytest.fixture(scope="session")
def recorded() -> list[Item]:
    return list(json.loads(recorded_bytes("v0.9.6/dumpdata.json.xz")))


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return rows(recorded_database(tmp_path_factory.mktemp("database")))


def rows(path: Path) -> dict[str, list[str]]:
    """The rows of all tables, each as text, in one order."""
    with source.opened(path) as tables:
        names = TABLES[tables.version]
        return {name: sorted(repr(sorted(row.items())) for row in tables.rows(name)) for name in names}


def natural(items: list[Item], *, primary: bool) -> list[Item]:
    """The same dump with `--natural-foreign`, and with `--natural-primary`."""
    names = {"auth.user": ("username",), "contenttypes.contenttype": ("app_label", "model")}
    keys = {
        (item["model"], item["pk"]): [item["fields"][name] for name in names[item["model"]]]
        for item in items
        if item["model"] in names
    }
    dumped = []
    for item in items:
        fields = {
            name: keys.get((REFERENCES.get(name), value), value) if isinstance(value, int) else value
            for name, value in item["fields"].items()
        }
        has_natural = primary and item["model"] in (*names, "sites.site")
        dumped.append({"model": item["model"], **({} if has_natural else {"pk": item["pk"]}), "fields": fields})
    return dumped


def without(*models: str) -> Edit:
    """Remove all objects of some models."""
    return lambda items: [item for item in items if not item["model"].startswith(models)]


def changed(model: str, change: Callable[[Item], Any]) -> Edit:
    """Change every object of a model."""

    def edit(items: list[Item]) -> list[Item]:
        copies: list[Item] = json.loads(json.dumps(items))
        for item in copies:
            if item["model"] == model:
                change(item)
        return copies

    return edit


def text(items: object) -> bytes:
    return json.dumps(items).encode()


def unescaped(items: list[Item]) -> str:
    return json.dumps(items, ensure_ascii=False)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return tmp_path / "dump.json"


def refusal(file: Path, content: bytes) -> str:
    """The message for a file with this content, without its path."""
    file.write_bytes(content)
    with pytest.raises(FlatpanelError) as error, source.opened(file):
        pass
    path, _, message = str(error.value).partition(": ")
    assert path == str(file)
    return message


FORMS: dict[str, Callable[[list[Item]], bytes]] = {
    "recorded": text,
    "natural foreign keys": lambda items: text(natural(items, primary=False)),
    "natural keys": lambda items: text(natural(items, primary=True)),
    "another order": lambda items: text(natural(items, primary=False)[::-1]),
    "indented": lambda items: json.dumps(items, indent=2).encode(),
    "byte order mark": lambda items: b"\xef\xbb\xbf" + unescaped(items).encode(),
    "UTF-16 of PowerShell": lambda items: (unescaped(items) + "\r\n").encode("utf-16"),
    "UTF-16, big end first": lambda items: b"\xfe\xff" + unescaped(items).encode("utf-16-be"),
    "UTF-16 without a mark": lambda items: unescaped(items).encode("utf-16-le"),
    "big end first without a mark": lambda items: unescaped(items).encode("utf-16-be"),
    "gzip": lambda items: gzip.compress(text(items)),
    "xz": lambda items: lzma.compress(b" \n" + text(items)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_dump_has_the_tables_of_the_sqlite_file(
    tmp_path: Path,
    recorded: list[Item],
    expected: dict[str, list[str]],
    form: Callable[[list[Item]], bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The content of a file decides how it is read, and not its name. Rows of pages are in several blocks."""
    monkeypatch.setattr(spilled, "_ROWS", 100)
    path = tmp_path / "db.sqlite3"
    path.write_bytes(form(recorded))

    assert rows(path) == expected


def test_natural_keys_need_no_content_types(dump: Path, recorded: list[Item]) -> None:
    """Each alias has its content type by name."""

    def aliases(items: list[Item]) -> list[tuple[object, ...]]:
        dump.write_bytes(text(items))
        with source.opened(dump) as tables:
            types = {row["id"]: row["model"] for row in tables.rows("django_content_type")}
            rows = tables.rows("reader_alias")
            return [(row["id"], row["object_id"], types[row["content_type_id"]]) for row in rows]

    assert aliases(without("contenttypes")(natural(recorded, primary=False))) == aliases(recorded)


def test_small_parts_of_the_text_give_the_same_objects(
    dump: Path, recorded: list[Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects, strings and escapes may be in two parts."""
    dump.write_text(json.dumps(recorded[-60:], indent=1) + "\n\n")
    for size in (1, 2, 7, 97):
        monkeypatch.setattr(dumpdata, "_CHUNK", size)

        assert list(dumpdata.json_objects(dump, 1 << 20)) == recorded[-60:]


def test_memory_for_other_models_is_bounded(dump: Path) -> None:
    """Sessions and logs of a site can be most of its dump."""
    entry = {"model": "sessions.session", "pk": "k", "fields": {"data": "x" * 10_000}}
    dump.write_text(f"[{','.join([json.dumps(entry)] * 4000)}]")
    tracemalloc.start()
    count = sum(1 for _ in dumpdata.json_objects(dump, 1 << 30))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (count, peak < 10 << 20 < dump.stat().st_size) == (4000, True)


def test_dump_of_version_0_4_5(dump: Path) -> None:
    """The slug of a series is its key, and aliases are models of their own."""
    series = {"title": "One", "description": "", "cover": "", "completed": True, "modified": "2020-01-01T00:00:00Z"}
    chapter = {"title": "", "number": 1.5, "volume": 0, "series": "one", "final": False, "groups": [3]}
    dates = {"uploaded": "2020-01-02T00:00:00.123Z", "modified": "2020-01-02T00:00:00+01:00"}
    items = [
        {"model": "reader.series", "pk": "one", "fields": {**series, "authors": [1], "artists": [], "categories": []}},
        {"model": "reader.seriesalias", "pk": 4, "fields": {"series": "one", "alias": "Uno"}},
        {"model": "reader.chapter", "pk": 2, "fields": chapter | dates},
        {"model": "groups.group", "pk": 3, "fields": dict.fromkeys(TABLES["0.4.5"]["groups_group"], "x")},
    ]
    dump.write_bytes(text(items))
    with source.opened(dump) as tables:
        assert tables.version == "0.4.5"
        assert [row["slug"] for row in tables.rows("reader_series")] == ["one"]
        assert list(tables.rows("reader_series_authors")) == [{"author_id": 1, "series_id": "one"}]
        assert list(tables.rows("reader_seriesalias")) == [{"id": 4, "series_id": "one", "alias": "Uno"}]
        (chapter_row,) = tables.rows("reader_chapter")
        assert (chapter_row["number"], chapter_row["uploaded"]) == ("1.5", 1577923200)
        assert list(tables.rows("django_redirect")) == []


def test_dump_of_release_0_5_is_refused(dump: Path) -> None:
    """Its series have numbers as keys: no chapter would be found by the slug."""
    series = {"title": "One", "slug": "one", "description": "", "cover": "", "completed": True, "modified": ""}
    message = refusal(dump, text([{"model": "reader.series", "pk": 1, "fields": series}]))

    assert "unlike version 0.9.6: first update the old site" in message


def altered(model: str, **fields: object) -> Edit:
    """Set fields of every object of a model."""
    return changed(model, lambda item: item["fields"].update(fields))


WRONG: dict[str, tuple[Edit, str]] = {
    "no content types": (
        without("contenttypes"),
        "whose the aliases are is unknown: the dump has no contenttypes.contenttype",
    ),
    "no groups": (without("groups"), "chapters have groups, but the dump has no groups.group"),
    "other models": (without("reader", "groups"), "it has no series of MangAdventure (reader.series)"),
    "nothing": (lambda items: [], "it has no series of MangAdventure (reader.series)"),
    "another version": (
        changed("reader.series", lambda item: item["fields"].pop("format")),
        "reader_series has no format, unlike version 0.9.6: first update the old site to 0.9.6",
    ),
    "key of a series": (
        altered("reader.chapter", series=["slug"]),
        "series in reader_chapter is a natural key or a list",
    ),
    "key with numbers": (
        altered("reader.alias", content_type=[1, 2]),
        "content_type in reader_alias is a natural key or a list",
    ),
    "keys of authors": (
        altered("reader.series", authors=[["Ada"]]),
        "an object of reader_series_authors is a natural key",
    ),
    "object as author": (
        altered("reader.series", authors=[{"a": []}]),
        "an object of reader_series_authors is a natural key",
    ),
    "object as key": (
        changed("reader.chapter", lambda item: item.update(pk={"a": []})),
        "a reader.chapter, has a pk that is no number or text",
    ),
    "no key": (
        changed("reader.chapter", lambda item: item.pop("pk")),
        "a reader.chapter, has no pk: the dump has natural primary keys",
    ),
    "no object of dumpdata": (lambda items: [{"id": 1}], "object 1 has no model and fields, as those of dumpdata have"),
    "no object": (lambda items: [*items[:3], 4], "line 1: an item of the array should be an object"),  # type: ignore[list-item]
}


@pytest.mark.parametrize(("edit", "fault"), WRONG.values(), ids=WRONG)
def test_unusable_dump_names_the_command_to_run(dump: Path, recorded: list[Item], edit: Edit, fault: str) -> None:
    """The command dumps exactly what an import reads."""
    assert refusal(dump, text(edit(recorded))).endswith(f"{fault}; write it with `{COMMAND}`")


ODD: dict[str, Edit] = {
    "object as value": altered("reader.chapter", title={"a": 1}),
    "object as name": altered("auth.user", username={"a": 1}),
    "number as text": altered("reader.author", name=5),
    "infinite number": altered("reader.chapter", number=float("inf")),
    "unknown user": altered("users.bookmark", user=["unknown-user"]),
    "content type of three parts": altered("reader.alias", content_type=["a", "b", "c"]),
    "no list of links": altered("reader.series", authors=3),
    "half a character": altered("reader.series", title="\ud800"),
}


@pytest.mark.parametrize("edit", ODD.values(), ids=ODD)
def test_odd_values_are_read(dump: Path, recorded: list[Item], edit: Edit) -> None:
    """A table has a valid value or an empty one."""
    dump.write_bytes(text(edit(recorded)))

    assert sum(map(len, rows(dump).values())) >= 1000


def test_invalid_unicode_in_names_of_files_is_imported(
    dump: Path, recorded: list[Item], run: Callable[..., Result]
) -> None:
    """Half of a character is a question mark in the URL."""
    catalog = dump.with_name("catalog_src")
    dump.write_bytes(text(altered("reader.series", cover="a/\ud800.png")(recorded)))
    result = run("import", "--from-database", dump, "--catalog", catalog)

    assert result.exit_code == 0, result.output
    cover = "cover: https://saltshelf.example/media/a/%3F.png"
    assert cover in (catalog / "series/kiln-sisters.yaml").read_text()


BROKEN = {
    "cut": (b'[{"model": "reader.series", "pk', "line 1: Unterminated string; write it"),
    "control character": (b'[{"a": "\x01"}]', "line 1: Invalid control character; write it"),
    "cut after an object": (b'[\n{"model": "x.y", "fields": {}}\n', "line 3: expected ]"),
    "two arrays": (b"[]\n[]", "line 2: text after the end of the array"),
    "no comma": (b'[{"model": "x.y", "fields": {}} {}]', "line 1: expected ]"),
    "deep": (b"[" * 100_000, "line 1: invalid JSON"),
    "a long number": (b"[" + b"9" * 10_000 + b"]", "line 1: invalid JSON"),
    "Latin-1": (b'[{"model": "caf\xe9"}]', "not UTF-8: invalid continuation byte"),
    "cut gzip": (gzip.compress(b"[" + bytes(range(256)).hex().encode() * 20_000)[:-20], "line 1: "),
    "bad checksum": (gzip.compress(b"[" + b" " * 3_000_000)[:-8] + bytes(8), "cannot be decompressed: CRC check"),
    "bad xz": (lzma.compress(b"[ " + b" " * 3_000_000)[:-9] + b"x" * 9, "cannot be decompressed: Corrupt input data"),
}


@pytest.mark.parametrize(("content", "fault"), BROKEN.values(), ids=BROKEN)
def test_broken_json_is_a_message(dump: Path, content: bytes, fault: str) -> None:
    """With the line where reading ends."""
    message = refusal(dump, content)

    assert message.startswith(fault)
    assert message.endswith(f"; write it with `{COMMAND}`")


@pytest.mark.parametrize(
    "content", [b"{}", b"\x1f\x8bxx", b"\xfd7zXZ\0", b"\x1f\x8b\x08\0\0\0\0\0\0\xffabc", b"PGDMP", b"\xff\xfe\0\xd8x"]
)
def test_other_files_are_refused(dump: Path, content: bytes) -> None:
    """The message names the command that writes a usable file."""
    assert refusal(dump, content) == (
        f"neither an SQLite file nor the JSON of dumpdata; where the old site runs, write it with `{COMMAND}`"
    )


def test_too_large_files_are_refused(dump: Path, recorded: list[Item], monkeypatch: pytest.MonkeyPatch) -> None:
    """A compressed file may be small."""
    monkeypatch.setattr(dumpdata, "_MAX_SIZE", 100_000)

    assert refusal(dump, gzip.compress(text(recorded))).startswith("too large; write it with")


@pytest.mark.parametrize(
    ("key", "fields"),
    [
        # Of two characters, a row; of one, a value of four bytes.
        (1, {"authors": [1] * 10_000}),
        (1, {"title": "x" * 400_000 + "\U0001f600"}),
        (1, {"user": ["", *[""] * 20_000]}),
        (1, {}),
        ("x" * 20, {}),
    ],
)
def test_rows_have_a_limit_of_memory(dump: Path, key: object, fields: Item, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take up to thirty times as much as their text, which may be compressed."""
    monkeypatch.setattr(tables, "MAX_MEMORY", 1 << 20)
    model = "users.userprofile" if "user" in fields else "reader.series"
    dump.write_bytes(gzip.compress(text([{"model": model, "pk": key, "fields": fields}] * (1 if fields else 4000))))

    assert refusal(dump, dump.read_bytes()) == "its rows take more than 1 MiB of memory"


def test_too_long_object_is_refused(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object without an end is not read to the end of the file."""
    monkeypatch.setattr(dumpdata, "_CHUNK", 100)
    monkeypatch.setattr(dumpdata, "_LONGEST", 1000)
    dump.write_bytes(b'[{"a": "' + b"x" * 100_000)
    with pytest.raises(dumpdata.InvalidArray, match="line 1: Unterminated string"):
        list(dumpdata.json_objects(dump, 5000))


def test_page_has_the_commands_that_messages_name() -> None:
    """An owner reads the page before there is a message."""
    for command in dumpdata.COMMANDS.values():
        assert command in DOCUMENTS["docs/importing.md"]
