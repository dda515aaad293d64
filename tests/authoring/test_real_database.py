"""The judge of the import judges well: the expected catalog has no faults, and any other value is one."""

import copy
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from generator.catalog.field_values import iso
from generator.catalog.yaml import writer
from tests.support.real_database import (
    Entities,
    Fields,
    RealDatabase,
    compared,
    counted,
    differences,
    explained,
    faults,
    imported,
    in_one_line,
    readable,
    real_database,
)
from tests.support.real_service import AFTER_EDIT, RECORDED_AT, USUAL, V1_OFF

MEDIA = "https://saltshelf.example/media/"


def image(path: str, folder: str) -> str:
    """A file name if an image is in a folder of the catalog's layout, otherwise a URL."""
    below, _, name = path.rpartition("/")
    return name if f"{below}/" == folder else MEDIA + quote(path)


def written(fields: Fields) -> Fields:
    """Fields as YAML: without defaults, in texts that a catalog can hold, with times as text."""
    texts = {name: readable(value) if isinstance(value, str) else value for name, value in fields.items()}
    times = {name: iso(value) for name, value in fields.items() if name in ("published", "modified")}
    return {name: value for name, value in (texts | times).items() if value not in ("", None, [], False)}


def chapter_fields(slug: str, chapter: Fields) -> Fields:
    folder = f"series/{slug}/{chapter['volume'] or 0}/{chapter['number']}/"
    pages = chapter["pages"] if len({page.rpartition("/")[0] for page in chapter["pages"]}) == 1 else []
    names = [image(page, folder) for page in pages]
    if any("//" in name for name in names):
        names = [MEDIA + quote(page) for page in pages]
    title = min(in_one_line(chapter["title"]))
    return written({**chapter, "title": title, "volume": chapter["volume"]}) | {"pages": names}


def write_expected(folder: Path, database: RealDatabase) -> None:
    """Write what the database has, as far as a catalog can hold it."""
    entities = database.entities
    files: dict[str, Any] = {"site.yaml": {"base_url": "https://saltshelf.example"}}
    for kind in ("authors", "artists", "categories", "members"):
        files[f"{kind}.yaml"] = [{"id": id, **written(record)} for id, record in entities[kind].items()]
    files["groups.yaml"] = [
        written({"id": id, **record, "logo": record["logo"] and image(record["logo"], f"groups/{id}/")})
        | {"members": [{"member": member, "role": role} for member, role in record["members"]]}
        for id, record in entities["groups"].items()
    ]
    for slug, series in entities["series"].items():
        chapters = [chapter_fields(slug, chapter) for key, chapter in entities["chapters"].items() if key[0] == slug]
        files[f"series/{slug}.yaml"] = written(
            {
                **series,
                "cover": image(series["cover"], f"series/{slug}/"),
                "aliases": list(filter(None, series["aliases"])),
            }
        ) | {"chapters": chapters}
    (folder / "series").mkdir(parents=True)
    for name, value in files.items():
        (folder / name).write_bytes(writer.file(value))


@pytest.mark.parametrize("setting", [USUAL, AFTER_EDIT])
def test_expected_catalog_has_no_faults(setting: str, tmp_path: Path) -> None:
    """A catalog that is written from the database differs only in what no catalog can hold."""
    with real_database(setting) as database:
        write_expected(tmp_path, database)
        result = differences(tmp_path, database, setting, media=MEDIA)

    assert counted(result) == {}
    assert faults(result) == []
    assert len(explained(result)) < 15


def other(value: Any) -> Any:
    """A value that differs from another one."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + 7
    return [*value, value[0] if value else "x"] if isinstance(value, list) else f"{value}x"


@pytest.mark.end_to_end
@pytest.mark.parametrize("kind", ["authors", "artists", "categories", "members", "groups", "series", "chapters"])
def test_any_other_value_is_a_fault(kind: str, tmp_path: Path) -> None:
    """Each field of each entity; only the fields of licensed and scheduled chapters may be missing."""
    with real_database() as database:
        write_expected(tmp_path, database)
        good = imported(tmp_path, MEDIA)
        base = len(faults(compared(good, database, USUAL)))
        unseen = []
        for key, record in list(good[kind].items())[::5]:
            for name in record:
                if (key, name) not in unseen and record[name] != (changed := other(record[name])):
                    bad = Entities({**good.records, kind: {**good[kind], key: {**record, name: changed}}})
                    if len(faults(compared(bad, database, USUAL))) <= base:
                        unseen.append((key, name))

    # Only the database has these: unpublished modification times, and what is licensed or scheduled.
    allowed = {
        ("series", "modified"),
        *(("chapters", name) for name in ("id", "views", "groups", "pages", "final", "modified")),
    }
    assert {(kind, name) for _, name in unseen} <= allowed
    special = ("umbrella-for-a-giant", "the-unwritten-almanac", "granite-nocturne", "tin-saint-in-the-orchard")
    for key, _ in unseen:
        slug = key[0] if isinstance(key, tuple) else key
        chapter = good["chapters"].get(key, {})
        assert slug in special or chapter.get("published", 0) > RECORDED_AT


@pytest.mark.parametrize(
    ("setting", "kind", "invented"),
    [
        (USUAL, "series", "invented"),
        (USUAL, "authors", 99),
        (V1_OFF, "groups", 99),
        (USUAL, "chapters", ("harbor-of-glass-bells", 999)),
        (AFTER_EDIT, "chapters", ("the-moth-accountant", None, "99")),
    ],
)
def test_missing_and_invented_entities_are_faults(setting: str, kind: str, invented: Any, tmp_path: Path) -> None:
    """One that is left out, and one that is too many."""
    with real_database(setting) as database:
        write_expected(tmp_path, database)
        good = imported(tmp_path, MEDIA)
        base = len(faults(compared(good, database, setting)))
        key, record = next(iter(good[kind].items()))
        less, more = copy.deepcopy(good), copy.deepcopy(good)
        del less[kind][key]
        more[kind][invented] = record

        assert len(faults(compared(less, database, setting))) > base
        assert len(faults(compared(more, database, setting))) == base + 1
