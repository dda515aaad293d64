"""JSON Schemas for editors: they agree with the records, and the example refers to them."""

import re
from collections.abc import Callable
from pathlib import Path

from click.testing import Result
from jsonschema import Draft7Validator

from generator.catalog import json_schema
from generator.catalog.reader import ARCHIVES, LISTS, SIZES, VARIANTS, VIEWS
from generator.catalog.yaml import reader
from tests.conftest import Site
from tests.project.test_catalog_docs import CATALOG, DOCS, HEADINGS, ROWS, in_backticks, records, rows
from tests.support.schema_editor import SCHEMAS, Editor, objects, plain

MODELINE = "# yaml-language-server: $schema="


def schema_of(file: str) -> str:
    if file.startswith("series/"):
        return "chapter.json" if "/chapters/" in file else "series.json"
    return "people.json" if file in ("authors.yaml", "artists.yaml") else file.replace(".yaml", ".json")


def test_schema_is_valid_json_schema() -> None:
    """Each has the dialect that editors support, a title and a description."""
    for schema in SCHEMAS.values():
        Draft7Validator.check_schema(schema)
        assert schema["$schema"] == Draft7Validator.META_SCHEMA["$id"]
        assert schema["title"]
        assert schema["description"].endswith(".")


def test_every_default_is_valid() -> None:
    """Editors insert it."""
    for name, schema in SCHEMAS.items():
        for part in objects(schema):
            if "default" in part:
                whole = {**part, "$defs": schema.get("$defs", {})}
                assert list(Draft7Validator(whole).iter_errors(part["default"])) == [], (name, part)


def test_every_kind_of_file_has_a_schema() -> None:
    """There is a schema for each list, the settings, series, chapters, and those that commands write."""
    files = [*LISTS, VIEWS, SIZES, VARIANTS, ARCHIVES, "site.yaml", "series/a.yaml", "series/a/chapters/b.yaml"]

    assert {schema_of(file) for file in files} == SCHEMAS.keys()


FILES = sorted(path.relative_to(CATALOG).as_posix() for path in CATALOG.rglob("*.yaml"))


def test_example_is_valid_in_editors() -> None:
    """Every file of the example is valid against the schema that its first line names."""
    for file in FILES:
        text = (CATALOG / file).read_bytes()
        first = text.decode().splitlines()[0]
        named = (CATALOG / file).parent / first.removeprefix(MODELINE)
        assert first.startswith(MODELINE), file
        assert named.resolve() == CATALOG / ".schemas" / schema_of(file)
        assert list(Editor(SCHEMAS[named.name]).iter_errors(plain(reader.load(text)))) == [], file


def test_schemas_of_the_example_are_up_to_date() -> None:
    """`python build.py schema` would change nothing in the repository."""
    there = {path.name: path.read_bytes() for path in (CATALOG / ".schemas").iterdir()}

    assert there.keys() == SCHEMAS.keys()
    assert [name for name, text in json_schema.files().items() if there[name] != text] == [], (
        "build.py schema mends them"
    )


def test_catalog_page_shows_the_first_line_of_each_file() -> None:
    """Authors copy it; some lists share a row."""
    shared = {f"{name}.json" for name in ("groups", "members", "accounts", "keys")}
    for file in FILES:
        first = (CATALOG / file).read_text(encoding="utf-8").splitlines()[0]
        row = first.replace(schema_of(file), "categories.json") if schema_of(file) in shared else first
        assert f"| `{row}`" in DOCS


def test_build_ignores_schemas(site: Site, run: Callable[..., Result]) -> None:
    """Also an invalid YAML file among them."""
    before = site.build().release
    run("schema", "--catalog", site.folder / "catalog_src")
    site.write(".schemas/series.yaml", "nonsense: [")

    assert site.build().release == before


def test_schemas_are_written_into_the_catalog(site: Site, run: Callable[..., Result]) -> None:
    """Without a folder they go to .schemas; a second run writes nothing."""
    folder = site.folder / "catalog_src/.schemas"
    results = [run("schema", "--catalog", site.folder / "catalog_src")]
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    results.append(run("schema", "--catalog", site.folder / "catalog_src"))

    assert [(one.exit_code, one.output) for one in results] == [(0, f"{folder}: {len(SCHEMAS)} schemas\n")] * 2
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == json_schema.files()
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_schemas_are_written_into_the_given_folder(tmp_path: Path, run: Callable[..., Result]) -> None:
    """With a folder no catalog is needed."""
    result = run("schema", "--catalog", tmp_path / "nowhere", tmp_path / "deep/inside")

    assert result.exit_code == 0
    assert {path.name for path in (tmp_path / "deep/inside").iterdir()} == SCHEMAS.keys()


def test_missing_catalog_is_an_error(tmp_path: Path, run: Callable[..., Result]) -> None:
    """No folder is created for a misspelt catalog."""
    result = run("schema", "--catalog", tmp_path / "nowhere")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{tmp_path}/nowhere: no such folder")
    assert not (tmp_path / "nowhere").exists()


def test_every_field_has_a_description() -> None:
    """Editors and `explain` show it."""
    for record in records():
        assert [name for name, field in record.model_fields.items() if not field.description] == [], record


def test_page_has_the_descriptions_of_the_records() -> None:
    """Descriptions and examples are equal, except for links."""
    for heading, field in ROWS:
        _, _, meaning, example = rows(heading)[field]
        info = HEADINGS[heading].model_fields[field]
        assert info.description == re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", meaning), field
        assert (info.examples or []) == plain(in_backticks(example)), field


def test_every_pattern_has_a_message() -> None:
    """Editors show the message instead of the regular expression."""
    silent = [
        schema["pattern"]
        for schema in objects(SCHEMAS)
        if isinstance(schema.get("pattern"), str) and "patternErrorMessage" not in schema
    ]

    # This schema only chooses which rule holds; editors never show it.
    assert set(silent) == {json_schema._URL_START}
