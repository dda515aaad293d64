"""The long files of a release are written while they are digested, in a folder that has no name yet."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator import encoding
from generator.api.payloads import v2
from generator.errors import FlatpanelError
from generator.pipeline.segments import FILES, Segments
from generator.release import journal
from generator.release.new_folder import TEMPORARY_NAME
from tests.conftest import AS_OF, Site


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the long files that are put together, each time that one is."""
    found: list[str] = []
    parts = Segments.parts

    def listening(runs: Segments, name: str) -> Iterator[bytes]:
        found.append(name)
        return parts(runs, name)

    monkeypatch.setattr(Segments, "parts", listening)
    return found


def releases(site: Site) -> set[str]:
    return set(os.listdir(site.folder / "dist/releases")) - {journal.FILE}


def test_each_is_read_once(site: Site, asked: list[str]) -> None:
    """What is on the disk when its digest is known is not put together again."""
    site.build()

    assert sorted(asked) == sorted(FILES)


def test_what_was_written_ahead_is_what_was_digested(site: Site) -> None:
    """The folder of a release holds the very bytes that its manifest tells of."""
    release = site.build().release
    folder = site.folder / "dist/releases" / release

    for name in FILES.keys() - {"manifest.json"}:
        assert encoding.sha256((folder / name).read_bytes()) == site.manifest.files[name]
    assert encoding.sha256((folder / "manifest.json").read_bytes()).startswith(release)


def test_nothing_is_written_ahead_while_no_body_is_new(site: Site, asked: list[str]) -> None:
    """A release of which only the configuration differs is written when that is known, and whole."""
    site.build()
    asked.clear()
    site.write("keys.yaml", f"- {{name: one, sha256: '{'0' * 64}'}}\n")
    release = site.build().release

    assert sorted(asked) == sorted([*FILES, *FILES])
    assert set(FILES) <= set(os.listdir(site.folder / "dist/releases" / release))


def test_what_a_dead_build_wrote_ahead_is_gone(site: Site) -> None:
    """Nothing of it gets into the release that is written next."""
    site.build()
    (site.folder / "dist/.flatpanel").write_text("unfinished\n")
    left = site.folder / "dist/releases" / TEMPORARY_NAME
    left.mkdir()
    (left / "left.map").write_text("half of")
    release = site.build().release

    assert releases(site) == {release}
    assert not (site.folder / "dist/releases" / release / "left.map").exists()


def test_a_release_that_is_there_is_not_written_twice(site: Site) -> None:
    """A body that somebody removed comes back, and the release is the one that it was."""
    first = site.build().release
    Path(site.folder / "dist", next(iter(site.manifest.resources.values())).file).unlink()
    again = site.build().release

    assert again == first
    assert releases(site) == {first}


def test_an_error_leaves_no_file_half_written(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was begun is gone at once, and its folder with the next build."""

    def failing(parts: Iterator[bytes]) -> str:
        next(parts)
        raise FlatpanelError("no")

    monkeypatch.setattr(encoding, "sha256_of_chunks", failing)
    with pytest.raises(FlatpanelError, match="no"):
        site.build()
    monkeypatch.undo()

    assert os.listdir(site.folder / "dist/releases" / TEMPORARY_NAME) == []
    assert releases(site) == {TEMPORARY_NAME}
    release = site.build().release
    assert releases(site) == {release}


@pytest.mark.parametrize("form", v2.DATE_FORMATS)
def test_only_dates_are_replaced(form: str) -> None:
    """A title may look like a date; its quotes have backslashes."""
    title = '"published":"1970-01-01T00:00:00Z"'
    kept = encoding.json([{"title": title, "published": v2.iso(one)} for one in (0, 86_399, AS_OF)])

    found = encoding.parse(v2.convert_dates(kept, form))
    assert [one["title"] for one in found] == [title] * 3
    assert [one["published"] for one in found] == [v2.DATE_FORMATS[form](one) for one in (0, 86_399, AS_OF)]
