"""What `views` remembers, and what it does when something is wrong."""

import gzip
import random
from collections.abc import Callable, Sequence

import pytest
from click.testing import Result

from generator.authoring import view_counts, view_log
from generator.authoring.view_log import DAYS_KEPT, CountedRequests
from tests.conftest import Site
from tests.support import author_catalogs
from tests.support.author_catalogs import Run, counts, line, lines


@pytest.fixture
def counting(site: Site) -> Site:
    """A catalog of two series, one with the chapters 1 and 2, one with the chapter 3."""
    return author_catalogs.with_chapters(site)


@pytest.fixture
def fold(counting: Site, run: Run) -> Callable[..., Result]:
    """`build.py views` with logs of these contents."""
    return author_catalogs.folding(counting, run)


# What is remembered


def days(count: int) -> Sequence[str]:
    return [f"20{26 + number // 336:02}-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}" for number in range(count)]


def test_a_log_counts_once_for_as_many_days_as_are_kept(counting: Site, fold: Callable[..., Result]) -> None:
    """On the last day that is remembered, a repeated line is known; a day older, it is left out, and that is said."""
    log = "".join(line(number, day=day) for number, day in enumerate(days(DAYS_KEPT + 1)))
    fold(log)

    result = fold(log + line(1000, day=days(2)[1]) + line(1001, day=days(1)[0]))

    assert counts(counting) == f"1: {DAYS_KEPT + 2}\n"
    assert result.stdout == f"{counting.folder}/catalog_src: 1 views added, {DAYS_KEPT} already counted\n"
    assert result.stderr == "warning: 2 lines of 2026-01-01 or earlier skipped: too old to detect duplicates\n"


def test_old_logs_count_when_they_come_together(counting: Site, fold: Callable[..., Result]) -> None:
    """Years of logs can be given at once, in any order; days are forgotten when all of them are read."""
    logs = [line(number, day=day) for number, day in enumerate(days(3 * DAYS_KEPT))]
    random.Random(0).shuffle(logs)

    assert fold(*logs).exit_code == 0
    assert counts(counting) == f"1: {3 * DAYS_KEPT}\n"


def test_days_without_views_are_not_days(counting: Site, fold: Callable[..., Result]) -> None:
    """A site that slept for years still knows what was counted before."""
    fold(line(1, day="2020-01-01"))
    fold(line(2, day="2026-05-01"), line(1, day="2020-01-01"))

    assert counts(counting) == "1: 2\n"


def test_what_is_remembered_does_not_grow_for_ever(counting: Site, fold: Callable[..., Result]) -> None:
    """Twelve bytes a view, for as many days as are kept; the counts themselves are a line a chapter."""
    seen = counting.folder / "catalog_src" / view_counts.COUNTED
    every = days(3 * DAYS_KEPT)
    sizes = []
    for start in range(0, len(every), DAYS_KEPT):
        fold("".join(line(start * 10 + n, day=day) for day in every[start : start + DAYS_KEPT] for n in range(10)))
        sizes.append(seen.stat().st_size)

    assert max(sizes) - min(sizes) < 100
    assert max(sizes) < DAYS_KEPT * (10 * 12 + 20) + 200


def test_a_memory_is_read_as_it_was_written() -> None:
    """Nothing of it is lost on disk."""
    memory = CountedRequests(
        {"2026-05-01": {"0123456789ab", "ba9876543210"}, "2026-05-02": set()}, "2026-01-01", "ab", {"7": 3}
    )

    assert view_log.load(view_log.dump(memory)) == memory
    assert view_log.dump(view_log.load(view_log.dump(memory))) == view_log.dump(memory)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"seen":{},"closed":"","over":""}',
        '{"seen":[],"closed":"","over":"","counts":{}}',
        '{"seen":{"2026-05-01":[]},"closed":"","over":"","counts":{}}',
        '{"seen":{"2026-05-01":"0123"},"closed":"","over":"","counts":{}}',
        '{"seen":{"yesterday":""},"closed":"","over":"","counts":{}}',
        '{"seen":{},"closed":"","over":"","counts":{"a":1}}',
        '{"seen":{},"closed":"","over":"","counts":{"1":null}}',
    ],
)
def test_a_damaged_memory_is_named_and_nothing_is_counted(
    counting: Site, fold: Callable[..., Result], text: str
) -> None:
    """Counting on without it would count everything twice."""
    counting.write(view_counts.COUNTED, text)

    result = fold(lines(1))

    assert (result.exit_code, result.stdout, result.stderr) == (
        1,
        "",
        f"{counting.folder}/catalog_src/{view_counts.COUNTED}: damaged; restore it from a backup, "
        "or remove it and do not count old logs again\n",
    )
    assert not (counting.folder / "catalog_src/views.yaml").exists()


# What can go wrong


def test_a_crash_between_the_two_files_loses_nothing_and_doubles_nothing(
    counting: Site, fold: Callable[..., Result]
) -> None:
    """The memory is written first; if the counts stayed behind, they are caught up from it."""
    counted = counting.folder / "catalog_src/views.yaml"
    fold(lines(1, 2))
    before = counted.read_bytes()
    fold(lines(3) + lines(4, chapter=2))
    counted.write_bytes(before)

    fold(lines(1, 2, 3) + lines(4, chapter=2))

    assert counts(counting) == "1: 3\n2: 1\n"


def test_a_crash_in_the_first_run_and_again_loses_nothing(counting: Site, fold: Callable[..., Result]) -> None:
    """Not even when there were no counts yet, and when it happens twice in a row."""
    counted = counting.folder / "catalog_src/views.yaml"
    for number in (1, 2):
        fold(lines(number))
        counted.unlink()

    fold(lines(3))

    assert counts(counting) == "1: 3\n"


def test_counts_that_people_set_right_stay_so(counting: Site, fold: Callable[..., Result]) -> None:
    """Whoever takes the views of a robot out of the file does not find them there again."""
    fold(lines(1, 2, 3) + lines(4, chapter=2))
    counting.write("views.yaml", "1: 1\n")

    fold(lines(1, 2, 3, 5) + lines(4, chapter=2))

    assert counts(counting) == "1: 2\n"


def test_a_log_that_cannot_be_read_stops_the_command(counting: Site, fold: Callable[..., Result]) -> None:
    """Nothing of any log is counted, so that all of them can be given again."""
    packed = gzip.compress("".join(map(line, range(500))).encode())
    broken = [packed[:-20], packed[:-8] + bytes(8), packed[:30] + b"\xff" * 50 + packed[80:], packed + b"\x1f\x8bX"]
    for content in broken:
        result = fold(lines(1), content)

        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(f"{counting.folder}/views.log.1: cannot be read: ")
        assert not (counting.folder / "catalog_src/views.yaml").exists()


def test_a_log_that_is_not_there_is_named(counting: Site, run: Run) -> None:
    """A name that is wrong is no quiet day."""
    result = run("views", "--catalog", counting.folder / "catalog_src", counting.folder / "no.log")

    assert (result.exit_code, result.stderr) == (
        1,
        f"{counting.folder}/no.log: cannot be read: No such file or directory\n",
    )


def test_a_catalog_with_problems_counts_nothing(counting: Site, fold: Callable[..., Result]) -> None:
    """The log waits, and the next run counts it."""
    counting.write("authors.yaml", "- {id: 1}\n")

    result = fold(lines(1))

    assert (result.exit_code, result.stdout) == (1, "")
    assert "authors.yaml:1:3: [0].name: is missing" in result.stderr
    assert not (counting.folder / "catalog_src" / view_counts.COUNTED).exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1: -1\n", "views.yaml:1:4: 1: should be 0 or more, not -1"),
        ("2: 1\n1: many\n", "views.yaml:2:4: 1: should be a whole number, not "),
        ("1: 1.5\n", "views.yaml:1:4: 1: should be a whole number, not 1.5"),
        ('1: "12"\n', "views.yaml:1:4: 1: should be a whole number, not "),
        ("1: true\n", "views.yaml:1:4: 1: should be a whole number, not true"),
        ("1:\n", "views.yaml:1:3: 1: has no value; add one or remove the line"),
        ("1: 9007199254740992\n", "views.yaml:1:4: 1: should be 9007199254740991 or less"),
        ("- 1\n", "views.yaml:1:1: should be fields with values, not a list"),
        ("1\n", "views.yaml:1:1: should be fields with values, not 1"),
        ("2: 1\nfirst: 1\n", "views.yaml:2:1: first: should be the id of a chapter, not first"),
        ("01: 1\n", "views.yaml:1:1: 01: should be the id of a chapter, not 01"),
        ("0: 1\n", "views.yaml:1:1: 0: should be the id of a chapter, not 0"),
        ("1: 1\n1: 2\n", "views.yaml:2:1: duplicate field 1"),
    ],
)
def test_what_is_wrong_with_counts_is_said_in_its_place(counting: Site, run: Run, text: str, problem: str) -> None:
    """views.yaml is a file of the catalog like any other."""
    counting.write("views.yaml", text)

    result = run("check", "--catalog", counting.folder / "catalog_src")

    assert result.exit_code == 1
    assert problem in result.stderr
