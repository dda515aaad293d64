"""The archives of linked chapters, by `archives.yaml`."""

from generator.catalog.entities import Archive, Series
from generator.catalog.linking import is_archive
from tests.support import yaml_catalogs
from tests.support.linked_catalog import link

DIGEST = "0123456789abcdef"
CHAPTERS = """
- {id: 1, number: 1, published: 2026-05-01, pages: [1.png]}
- {id: 2, number: 1, published: 2026-05-01, pages: [1.png]}
- {id: 3, volume: 2, number: 10.5, published: 2026-05-01, pages: [1.png]}
- {id: 4, number: 2, published: 2026-05-01, pages: [1.png]}
- {id: 5, number: 1, published: 2999-05-01, pages: [1.png]}
- {id: 6, number: 3, published: 2026-05-01, pages: [1.png]}
- {id: 7, number: 4, published: 2026-05-01, pages: [1.png]}
- {number: 5, published: 2026-05-01, pages: [1.png]}
"""
PATHS = {
    1: "archives/a/0/1-version-1.cbz",
    2: "archives/a/0/1.cbz",
    3: "archives/a/2/10.5.cbz",
    # That of a chapter with another number by now.
    4: "archives/a/0/1.cbz",
    5: "archives/a/0/1.cbz",
    # An interrupted run has written the path alone.
    6: "archives/a/0/3.cbz",
}


def archives(apps: str = "[archives]", *, preview: bool = False, **fields: str) -> dict[int | None, Archive]:
    """The archives of a series by the ids of the chapters."""
    lines = [f"{name}: {value}" for name, value in fields.items()]
    chapters = CHAPTERS.strip().replace("\n", ", ").replace("- ", "")
    text = f"site: {{apps: {apps}}}\nseries: {{a: {{{', '.join([*lines, f'chapters: [{chapters}]'])}}}}}"
    sources = yaml_catalogs.sources(text, numbered=False)
    sources.archives = {str(id): path if id == 6 else f"{path} {id}00 {DIGEST}" for id, path in PATHS.items()}
    (series,) = link(sources, sources.mtimes, yaml_catalogs.AS_OF, preview=preview).series
    assert isinstance(series, Series)
    return {chapter.id: chapter.archive for chapter in series.chapters if chapter.archive}


def test_published_chapters_have_the_archive_of_their_id_and_number() -> None:
    """The highest id of a number has the path of the number; a scheduled chapter has none, also in a preview."""
    expected = {id: Archive(PATHS[id], id * 100, DIGEST) for id in (1, 2, 3)}

    assert archives() == expected
    assert archives(preview=True) == expected
    assert all(map(is_archive, PATHS.values()))


def test_chapters_that_not_all_readers_get_have_no_archive() -> None:
    """Nor has any, if the site restricts a route that an archive would tell."""
    assert archives(licensed="true") == archives(restricted="true") == archives(apps="[opds]") == {}
    assert archives(apps="[archives], restricted: ['/chapters/{id}/pages']") == {}
    assert archives(apps="[archives], restricted: [/chapters]") != {}
