"""Ids of pages: unique in the whole catalog, and the same for as long as a page keeps its chapter and number."""

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from generator.catalog import page_ids as pageids
from generator.catalog.records import MAX_ID

# The last chapter whose pages are its id times 1000 plus their number.
LAST_PLAIN = 2_147_482
# Some whose pages are all counted out, some of which the last are not, and some of which none is.
chapters = st.one_of(
    st.dictionaries(st.integers(1, 50), st.integers(996, 1003), max_size=5),
    st.dictionaries(st.integers(LAST_PLAIN - 2, LAST_PLAIN + 2), st.integers(0, 5), max_size=5),
    st.dictionaries(st.integers(MAX_ID - 50, MAX_ID), st.integers(0, 5), max_size=5),
)
steady = settings(derandomize=True)
# Two chapters whose first pages ask for one id.
RIVALS = (2_148_622, 2_149_597)


def odd_ids(catalog: Iterable[tuple[int, int]], before: dict[str, int] | None = None) -> dict[str, int]:
    return pageids.allocate_page_ids([one for one in catalog if pageids.needs_allocated_ids(*one)], before or {})


def page_ids(catalog: dict[int, int], before: dict[str, int] | None = None) -> dict[int, list[int]]:
    """The ids of all pages, when those of `before` have been published."""
    odd = odd_ids(catalog.items(), before)
    return {one: list(pageids.page_ids(one, count, odd)) for one, count in catalog.items()}


def test_a_page_is_its_chapter_and_its_number() -> None:
    """A thousand ids for each chapter, so that they grow in reading order within it."""
    assert page_ids({12: 3})[12] == [12001, 12002, 12003]
    assert page_ids({LAST_PLAIN: 999})[LAST_PLAIN][-1] == 2_147_482_999


def test_a_chapter_without_pages_has_no_ids() -> None:
    """Nothing is nothing, for plain chapters and for others."""
    assert page_ids({1: 0, MAX_ID: 0}) == {1: [], MAX_ID: []}


def test_ids_that_cannot_be_counted_out_never_change() -> None:
    """They are looked up in readers' libraries for ever, so they are written down here once."""
    assert page_ids({MAX_ID: 2})[MAX_ID] == [106_661_000, 831_726_000]
    assert page_ids({81: 1001})[81][998:] == [81_999, 1_282_836_000, 354_691_000]


@steady
@given(chapters)
def test_ids_are_unique_and_in_range(catalog: dict[int, int]) -> None:
    """From 1 to 2147483647, whatever chapters there are."""
    ids = [one for found in page_ids(catalog).values() for one in found]

    assert len(set(ids)) == len(ids) == sum(catalog.values())
    assert all(0 < one <= MAX_ID for one in ids)


@steady
@given(chapters, chapters)
def test_what_was_published_stays_whatever_comes_or_goes(catalog: dict[int, int], others: dict[int, int]) -> None:
    """Ids are remembered from release to release, also those of chapters that are gone for a while."""
    before = odd_ids(catalog.items())
    without = odd_ids(others.items(), before)
    again = page_ids(others | catalog, without)

    assert {one: again[one] for one in catalog} == page_ids(catalog)


@steady
@given(chapters, st.integers(1, 5))
def test_pages_that_are_added_at_the_end_change_nothing(catalog: dict[int, int], more: int) -> None:
    """A page keeps its id while it keeps its number."""
    before = page_ids(catalog)
    after = page_ids({one: count + more for one, count in catalog.items()}, odd_ids(catalog.items()))

    assert all(after[one][: len(found)] == found for one, found in before.items())


def test_an_id_that_is_taken_is_passed_over() -> None:
    """Of two pages that would have one id the chapter with the higher id takes the next; if it is alone, the first."""
    low, high = RIVALS

    assert page_ids({high: 1, low: 1}) == {low: [1_224_538_000], high: [1_224_539_000]}
    assert page_ids({high: 1}) == {high: [1_224_538_000]}


def test_who_comes_first_keeps_it() -> None:
    """A chapter that is published later takes no id away, though it would have had it."""
    low, high = RIVALS
    before = odd_ids([(high, 1)])

    assert page_ids({high: 1, low: 1}, before) == {high: [1_224_538_000], low: [1_224_539_000]}


def test_the_order_in_which_chapters_are_found_does_not_matter() -> None:
    """A catalog is read from files, in whatever order they lie."""
    catalog = [(MAX_ID, 3), (81, 1005), (MAX_ID - 1, 2), (5, 1)]

    assert odd_ids(catalog) == odd_ids(reversed(catalog))
