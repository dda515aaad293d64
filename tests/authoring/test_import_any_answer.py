"""Any JSON in any response results in a valid catalog."""

import copy
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from generator import filesystem
from generator.catalog import cross_checks, reader
from generator.catalog.reader import Sources
from generator.imports import catalog_files, last_imports, merge_catalog
from generator.imports.merge import Merge
from generator.imports.site import source
from generator.reading_sites.notes import Notes
from generator.reading_sites.responses import Responses, SiteResponse
from tests.conftest import AS_OF
from tests.support.fake_site import small
from tests.support.runs import everything

JUNK = (
    st.sampled_from([None, True, 0, -1, 1, 7, 1.5, 1e300, 2**53, "", "x", "a\x00\x1b[2J", "None", "1e9", "../x", " "])
    | st.sampled_from(
        [[], {}, [[]], {"id": []}, [None, "x", 3, {}], {"1": {"1": {}}}, "fpk_" + "x" * 40, "ſ", "\ufeff"]
    )
    | st.text(max_size=8)
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of each value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(one for name, inner in inside for one in places(inner, (*path, name)))]


PLACES = [path for path in places(small()) if path]


def replace_value(answers: Any, path: tuple[Any, ...], junk: Any) -> None:
    """Replace the value at a path, if an earlier change has not removed it."""
    with suppress(LookupError, TypeError):
        for step in path[:-1]:
            answers = answers[step]
        answers[path[-1]] = junk


def problems(answers: dict[str, Any]) -> list[str]:
    """Return the problems of the catalog that is imported from these responses."""
    notes = Notes()
    responses = Responses(
        {path: SiteResponse(200, lambda value=value: value, 1_000, understood=True) for path, value in answers.items()}
    )
    imported = source.read(responses, ["one"], "https://comics.example", AS_OF, notes, 1 << 28)
    assert last_imports.memory_of(imported)["series"] == imported.series
    assert all(note.isprintable() for note in notes)
    merge = Merge(Sources(), imported, {}, notes)
    merge_catalog.merged(merge)
    files = catalog_files.CatalogFiles(merge, lambda _: b"").build()
    with filesystem.scratch_folder() as folder:
        for file, text in files.items():
            assert text is not None
            filesystem.write_if_changed(folder / file, text)
        sources = reader.read(folder)
        return [one.message for one in (*sources.problems, *cross_checks.problems(sources))]


@settings(max_examples=300 if everything else 60)
@given(st.lists(st.tuples(st.sampled_from(PLACES), JUNK), min_size=1, max_size=6))
def test_any_json_becomes_a_valid_catalog(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    """Each value may have any type."""
    answers = copy.deepcopy(small())
    for path, junk in changes:
        replace_value(answers, path, junk)

    assert problems(answers) == []
