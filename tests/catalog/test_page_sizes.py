"""Sizes of pages: the text of a chapter, `sizes.yaml`, and the linked chapter."""

from collections.abc import Callable

from click.testing import Result

from generator.catalog import entities
from tests.conftest import Site
from tests.support import yaml_catalogs
from tests.support.linked_catalog import link

A, B = (784, 1145), (1568, 1145)
TEXTS = [
    ("784x1145", (A,)),
    ("784x1145 1568x1145 784x1145", (A, B, A)),
    ("784x1145*3 1568x1145", (A, A, A, B)),
    ("-", (None,)),
    ("-*2 784x1145*2 -", (None, None, A, A, None)),
]


def test_text_and_sizes_agree() -> None:
    """Each is made from the other."""
    for text, sizes in TEXTS:
        assert entities.page_sizes(text, len(sizes)) == sizes
        assert entities.sizes_text(sizes) == text


def test_text_of_another_number_of_pages_is_stale() -> None:
    """Also a short text of very many pages, which takes no memory."""
    assert entities.page_sizes("784x1145*3", 2) == entities.page_sizes("784x1145*3", 4) == ()
    assert entities.page_sizes(" ".join(["1x1*99999"] * 100_000), 2) == ()
    assert entities.page_sizes("", 0) == entities.page_sizes("", 2) == ()


def test_larger_images_than_a_text_can_contain_have_no_size() -> None:
    assert entities.sizes_text([(999_999, 1), (1_000_000, 1), (1, 1_000_000)]) == "999999x1 -*2"


def test_chapter_gets_the_sizes_of_its_id() -> None:
    """Without an id, a text, or the same number of pages, it has none."""
    chapter = "{{{}number: {}, published: 2026-05-01, pages: [1.png, 2.png]}}".format
    chapters = [chapter("id: 7, ", 1), chapter("id: 8, ", 2), chapter("id: 9, ", 3), chapter("", 4)]
    sources = yaml_catalogs.sources(f"series: {{a: {{chapters: [{', '.join(chapters)}]}}}}", numbered=False)
    sources.sizes = {"7": "784x1145 -", "8": "784x1145*3"}
    series = link(sources, sources.mtimes, yaml_catalogs.AS_OF).series[0]

    assert [chapter.sizes for chapter in series.chapters] == [(A, None), (), (), ()]  # type: ignore[attr-defined]


def test_empty_sizes_yaml_is_valid(site: Site, run: Callable[..., Result]) -> None:
    site.write("sizes.yaml", "# none\n")

    assert run("check", "--catalog", site.folder / "catalog_src").exit_code == 0
