"""`views`: each request in the logs is counted once, and the next build shows the counts."""

import gzip
import json
import tempfile
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.authoring import view_counts
from tests.conftest import Serve, Site, copy_of
from tests.support.author_catalogs import SECOND, Run, chapter, counts, line, lines, series
from tests.support.runs import everything


def body(site: Site, url: str) -> dict[str, object]:
    value: dict[str, object] = json.loads((site.folder / "dist" / site.manifest.resources[url].file).read_bytes())
    return value


# Counting


def test_each_line_is_one_view(counting: Site, add_views: Run) -> None:
    """views.yaml has the counts in the order of chapter ids."""
    result = add_views(lines(1, 2, chapter=10) + lines(3, chapter=2))

    assert result.output == f"{counting.folder}/catalog_src: 3 views added, 0 already counted\n"
    assert counts(counting) == "2: 1\n10: 2\n"


def test_a_repeated_log_changes_nothing(counting: Site, add_views: Run) -> None:
    """Its requests were counted before."""
    log = lines(1, 2, 3) + lines(4, day="2026-05-02")
    add_views(log)
    before = counts(counting)

    result = add_views(log, log)

    assert result.output == f"{counting.folder}/catalog_src: 0 views added, 8 already counted\n"
    assert counts(counting) == before == "1: 4\n"


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
def test_plain_and_gzipped_logs_are_read(counting: Site, add_views: Run, content: str | bytes) -> None:
    """With any file name."""
    assert (add_views(content).stderr, counts(counting)) == ("", "1: 2\n")


def test_an_empty_log_adds_nothing(counting: Site, add_views: Run) -> None:
    """It results in a file without views."""
    assert (add_views("").exit_code, counts(counting)) == (0, "")


@pytest.mark.parametrize(
    "cut",
    [
        line(2)[:-1],  # still being written, or the end of a log that was cut: 12 may be going to be 123
        line(2)[1:],
        "\n",
        line(2).upper(),
        line(2).replace(" 1\n", " 01\n"),
        line(2).replace(" 1\n", " 0\n"),
        line(2).replace(" 1\n", " 12345678901\n"),
        line(2).replace("\n", " \n"),
        line(2).replace("2026", "２０２６"),
        line(2).replace("-05-", "-13-"),
        line(2).replace("-01T", "-32T"),
        line(2).replace("-05-01T", "-02-30T"),
        line(2).replace("-05-01T", "-04-31T"),
        line(2).replace("T12:", "T24:"),
        line(2).replace(":00:00+", ":60:00+"),
        line(2).replace(":00+", ":60+"),
        '127.0.0.1 - - [01/May/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12\n',
        b"\xff\xfe\n",
    ],
)
def test_invalid_lines_are_reported(counting: Site, add_views: Run, cut: str | bytes) -> None:
    """With their number and log; other lines are counted."""
    content = line(1).encode() + (cut if isinstance(cut, bytes) else cut.encode())

    result = add_views(lines(3), content)

    log = counting.folder / "views.log.1"
    assert result.stderr == (
        f"warning: {log}: 1 line invalid, skipped; an incomplete last line counts once it is complete\n"
    )
    assert counts(counting) == "1: 2\n"


def test_every_day_counts() -> None:
    """And each hour of a day, in a year with a leap day."""
    first = datetime(2028, 1, 1)
    times = [first + timedelta(hours=25 * step) for step in range(351)]
    tally = view_counts.Tally()

    assert tally.add(f"{time.isoformat()}+00:00 {'a' * 32} 1\n".encode() for time in times) == 0
    assert tally.counted == len({time.date() for time in times})


def test_an_incomplete_line_counts_once_it_is_complete(counting: Site, add_views: Run) -> None:
    """The live log may be read at any time."""
    log = lines(1, 2, chapter=12)
    add_views(log[:-2])
    add_views(log)

    assert counts(counting) == "12: 2\n"


def test_json_has_the_same_content(counting: Site, add_views: Run) -> None:
    """As fields."""
    result = add_views(lines(1, 2, 2), "a\nb\n", json=True)

    assert result.stderr == ""
    numbers = {"counted": 2, "repeated": 1, "too_old": 0}
    unreadable = {f"{counting.folder}/views.log.1": 2}
    assert json.loads(result.stdout) == {"ok": True, **numbers, "unreadable": unreadable}


def test_messages_have_singular_and_plural(add_views: Run) -> None:
    """1 line, 2 lines."""
    assert "views.log.0: 2 lines invalid, skipped" in add_views("a\nb\n").stderr


@given(st.data())
@settings(max_examples=60 if everything else 15)
def test_cut_packed_and_shuffled_logs_have_the_same_counts(data: st.DataObject) -> None:
    """Each request counts once."""
    viewed = data.draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 120)), max_size=12))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    whole = "".join(line(n, id, f"2026-05-0{day}", end) for n, (day, id) in enumerate(viewed)).encode()
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
        counted = dict(one.split(": ") for one in counts(site).splitlines())

    assert counted == {str(id): str(count) for id, count in Counter(id for _, id in viewed).items()}


# Counts in a release


def test_a_log_of_nginx_is_counted(serve: Serve, add_views: Run) -> None:
    """All of its lines are views."""
    site, server = serve("v2")
    url = next(one for one in site.manifest.resources if one.startswith("/api/v2/chapters/") and one.endswith("/pages"))
    log = site.folder / "dist/run/views.log"
    # After a response, nginx is running and has a log.
    assert server.ask(url).status == 200
    add_views(log.read_bytes())

    for asked in (f"{url}?track=true", f"{url}?track=true", url):
        assert server.ask(asked).status == 200

    result = json.loads(add_views(log.read_bytes(), json=True).stdout)
    assert (result["counted"], result["unreadable"]) == (2, {})


def test_the_next_build_shows_the_views(counting: Site, add_views: Run) -> None:
    """In the chapter, in lists, and as a sum in the series. The field of a chapter has those from before this site."""
    counting.write(SECOND, series(chapter(3, "id: 3, views: 100, "), chapter(4, "id: 4, ")))
    counting.build()
    add_views(lines(1, 2, chapter=2) + lines(3, 4, 5, chapter=1) + lines(6, chapter=3))
    counting.build()

    assert [body(counting, f"/api/v2/chapters/{one}")["views"] for one in (1, 2, 3, 4)] == [3, 2, 101, 0]
    assert [body(counting, f"/api/v2/series/{one}")["views"] for one in ("first", "second")] == [5, 101]


def test_views_decide_the_order(counting: Site, add_views: Run) -> None:
    """Of the list that is sorted by views."""

    def order() -> list[str]:
        counting.build()
        (url,) = (one for one in counting.manifest.resources if "sort=-views&page=1" in one)
        results = body(counting, url)["results"]
        assert isinstance(results, list)
        return [one["slug"] for one in results]

    add_views(lines(1, chapter=1))
    assert order() == ["first", "second"]

    add_views(lines(2, 3, chapter=3))
    assert order() == ["second", "first"]


def test_views_of_removed_chapters_are_kept(counting: Site, add_views: Run) -> None:
    """They are shown again if the chapter returns."""
    add_views(lines(1, chapter=77) + lines(2, chapter=3))
    counting.build()
    add_views(lines(3, chapter=3))

    assert counts(counting) == "3: 2\n77: 1\n"
    assert body(counting, "/api/v2/series/second")["views"] == 1


def test_views_are_not_an_edit(counting: Site, add_views: Run) -> None:
    """Bodies without views keep ETag and Last-Modified."""
    counting.build()
    before = counting.manifest.resources["/api/series/first"]
    add_views(lines(1))
    counting.build()

    assert counting.manifest.resources["/api/series/first"] == before


def test_chapter_ids_have_at_most_10_digits() -> None:
    """Longer ones are invalid lines."""
    tally = view_counts.Tally()

    assert tally.add([line(1, 9_999_999_999).encode(), line(2, 99_999_999_999).encode()]) == 1
    assert tally.counts == {"9999999999": 1}
