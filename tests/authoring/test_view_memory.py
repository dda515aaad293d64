"""`views`: which requests are stored, and what happens after a crash or an error."""

import gzip
import random
from collections.abc import Sequence

import pytest

from generator.authoring import view_counts
from generator.authoring.view_counts import DAYS_KEPT
from tests.authoring.conftest import refused
from tests.conftest import Site
from tests.support.author_catalogs import Run, counts, line, lines

# Stored requests


def days(count: int) -> Sequence[str]:
    return [f"20{26 + number // 336:02}-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}" for number in range(count)]


def test_requests_are_stored_for_90_days(counting: Site, add_views: Run) -> None:
    """Older lines are skipped with a warning."""
    log = "".join(line(number, day=day) for number, day in enumerate(days(DAYS_KEPT + 1)))
    add_views(log)

    result = add_views(log + line(1000, day=days(2)[1]) + line(1001, day=days(1)[0]))

    assert counts(counting) == f"1: {DAYS_KEPT + 2}\n"
    assert result.stdout == f"{counting.folder}/catalog_src: 1 view added, {DAYS_KEPT} already counted\n"
    assert result.stderr == "warning: 2 lines of 2026-01-01 or earlier skipped: too old to detect duplicates\n"


def test_old_logs_can_be_counted_in_one_run(counting: Site, add_views: Run) -> None:
    """In any order; old days are closed after all logs are read."""
    logs = [line(number, day=day) for number, day in enumerate(days(3 * DAYS_KEPT))]
    random.Random(0).shuffle(logs)

    assert add_views(*logs).exit_code == 0
    assert counts(counting) == f"1: {3 * DAYS_KEPT}\n"


def test_days_without_views_do_not_count(counting: Site, add_views: Run) -> None:
    """A request is still known after years without views."""
    add_views(line(1, day="2020-01-01"))
    add_views(line(2, day="2026-05-01"), line(1, day="2020-01-01"))

    assert counts(counting) == "1: 2\n"


def test_the_stored_requests_are_limited(counting: Site, add_views: Run) -> None:
    """12 bytes for each request, for a limited number of days."""
    seen = counting.folder / "catalog_src" / view_counts.COUNTED
    every = days(3 * DAYS_KEPT)
    sizes = []
    for start in range(0, len(every), DAYS_KEPT):
        add_views("".join(line(start * 10 + n, day=day) for day in every[start : start + DAYS_KEPT] for n in range(10)))
        sizes.append(seen.stat().st_size)

    assert max(sizes) - min(sizes) < 100
    assert max(sizes) < DAYS_KEPT * (10 * 12 + 20) + 200


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"seen":[],"closed":"","over":"","counts":{}}',
        '{"seen":{"2026-05-01":[]},"closed":"","over":"","counts":{}}',
        '{"seen":{"2026-05-01":"0123"},"closed":"","over":"","counts":{}}',
        '{"seen":{"yesterday":""},"closed":"","over":"","counts":{}}',
        '{"seen":{},"closed":"","over":"","counts":{"a":1}}',
        '{"seen":{},"closed":"","over":"","counts":{"1":null}}',
    ],
)
def test_a_damaged_file_of_requests_is_an_error(counting: Site, add_views: Run, text: str) -> None:
    """Without it, requests would be counted twice."""
    counting.write(view_counts.COUNTED, text)

    advice = "damaged; restore it from a backup, or remove it and do not count old logs again"
    message = refused(counting, add_views, lines(1))
    assert message == f"{counting.folder}/catalog_src/{view_counts.COUNTED}: {advice}\n"


# Errors and crashes


def test_a_crash_between_the_two_files_loses_no_view(counting: Site, add_views: Run) -> None:
    """And counts none twice: the next run takes the counts from the first file."""
    counted = counting.folder / "catalog_src/views.yaml"
    add_views(lines(1, 2))
    before = counted.read_bytes()
    add_views(lines(3) + lines(4, chapter=2))
    counted.write_bytes(before)

    add_views(lines(1, 2, 3) + lines(4, chapter=2))

    assert counts(counting) == "1: 3\n2: 1\n"


def test_two_crashes_in_the_first_run_lose_no_view(counting: Site, add_views: Run) -> None:
    """There are no counts yet."""
    counted = counting.folder / "catalog_src/views.yaml"
    for number in (1, 2):
        add_views(lines(number))
        counted.unlink()

    add_views(lines(3))

    assert counts(counting) == "1: 3\n"


def test_edited_counts_are_kept(counting: Site, add_views: Run) -> None:
    """For example without the views of a robot."""
    add_views(lines(1, 2, 3) + lines(4, chapter=2))
    counting.write("views.yaml", "1: 1\n")

    add_views(lines(1, 2, 3, 5) + lines(4, chapter=2))

    assert counts(counting) == "1: 2\n"


def test_an_unreadable_log_counts_nothing(counting: Site, add_views: Run) -> None:
    """Not from the other logs, either, so that all can be passed again."""
    packed = gzip.compress("".join(map(line, range(500))).encode())
    broken = [packed[:-20], packed[:-8] + bytes(8), packed[:30] + b"\xff" * 50 + packed[80:], packed + b"\x1f\x8bX"]
    for content in broken:
        message = refused(counting, add_views, lines(1), content)
        assert message.startswith(f"{counting.folder}/views.log.1: cannot be read: ")


def test_a_missing_log_is_an_error(counting: Site, run: Run) -> None:
    """The name may be misspelt."""
    log = counting.folder / "no.log"
    message = refused(counting, run, "views", "--catalog", counting.folder / "catalog_src", log)

    assert message == f"{log}: cannot be read: No such file or directory\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1: -1\n", "views.yaml:1:4: 1: should be 0 or more, not -1"),
        ("1: 1.5\n", "views.yaml:1:4: 1: should be a whole number, not 1.5"),
        ("1: true\n", "views.yaml:1:4: 1: should be a whole number, not true"),
        ("1: 9007199254740992\n", "views.yaml:1:4: 1: should be 9007199254740991 or less"),
        ("- 1\n", "views.yaml:1:1: should be fields with values, not a list"),
        ("2: 1\nfirst: 1\n", "views.yaml:2:1: first: should be the id of a chapter, not first"),
        ("1: 1\n1: 2\n", "views.yaml:2:1: duplicate field 1"),
    ],
)
def test_problems_in_views_yaml_have_a_place(counting: Site, run: Run, text: str, problem: str) -> None:
    """Like in any file of the catalog."""
    counting.write("views.yaml", text)

    result = run("check", "--catalog", counting.folder / "catalog_src")

    assert result.exit_code == 1
    assert problem in result.stderr
