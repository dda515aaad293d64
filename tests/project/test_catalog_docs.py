"""docs/catalog.md: complete and correct; catalog_src/ shows every field."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from generator.catalog import records as model
from generator.catalog import site_settings
from generator.catalog.entities import Catalog, Chapter
from generator.catalog.messages import record_inside
from generator.catalog.reader import LISTS
from generator.catalog.yaml import reader
from generator.commands import command
from generator.errors import CatalogError
from tests.support import linked_catalog
from tests.support.paths import ROOT
from tests.support.tools import write_docs

DOCS = (ROOT / "docs/catalog.md").read_text(encoding="utf-8")
CATALOG = ROOT / "catalog_src"
STATUS = model.Series.model_fields["status"].annotation
# Late enough for all that is published in the example, and before what is scheduled there.
AS_OF = 1_800_000_000

HEADINGS: dict[str, type[BaseModel]] = {
    "`site.yaml`": site_settings.Site,
    "`cache`": site_settings.CacheAges,
    "`unversioned`, `v1` and `v2` in `cache`": site_settings.VersionAges,
    "`authors.yaml` and `artists.yaml`": model.Person,
    "`categories.yaml`": model.Category,
    "`groups.yaml`": model.Group,
    "`members` of a group": model.Role,
    "`members.yaml`": model.Member,
    "`accounts.yaml`": model.Account,
    "`keys`": model.Key,
    "`keys.yaml`": model.IssuedKey,
    "Series: `series/<slug>.yaml`": model.Series,
    "`links` of a series": model.Links,
    "Chapters: `series/<slug>/chapters/*.yaml`": model.Chapter,
}
# What the YAML in a section is a part of.
SHOWN = HEADINGS | {
    "The catalog": model.Series,
    "A new slug": model.Series,
    "Chapter numbers": model.Series,
    "Pages": model.Chapter,
    "References": model.Series,
    "`unversioned`, `v1` and `v2` in `cache`": site_settings.Site,
    "`members` of a group": model.Group,
    "`links` of a series": model.Series,
}


_, *PARTS = re.split(r"(?m)^#{1,3} (.+)$", DOCS)
SECTIONS = dict(zip(PARTS[::2], PARTS[1::2], strict=True))


def records() -> set[type[model.Record]]:
    """Every record with fields."""
    values = [*vars(model).values(), *vars(site_settings).values()]
    classes = {value for value in values if isinstance(value, type) and issubclass(value, model.Record)}
    return classes - {model.Record, model.Entity}


@cache
def rows(heading: str) -> dict[str, list[str]]:
    """The cells of a section's table of fields, by field. No cell contains |."""
    lines = re.findall(r"(?m)^\| `(\w+)` \| (yes|no) \|(.*)\|$", SECTIONS[heading])
    return {name: [required, *(cell.strip() for cell in rest.split("|"))] for name, required, rest in lines}


ROWS = [(heading, field) for heading in HEADINGS for field in rows(heading)]
SNIPPETS = [
    (heading, snippet)
    for heading, text in SECTIONS.items()
    for snippet in re.findall(r"(?ms)^```yaml\n(.*?)^```$", text)
]


def errors(kind: Any, value: object) -> list[str]:
    """The errors of a value, except missing fields."""
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        return [str(one) for one in error.errors() if one["type"] != "missing"]
    return []


def in_backticks(cell: str) -> Any:
    """The YAML in a cell; [] if the cell has words, is shortened, or is computed."""
    match = re.fullmatch(r"`((?!{base_url})[^`]*[^`…])`", cell)
    return [reader.load(match[1].encode())] if match else []


def test_tables_are_up_to_date() -> None:
    """`make docs` would change nothing."""
    assert write_docs("--check") == (0, "")


# page: what an earlier version had in place of what
OUTDATED = [
    ("catalog.md", "| `port` |", "| `other` |"),
    ("commands.md", "| `--max-removed PERCENT` |", "| `other` |"),
    ("hosts.md", "| `ETag` is", "| `other` |"),
    ("api.md", "| `total` |", "| `other` |"),
    # Examples, which are bodies of a build: another value, a missing field, and one that the body does not have.
    ("api.md", '  "status": "hiatus",\n', '  "status": "ongoing",\n'),
    ("api.md", '  "views": 610,\n', ""),
    ("api.md", '  "views": 610,\n', '  "views": 610,\n  "reads": 1,\n'),
]


def test_outdated_tables_and_examples_are_reported_and_rewritten(tmp_path: Path) -> None:
    """The check fails for each page, and `write-docs` restores them."""
    pages = {name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name, _, _ in OUTDATED}
    for name, current, earlier in OUTDATED:
        assert current in pages[name]
        for page, text in pages.items():
            (tmp_path / page).write_text(text.replace(current, earlier) if page == name else text, encoding="utf-8")
        message = f"{tmp_path / name}: out of date; `make docs` writes it\n"
        assert write_docs("--check", tmp_path) == (1, message), earlier
        assert write_docs(tmp_path)[0] == 0
        assert {page: (tmp_path / page).read_text(encoding="utf-8") for page in pages} == pages


def test_every_record_has_a_section() -> None:
    """A new record needs a section with a table."""
    assert set(HEADINGS.values()) == records()
    assert all(map(rows, HEADINGS))


def test_examples_are_valid() -> None:
    """A copied example is valid."""
    examples = [(one, example) for one in ROWS for example in in_backticks(rows(one[0])[one[1]][-1])]

    wrong = [errors(HEADINGS[heading], {field: example}) for (heading, field), example in examples]
    assert [*filter(None, wrong)] == []


def test_yaml_blocks_are_valid() -> None:
    """Each YAML block is readable and has only valid fields and values."""
    for heading, snippet in SNIPPETS:
        value, kind = reader.load(snippet.encode()), SHOWN[heading]
        shape: Any = list[kind] if isinstance(value, list) else kind  # type: ignore[valid-type]
        assert errors(shape, value) == [], heading


MISTAKES = """\
title: 10
cover: a.jpg

titel: Two
authors: [Mira Okafro]
description: |-
  One
  Two
  Three
  Four
chapters:
  - number: 1
    published: yesterday
    pages: []

  - number: 2
    published: 2026-01-01
# Of this chapter, something is missing.

"""
REPAIRED = {"title: 10": "title: One", "titel: Two": "", "yesterday": "2026-01-01", "# Of": "    pages: [] # Of"}


def test_messages_on_the_page_are_printed(tmp_path: Path) -> None:
    """Each message on the page is printed for its mistake: in fields, references and YAML."""
    catalog = tmp_path / "catalog_src"
    (catalog / "series").mkdir(parents=True)
    (catalog / "site.yaml").write_text("base_url: https://comics.example\n")
    (catalog / "authors.yaml").write_text("- {id: 1, name: Mira Okafor}\n")
    repaired = MISTAKES
    for wrong, right in REPAIRED.items():
        repaired = repaired.replace(wrong, right)
    printed, explained = [], ""
    for text in (MISTAKES, repaired, f"{MISTAKES}title: Two\n"):
        (catalog / "series/x.yaml").write_text(text)
        with pytest.raises(CatalogError) as caught:
            linked_catalog.read_catalog(catalog, AS_OF)
        output = "".join(
            f"{click.unstyle(line)}\n" for problem in caught.value.problems for line in command.problem_lines(problem)
        )
        explained += output.replace(str(catalog), "catalog_src")
        printed += [line for line in explained.splitlines() if not line.startswith(" ")]

    documented = re.findall(r"(?m)^catalog_src/.+$", SECTIONS["What errors look like"])
    assert set(documented) - set(printed) == {documented[0]}  # the first only names the parts of a line
    assert set(printed) <= set(documented)
    (whole,) = re.findall(r"(?ms)^```\n([^`]*^ += docs/.*?)^```$", SECTIONS["What errors look like"])
    assert whole in explained


def kinds(value: Any, kind: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """The (record, field) pairs of a value, at every level."""
    for entry in value if isinstance(value, list) else [value]:
        for name, inner in entry.items():
            yield kind.__name__, name
            if nested := record_inside(kind.model_fields[name].annotation):
                yield from kinds(inner, nested)


# The values of the example's files, by name.
FILES: dict[str, Any] = {
    file.relative_to(CATALOG).as_posix(): reader.load(file.read_bytes()) for file in sorted(CATALOG.rglob("*.yaml"))
}


def kind_of(name: str) -> type[BaseModel]:
    if name.startswith("series/"):
        return model.Chapter if "/chapters/" in name else model.Series
    return site_settings.Site if name == "site.yaml" else LISTS[name]


def test_example_uses_every_field() -> None:
    """The example shows each field; `server_folder`, which depends on the machine, is a comment."""
    used = {one for name, value in FILES.items() for one in kinds(value, kind_of(name))}
    every = {(kind.__name__, field) for kind in records() for field in kind.model_fields}

    assert every - used == {("Site", "server_folder")}
    text = (CATALOG / "site.yaml").read_text(encoding="utf-8")
    assert "# server_folder: /" in text


@pytest.fixture(scope="module")
def example() -> Catalog:
    return linked_catalog.read_catalog(CATALOG, AS_OF)


def chapters(catalog: Catalog) -> list[Chapter]:
    return [chapter for series in catalog.series for chapter in series.chapters]


def source_of(file: str) -> str:
    return (CATALOG / file).read_text(encoding="utf-8")


# Besides the fields of the test above, and what the commands in the README show.
FEATURES: dict[str, Callable[[Catalog], Any]] = {
    "all four states of a series": lambda c: {one.status for one in c.series} == set(get_args(STATUS)),
    "a series without chapters": lambda c: any(not one.chapters for one in c.series),
    "a chapter without a volume": lambda c: any(one.volume is None for one in chapters(c)),
    "several volumes": lambda c: any(len(one.volumes) > 2 for one in c.series),
    "a chapter zero": lambda c: any(one.number == "0" for one in chapters(c)),
    "a number with one decimal": lambda c: any(one.number == "10.5" for one in chapters(c)),
    "a chapter without a title": lambda c: any(not one.title for one in chapters(c)),
    "a chapter of several groups": lambda c: any(len(one.groups) > 2 for one in chapters(c)),
    "a chapter of no group": lambda c: any(not one.groups for one in chapters(c)),
    "a story told backwards": lambda c: any(one.latest and one.latest is not one.chapters[-1] for one in c.series),
    "a member with two roles": lambda c: any(len({one for one, _ in g.roles}) < len(g.roles) for g in c.groups),
    "a group without a logo": lambda c: any(not one.logo for one in c.groups),
    "a person who writes and draws": lambda c: {one.name for one in c.authors} & {one.name for one in c.artists},
    "a reference by id": lambda c: re.search(r"(?m)^artists: \[.*\b\d+\]", source_of("series/paper-moons.yaml")),
    "a title in another script": lambda c: any(not one.title.isascii() for one in c.series),
    "a template of titles": lambda c: any(one.full_title.startswith("第") for one in chapters(c)),
    "a template with series and date": lambda c: "{date}" in source_of("series/kettle-and-comet.yaml"),
    "names of files with blanks": lambda c: any("%20" in page for one in chapters(c) for page in one.pages),
    # Readers see no image of another host, which would be broken without the internet.
    "an avatar on another host": lambda c: "avatar: https://images.example/" in source_of("accounts.yaml"),
    "a run of pages": lambda c: "pages: 001.jpg .. 018.jpg" in source_of("series/paper-moons.yaml"),
    "an anchor and its alias": lambda c: "*everybody" in source_of("series/kettle-and-comet.yaml"),
    "a time in another zone": lambda c: "+02:00" in source_of("series/paper-moons.yaml"),
    "a day as a time": lambda c: re.search(r"modified: \d{4}-\d\d-\d\d ", source_of("series/paper-moons.yaml")),
    "an entry without modified": lambda c: any("modified" not in one for one in FILES["members.yaml"]),
    "a text of several lines": lambda c: any("\n" in one.description for one in c.series),
    "ids with gaps": lambda c: [one.id for one in c.authors] != list(range(1, len(c.authors) + 1)),
    "remarks in every list": lambda c: all(source_of(name).count("\n# ") for name in [*LISTS, "site.yaml"]),
}


def test_example_has_each_feature(example: Catalog) -> None:
    """The example has no problems."""
    assert [name for name, is_shown in FEATURES.items() if not is_shown(example)] == []


def test_example_has_the_url_of_make_serve(example: Catalog) -> None:
    """Its base URL is that of the server started by `make serve`."""
    assert example.site.base_url == f"http://localhost:{example.site.port}"
    assert example.site.server_folder is None
