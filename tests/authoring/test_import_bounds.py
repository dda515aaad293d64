"""Limits of an import: requests, bytes, values, series and notes; the next run resumes."""

import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from generator import encoding
from generator.catalog.yaml import reader
from generator.errors import FlatpanelError
from generator.imports import run
from generator.imports.run import ImportOptions
from generator.reading_sites import crawl, lenient, notes, responses, site_client
from generator.reading_sites.lenient import UnusableResponse, large_array, parsed
from generator.reading_sites.notes import Notes
from generator.reading_sites.site_client import SiteClient
from generator.server_url import ServerUrl
from tests.support.fake_site import FakeSite, Reply, chapter, old_series, serving, small
from tests.support.import_project import change, project, recorded_database
from tests.support.real_service import USUAL, RealService

MIB = 1 << 20


def with_series(series: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The small site with these series, which have these fields."""
    answers = small()
    whole = answers["/api/v2/series/one"]
    answers["/api/v2/series"]["results"] = [{"slug": slug} for slug in series]
    return answers | {f"/api/v2/series/{slug}": {**whole, "slug": slug, **fields} for slug, fields in series.items()}


def runs_until_finished(site: FakeSite, folder: Path, **options: Any) -> int:
    """Return the number of runs until an import is complete."""
    for count in range(1, 100):
        try:
            site.imported(folder, **options)
        except FlatpanelError as error:
            message = str(error)
            assert message.startswith(f"{site.url}: limit of ") and "in one run reached; run again to resume" in message
        else:
            return count
    raise AssertionError("it does not end")


@pytest.mark.parametrize(("name", "most"), [("MAX_REQUESTS", 7), ("MAX_BYTES", 1500)])
def test_a_run_that_reaches_a_limit_is_resumed(
    name: str, most: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Limits of requests and of bytes; nothing is requested twice."""
    monkeypatch.setattr(site_client, name, most)
    with serving(small()) as site:
        assert runs_until_finished(site, tmp_path) > 2

    assert len(site.paths) == len(set(site.paths))
    assert (tmp_path / "catalog_src/series/one.yaml").exists()


def test_a_path_that_is_too_long_is_not_requested() -> None:
    """Paths contain names from the site."""
    with serving({}) as site:
        asker = SiteClient(ServerUrl.of(site.url), lambda: 0.0, site.sleep)
        with pytest.raises(UnusableResponse, match="path is longer than 8000 characters"):
            asker.get(f"/{'x' * 9000}", {})

    assert site.asked == []


def test_json_with_too_many_values_is_not_parsed() -> None:
    """The estimate includes strings; 50,000 chapters in one response are below the limit."""
    body = b'{"results":[' + b",".join([b"{}"] * 10_000) + b"]}"

    assert lenient.value_count(b'{"a":[1,2,{"b":"[,"}]}') == 7
    assert len(parsed(body, 64 * MIB)["results"]) == 10_000
    with pytest.raises(UnusableResponse, match="JSON has more than 13107 values"):
        parsed(body, MIB)
    with pytest.raises(UnusableResponse, match=r"JSON is larger than 0\.25 MiB"):
        parsed(b" " * MIB, MIB)


@pytest.mark.bounds
def test_50000_chapters_fit_the_default_limits() -> None:
    """As the original service has in `/api/v2/chapters`: 13 MB, and 14 values for each chapter."""
    listed = {"id": 49999, "title": "The twenty-fifth chapter", "number": 25.0, "volume": 1, "views": 0, "final": False}
    listed |= {"published": "2026-01-01T00:00:00Z", "series": "a-series-of-them", "groups": ["Night Shift"]}
    listed |= {"full_title": "Vol. 1, Ch. 25: The twenty-fifth chapter", "url": "/reader/a-series-of-them/1/25/"}
    body = encoding.json({"results": [listed] * 50_000})

    assert len(parsed(body, site_client.MAX_RESPONSE * MIB)["results"]) == 50_000


def large(text: bytes) -> list[Any]:
    return list(large_array(text, lambda: text, MIB))


def test_large_arrays_are_parsed_object_by_object() -> None:
    """Same objects as by the parser; other values and invalid JSON are skipped, and an open string is the end."""
    things = [{"slug": "a", "x": [{"}": '"]'}, "\\"]}, {}, ["[", {}], {"é": "\u2028"}]

    assert large(encoding.json(things)) == things
    assert large(b' [ {"a": 1} , 7, "{", {"b" 2}, {"c":3}] ') == [{"a": 1}, {"c": 3}]
    assert large(b'[{"a":1},{"b":"') == [{"a": 1}]
    assert large(b"[{},]]]{}") == [{}]
    assert large(b"[{},[" + b"{}," * 20_000 + b"{}],{}]") == [{}, {}]
    with pytest.raises(UnusableResponse, match="has more than 65536 values"):
        large(b"[" + b"{}," * 40_000 + b"{}]")


def test_a_large_old_list_of_series_is_imported(tmp_path: Path) -> None:
    """The older versions have all data in one list, which may be as large as a response."""
    listed = [{**old_series(), "slug": f"s{number}", "description": "x" * 5000} for number in range(100)]
    answers: dict[str, Any] = {"/api/v1/series": listed, **{f"/api/v1/series/{one['slug']}": one for one in listed}}
    with serving(answers) as site:
        site.imported(tmp_path, max_response=1)

    assert len(list((tmp_path / "catalog_src/series").iterdir())) == 100


def test_values_are_read_from_the_cache_folder(tmp_path: Path) -> None:
    """If there are more than fit into memory, or one is too large."""
    sizes = {"one": 10, "two": 1_500_000, "three": 1_500_000, "four": 3_000_000}
    with serving(with_series({slug: {"description": slug, "other": "x" * sizes[slug]} for slug in sizes})) as site:
        site.imported(tmp_path)

    for slug in sizes:
        read = reader.load((tmp_path / f"catalog_src/series/{slug}.yaml").read_bytes())
        assert read["description"] == slug


@pytest.mark.parametrize(("letter", "series"), [("x", 48), ("愛", 6)])
def test_the_memory_of_all_records_is_limited(letter: str, series: int, tmp_path: Path) -> None:
    """Each response alone is below its limit."""
    text = letter * min(100_000, 240_000 // len(letter.encode()))
    with serving(with_series({f"s{number}": {"description": text} for number in range(series)})) as site:
        with pytest.raises(FlatpanelError, match="records take more than 4 MiB of memory; raise --max-response"):
            site.imported(tmp_path, max_response=1)
        assert not (tmp_path / "catalog_src/series").exists()
        site.imported(tmp_path, max_response=8)
        assert len(list((tmp_path / "catalog_src/series").iterdir())) == series + 1


def test_what_a_large_site_takes_is_known_before_the_requests_for_its_series(tmp_path: Path) -> None:
    """The original service states how many chapters a series has; each takes a request."""
    answers = small()
    listed = answers["/api/v2/series"]["results"][0]
    answers["/api/v1/releases"] = Reply(body=b"[]", headers={"Warning": "299 MangAdventure/0.8.0"})
    with serving(answers) as site:
        made = project(tmp_path / "announced", RealService(USUAL, "v0.9.6"))
        listed["chapters"] = 70_000
        assert "about 70,004 requests to go, 12 minutes" in made.import_(url=site.url).output
        site.asked.clear()
        listed["chapters"] = 700_000
        with pytest.raises(FlatpanelError, match="records take more than 256 MiB of memory"):
            site.imported(tmp_path)

    assert not any("/one" in path for path in site.paths)


SERIES = 24


def names(pages: int) -> list[str]:
    """Names of pages as the original service makes them; a run of numbers would be short."""
    return [f"{sha256(bytes([page >> 8, page & 255])).hexdigest()[:32]}.png" for page in range(pages)]


@contextmanager
def site_of(pages: int, folder: Path) -> Iterator[ImportOptions]:
    """A site with one chapter in each series, in Cubari JSON."""
    slugs = [f"s{number}" for number in range(SERIES)]
    answers = with_series({slug: {} for slug in slugs})
    for id, slug in enumerate(slugs, 1):
        listed = chapter(id, 1.0, series=slug)
        urls = [f"https://comics.example/media/series/{slug}/1/1/{name}" for name in names(pages)]
        cubari = {"volume": "1", "number": "1", "groups": {"Night Shift": urls}, "last_updated": "1767225600"}
        answers[f"/api/v2/series/{slug}/chapters"] = {"results": [listed]}
        answers[f"/api/v2/cubari/{slug}"] = {"chapters": {str(id): cubari}}
    with serving(answers) as site:
        yield site.import_options(folder)


@contextmanager
def database_of(pages: int, folder: Path) -> Iterator[ImportOptions]:
    """A database with one chapter in each series."""
    folder.mkdir()
    file = recorded_database(folder)
    values = [(f"s{number}", number) for number in range(1, SERIES + 1)]
    columns = ("series", "chapter", "page")
    series = ", ".join(f"({id}, '{slug}', '{slug}', '', '', 'c.png', 'ongoing', 0, 0, 0)" for slug, id in values)
    chapters = ", ".join(f"({id}, '', 1, 1, '', 0, '2024-01-01', {id}, '2024-01-01', 0)" for _, id in values)
    images = ", ".join(
        f"({number}, 'series/{slug}/1/1/{name}', {id})"
        for slug, id in values
        for number, name in enumerate(names(pages), 1)
    )
    change(
        file,
        *(f"DELETE FROM reader_{table}" for table in columns),
        "INSERT INTO reader_series (id, slug, title, description, format, cover, status, licensed, modified, created)"
        f" VALUES {series}",
        f"INSERT INTO reader_chapter VALUES {chapters}",
        f"INSERT INTO reader_page (number, image, chapter_id) VALUES {images}",
    )
    options = FakeSite({}).import_options(folder)
    yield replace(options, site=None, database=file)


@pytest.mark.bounds
@pytest.mark.parametrize("source", [site_of, database_of])
def test_memory_does_not_grow_with_the_pages_of_all_series(
    source: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In the first import, which writes all of them, and in the next one, which compares them with the catalog."""
    # The values of these bodies stay in memory, up to a size that no small site has.
    monkeypatch.setattr(responses, "_RECENT", 1 << 13)
    peaks = []
    # What the first of these imports loads stays in memory.
    for pages in (1, 5, 55):
        with source(pages, tmp_path / str(pages)) as options:
            for _ in ("first import", "second import"):
                tracemalloc.start()
                run.run(options)
                peaks.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()

    for few, many in (peaks[2::2], peaks[3::2]):
        # One list of all names would take 90 bytes for each of the 1,200 pages.
        assert many - few < 50 * SERIES * 60


def test_old_lists_of_series_are_cut(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A note says so."""
    monkeypatch.setattr(crawl, "MAX_SERIES", 3)
    with serving({"/api/v1/series": [{"slug": f"s{number}"} for number in range(9)]}) as site:
        done = site.imported(tmp_path)

    assert "more than 3 series; the rest is skipped" in done.notes
    paths = [path for path in site.paths if path.startswith("/api/v1/series/")]
    assert paths == [f"/api/v1/series/s{number}" for number in range(3)]


def test_the_number_of_notes_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile site can cause any number of them."""
    monkeypatch.setattr(notes, "_MOST", 3)
    limited = Notes()
    for number in range(5):
        limited.add("is wrong", f"thing {number}")

    assert list(limited) == ["thing 0, thing 1, thing 2: is wrong", "2 more notes omitted"]
