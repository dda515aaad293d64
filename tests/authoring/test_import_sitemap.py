"""Chapters that only the sitemap lists."""

from pathlib import Path

from generator import encoding
from generator.reading_sites import sitemap
from generator.reading_sites.notes import Notes
from tests.support.fake_site import Reply, serving, small


def urls(*paths: str) -> bytes:
    """A sitemap with these paths."""
    return "".join(f"<url><loc>https://comics.example/reader/{path}/</loc></url>" for path in paths).encode()


def test_missing_chapters_are_counted_for_each_series() -> None:
    """Numbers are rounded to six digits there; chapters may share a number."""
    notes = Notes()
    text = urls("one/0/1", "one/0/1", "one/2/1234.57", "one/0/7", "two/1/0.5", "three/0/1", "four", "one/0/x", "ü/0/1")
    chapters = {
        "one": [{"number": "1"}, {"number": "1234.567", "volume": 2}, {"number": "99"}],
        "three": [{"number": 1}],
    }
    sitemap.note_missing(sitemap.listed(b"", text), chapters, notes)

    end = "publication time unknown; not written"
    assert [*notes] == [
        f"one, two: 1 chapter only in the sitemap (scheduled or licensed): {end}",
        f"one: 1 chapter only in the sitemap (with the number of another chapter): {end}",
    ]
    assert "\n2 chapters only in the sitemap (scheduled or licensed)" in notes.details()


def test_series_without_a_response_are_noted() -> None:
    """Without version 1, no response has series without published chapters."""
    notes = Notes()
    sitemap.note_missing(sitemap.listed(urls("one", "two", "one/0/1", "../x"), b""), {"one": []}, notes)

    assert [*notes] == ["two: only in the sitemap: no response describes the series; not written"]


def test_sitemap_beyond_the_limit_is_skipped(tmp_path: Path) -> None:
    """With a note, like any response."""
    answers = small() | {
        "/api/v2/authors": Reply(body=encoding.json({"results": []}), headers={"Warning": "299 MangAdventure/v0.9.6"}),
        sitemap.CHAPTERS: Reply(body=b" " * (1 << 20) + b"x"),
    }
    with serving(answers) as site:
        notes = site.imported(tmp_path, max_response=1).notes

    assert any(note.startswith(f"{sitemap.CHAPTERS}: ") for note in notes)
