"""Ids of pages: unique in the whole catalog, and the same for as long as a page keeps its chapter and number."""

from hypothesis import given, settings
from hypothesis import strategies as st

from generator.model import MAX_ID
from generator.pageids import page_ids

# The last chapter whose pages are its id times 1000 plus their number.
LAST_PLAIN = 2_147_482
# Some whose pages are all counted out, some of which the last are not, and some of which none is.
chapters = st.one_of(
    st.dictionaries(st.integers(1, 50), st.integers(996, 1003), max_size=5),
    st.dictionaries(st.integers(LAST_PLAIN - 2, LAST_PLAIN + 2), st.integers(0, 5), max_size=5),
    st.dictionaries(st.integers(MAX_ID - 50, MAX_ID), st.integers(0, 5), max_size=5),
)
# Two chapters may ask for one place, as below; a run that found such a pair by chance would say nothing new.
steady = settings(derandomize=True)


def test_a_page_is_its_chapter_and_its_number() -> None:
    """A thousand ids for each chapter, so that they grow in reading order within it."""
    assert list(page_ids([(12, 3)])[12]) == [12001, 12002, 12003]
    assert list(page_ids([(LAST_PLAIN, 999)])[LAST_PLAIN])[-1] == 2_147_482_999


def test_a_chapter_without_pages_has_no_ids() -> None:
    """Nothing is nothing, for plain chapters and for others."""
    assert [list(ids) for ids in page_ids([(1, 0), (MAX_ID, 0)]).values()] == [[], []]


def test_ids_that_cannot_be_counted_out_never_change() -> None:
    """They are looked up in readers' libraries for ever, so they are written down here once."""
    assert list(page_ids([(MAX_ID, 2)])[MAX_ID]) == [106_661_000, 831_726_000]
    assert list(page_ids([(81, 1001)])[81])[998:] == [81_999, 1_282_836_000, 354_691_000]


@steady
@given(chapters)
def test_ids_are_unique_and_in_range(catalog: dict[int, int]) -> None:
    """From 1 to 2147483647, whatever chapters there are."""
    ids = [one for found in page_ids(catalog.items()).values() for one in found]

    assert len(set(ids)) == len(ids) == sum(catalog.values())
    assert all(0 < one <= MAX_ID for one in ids)


@steady
@given(chapters, chapters)
def test_other_chapters_change_nothing(catalog: dict[int, int], others: dict[int, int]) -> None:
    """Chapters that come or go leave the pages of the rest alone."""
    alone, together = page_ids(catalog.items()), page_ids((others | catalog).items())

    assert {one: list(alone[one]) for one in catalog} == {one: list(together[one]) for one in catalog}


@steady
@given(chapters, st.integers(1, 5))
def test_pages_that_are_added_at_the_end_change_nothing(catalog: dict[int, int], more: int) -> None:
    """A page keeps its id while it keeps its number."""
    before, after = page_ids(catalog.items()), page_ids((one, count + more) for one, count in catalog.items())

    assert all(list(after[one])[: len(found)] == list(found) for one, found in before.items())


def test_a_place_that_is_taken_is_passed_over() -> None:
    """These two would have one id for their first pages; the chapter with the higher id takes the next place."""
    found = page_ids([(2_149_597, 1), (2_148_622, 1)])

    assert {one: list(ids) for one, ids in found.items()} == {2_148_622: [1_224_538_000], 2_149_597: [1_224_539_000]}


def test_the_order_in_which_chapters_are_found_does_not_matter() -> None:
    """A catalog is read from files, in whatever order they lie."""
    catalog = [(MAX_ID, 3), (81, 1005), (MAX_ID - 1, 2), (5, 1)]
    there, back = page_ids(catalog), page_ids(reversed(catalog))

    assert {one: list(ids) for one, ids in there.items()} == {one: list(ids) for one, ids in back.items()}
