"""Page ids: unique in the catalog, and stable while a page keeps its chapter and its number."""

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from generator.catalog import linking as pageids
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


def test_page_id_is_chapter_times_1000_plus_number() -> None:
    """So ids increase in reading order within a chapter."""
    assert page_ids({12: 3})[12] == [12001, 12002, 12003]
    assert page_ids({LAST_PLAIN: 999})[LAST_PLAIN][-1] == 2_147_482_999


def test_chapter_without_pages_has_no_page_ids() -> None:
    """With computed ids and with allocated ids."""
    assert page_ids({1: 0, MAX_ID: 0}) == {1: [], MAX_ID: []}


def test_allocated_ids_are_stable_across_versions() -> None:
    """Reader apps store them, so the expected values are constants."""
    assert page_ids({MAX_ID: 2})[MAX_ID] == [106_661_000, 831_726_000]
    assert page_ids({81: 1001})[81][998:] == [81_999, 1_282_836_000, 354_691_000]


@steady
@given(chapters)
def test_ids_are_unique_and_in_range(catalog: dict[int, int]) -> None:
    """From 1 to 2147483647, for any catalog."""
    ids = [one for found in page_ids(catalog).values() for one in found]

    assert len(set(ids)) == len(ids) == sum(catalog.values())
    assert all(0 < one <= MAX_ID for one in ids)


@steady
@given(chapters, chapters)
def test_published_ids_stay_when_chapters_come_and_go(catalog: dict[int, int], others: dict[int, int]) -> None:
    """Allocations are kept from release to release, also for removed chapters."""
    before = odd_ids(catalog.items())
    without = odd_ids(others.items(), before)
    again = page_ids(others | catalog, without)

    assert {one: again[one] for one in catalog} == page_ids(catalog)


@steady
@given(chapters, st.integers(1, 5))
def test_appended_pages_change_no_id(catalog: dict[int, int], more: int) -> None:
    """A page keeps its id while it keeps its number."""
    before = page_ids(catalog)
    after = page_ids({one: count + more for one, count in catalog.items()}, odd_ids(catalog.items()))

    assert all(after[one][: len(found)] == found for one, found in before.items())


def test_allocation_skips_ids_in_use() -> None:
    """The chapter with the lower id is allocated first; the other gets the next free id."""
    low, high = RIVALS

    assert page_ids({high: 1, low: 1}) == {low: [1_224_538_000], high: [1_224_539_000]}
    assert page_ids({high: 1}) == {high: [1_224_538_000]}


def test_published_id_is_kept_against_a_lower_chapter() -> None:
    """A chapter published later takes no id away."""
    low, high = RIVALS
    before = odd_ids([(high, 1)])

    assert page_ids({high: 1, low: 1}, before) == {high: [1_224_538_000], low: [1_224_539_000]}


def test_allocation_is_independent_of_chapter_order() -> None:
    """Files may be read in any order."""
    catalog = [(MAX_ID, 3), (81, 1005), (MAX_ID - 1, 2), (5, 1)]

    assert odd_ids(catalog) == odd_ids(reversed(catalog))
