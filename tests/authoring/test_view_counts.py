"""`views`: logs in, counts out, each request once, and what becomes of them."""

import gzip
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.authoring import view_counts, view_log
from tests.conftest import Site, copy_of
from tests.support import author_catalogs, nginx_client
from tests.support.author_catalogs import Run, counts, line, lines


@pytest.fixture
def counting(site: Site) -> Site:
    """A catalog of two series, one with the chapters 1 and 2, one with the chapter 3."""
    return author_catalogs.with_chapters(site)


@pytest.fixture
def fold(counting: Site, run: Run) -> Callable[..., Result]:
    """`build.py views` with logs of these contents."""
    return author_catalogs.folding(counting, run)


def body(site: Site, url: str) -> dict[str, object]:
    value: dict[str, object] = json.loads((site.folder / "dist" / site.manifest.resources[url].file).read_bytes())
    return value


# Counting


def test_each_line_is_a_view_of_its_chapter(counting: Site, fold: Callable[..., Result]) -> None:
    """Counts stand by chapter, in the order of their ids, and the command says how many there were."""
    result = fold(lines(1, 2, chapter=10) + lines(3, chapter=2))

    assert result.output == f"{counting.folder}/catalog_src: 3 views added, 0 already counted\n"
    assert counts(counting) == "2: 1\n10: 2\n"


def test_counts_grow(counting: Site, fold: Callable[..., Result]) -> None:
    """A later log adds to what earlier ones gave."""
    fold(lines(1, 2))
    fold(lines(3) + lines(4, chapter=2))

    assert counts(counting) == "1: 3\n2: 1\n"


def test_the_same_log_again_changes_nothing(counting: Site, fold: Callable[..., Result]) -> None:
    """Whoever is not sure whether a log was counted gives it once more."""
    log = lines(1, 2, 3) + lines(4, day="2026-05-02")
    fold(log)
    before = counts(counting)

    result = fold(log, log)

    assert result.output == f"{counting.folder}/catalog_src: 0 views added, 8 already counted\n"
    assert counts(counting) == before == "1: 4\n"


def test_one_request_is_one_view_wherever_it_stands(counting: Site, fold: Callable[..., Result]) -> None:
    """The same line twice in a log, in two logs, and in a log of yesterday is the same view."""
    fold(lines(1, 1, 2), lines(2, 3))
    fold(lines(3, 1))

    assert counts(counting) == "1: 3\n"


@pytest.mark.parametrize(
    "content",
    [
        line(1) + line(2),
        line(1, end="\r\n") + line(2, end="\r\n"),
        gzip.compress((line(1) + line(2)).encode()),
        gzip.compress(line(1).encode()) + gzip.compress(line(2).encode()),
    ],
    ids=["plain", "crlf", "gzip", "two members"],
)
def test_logs_come_in_several_forms(counting: Site, fold: Callable[..., Result], content: str | bytes) -> None:
    """However a log was packed or passed on, its lines are the same; the name says nothing."""
    assert (fold(content).stderr, counts(counting)) == ("", "1: 2\n")


def test_an_empty_log_is_none(counting: Site, fold: Callable[..., Result]) -> None:
    """A quiet day makes a file without views."""
    assert (fold("").exit_code, counts(counting)) == (0, "")


@pytest.mark.parametrize(
    "cut",
    [
        line(2)[:-1],  # still being written, or the end of a log that was cut: 12 may be going to be 123
        line(2)[:40],
        line(2)[5:],
        line(2)[1:],
        "\n",
        "2026-05-01T12:00:00+02:00 - 12\n",
        line(2).upper(),
        line(2).replace(" 1\n", " 01\n"),
        line(2).replace(" 1\n", " 0\n"),
        line(2).replace(" 1\n", " -\n"),
        line(2).replace(" 1\n", " 12345678901\n"),
        line(2).replace("\n", " \n"),
        line(2).replace("2026", "２０２６"),
        '127.0.0.1 - - [01/May/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12\n',
        "\x00" * 50 + "\n",
        b"\xff\xfe\n",
    ],
)
def test_what_is_no_whole_line_is_counted_as_such(
    counting: Site, fold: Callable[..., Result], cut: str | bytes
) -> None:
    """It is no view, it spoils no other line, and the command says how many there were in which log."""
    content = line(1).encode() + (cut if isinstance(cut, bytes) else cut.encode())

    result = fold(lines(3), content)

    log = counting.folder / "views.log.1"
    assert result.stderr == (
        f"warning: {log}: 1 line invalid, skipped; an incomplete last line counts once it is complete\n"
    )
    assert counts(counting) == "1: 2\n"


def test_a_line_that_was_cut_counts_when_it_is_whole(counting: Site, fold: Callable[..., Result]) -> None:
    """The live log may be read at any moment."""
    log = lines(1, 2, chapter=12)
    fold(log[:-2])
    fold(log)

    assert counts(counting) == "12: 2\n"


def test_everything_is_told_as_json(counting: Site, fold: Callable[..., Result]) -> None:
    """Programs are told the same, without sentences."""
    result = fold(lines(1, 2, 2), "a\nb\n", json=True)

    assert result.stderr == ""
    assert json.loads(result.stdout) == {
        "ok": True,
        "counted": 2,
        "repeated": 1,
        "too_old": 0,
        "unreadable": {f"{counting.folder}/views.log.1": 2},
    }


def test_more_lines_than_one_are_lines(fold: Callable[..., Result]) -> None:
    """The report is written for people."""
    assert "views.log.0: 2 lines invalid, skipped" in fold("a\nb\n").stderr


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_however_logs_are_cut_packed_and_shuffled_the_counts_are_the_truth(data: st.DataObject) -> None:
    """Whatever way the whole of a log arrives in the end, each of its requests counts once."""
    viewed = data.draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 120)), max_size=12))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    whole = "".join(line(n, chapter, f"2026-05-0{day}", end) for n, (day, chapter) in enumerate(viewed)).encode()
    places = st.integers(0, len(whole))
    cuts = data.draw(st.lists(st.tuples(places, places), max_size=6))
    logs = [whole[min(cut) : max(cut)] for cut in cuts] + [whole] * data.draw(st.integers(1, 2))
    packed = [gzip.compress(log) if data.draw(st.booleans()) else log for log in data.draw(st.permutations(logs))]
    first = data.draw(st.integers(0, len(packed) - 1))

    with tempfile.TemporaryDirectory() as folder:
        site = copy_of("minimal", Path(folder))
        site.write("series/first.yaml", "title: First\ncover: cover.jpg\n")
        for part in (packed[:first], packed[first:]):
            logs_here = [Path(folder, f"log{number}") for number, _ in enumerate(part)]
            for log, content in zip(logs_here, part, strict=True):
                log.write_bytes(content)
            view_counts.add_views(site.folder / "catalog_src", logs_here)
        found = dict(one.split(": ") for one in counts(site).splitlines())

    assert found == {str(chapter): str(count) for chapter, count in Counter(chapter for _, chapter in viewed).items()}


# What becomes of the counts


def test_what_nginx_writes_is_counted(
    serve: Callable[[str], tuple[Site, nginx_client.Web]], fold: Callable[..., Result]
) -> None:
    """The log of a real server is read to the last line, and holds the views and nothing else."""
    site, server = serve("v2")
    url = next(one for one in site.manifest.resources if one.startswith("/api/v2/chapters/") and one.endswith("/pages"))
    log = site.folder / "dist/run/views.log"
    # Whoever was answered knows that nginx is there, and its log.
    assert server.ask(url).status == 200
    fold(log.read_bytes())

    for asked in (f"{url}?track=true", f"{url}?track=true", url):
        assert server.ask(asked).status == 200

    assert json.loads(fold(log.read_bytes(), json=True).stdout) | {"repeated": 0} == {
        "ok": True,
        "counted": 2,
        "repeated": 0,
        "too_old": 0,
        "unreadable": {},
    }


def test_the_next_build_shows_the_views(counting: Site, fold: Callable[..., Result]) -> None:
    """In the chapter, in its lists, and summed up in the series."""
    counting.build()
    fold(lines(1, 2, chapter=2) + lines(3, 4, 5, chapter=1))
    counting.build()

    assert [body(counting, f"/api/v2/chapters/{one}")["views"] for one in (1, 2, 3)] == [3, 2, 0]
    assert [body(counting, f"/api/v2/series/{one}")["views"] for one in ("first", "second")] == [5, 0]


def test_views_are_added_to_those_that_people_wrote(counting: Site, fold: Callable[..., Result]) -> None:
    """`views` of a chapter is where its history before this site has its place."""
    counting.write(
        "series/second.yaml",
        "title: Second\ncover: c.jpg\nchapters: [{id: 3, number: 1, published: 2026-02-02, pages: [], views: 100}]\n",
    )
    fold(lines(1, chapter=3))
    counting.build()

    assert body(counting, "/api/v2/chapters/3")["views"] == 101


def test_views_decide_the_order(counting: Site, fold: Callable[..., Result]) -> None:
    """The list that is sorted by views follows them."""

    def order() -> list[str]:
        counting.build()
        (url,) = (one for one in counting.manifest.resources if "sort=-views&page=1" in one)
        results = body(counting, url)["results"]
        assert isinstance(results, list)
        return [one["slug"] for one in results]

    fold(lines(1, chapter=1))
    assert order() == ["first", "second"]

    fold(lines(2, 3, chapter=3))
    assert order() == ["second", "first"]


def test_views_of_a_chapter_that_is_gone_are_kept(counting: Site, fold: Callable[..., Result]) -> None:
    """Whoever brings the chapter back finds its count; until then nothing shows it."""
    fold(lines(1, chapter=77) + lines(2, chapter=3))
    counting.build()
    fold(lines(3, chapter=3))

    assert counts(counting) == "3: 2\n77: 1\n"
    assert body(counting, "/api/v2/series/second")["views"] == 1


def test_views_do_not_change_when_anything_was_edited(counting: Site, fold: Callable[..., Result]) -> None:
    """Counting is no edit: bodies without views keep tag and date."""
    counting.build()
    before = counting.manifest.resources["/api/series/first"]
    fold(lines(1))
    counting.build()

    assert counting.manifest.resources["/api/series/first"] == before


def test_more_digits_than_a_line_may_have_are_no_chapter() -> None:
    """A tally takes what the log format can hold, and nothing else."""
    tally = view_log.Tally()

    assert tally.add([line(1, 9_999_999_999).encode(), line(2, 99_999_999_999).encode()]) == 1
    assert tally.counts == {"9999999999": 1}
