"""The long files of a release are written while their digests are computed, in a folder without an id."""

import os
from collections.abc import Iterator

import pytest

from generator import encoding
from generator.api.payloads import v2
from generator.errors import FlatpanelError
from generator.pipeline.segments import FILES, Segments
from generator.release import journal
from generator.release.transaction import TEMPORARY_NAME
from tests.conftest import AS_OF, Site


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the long files, each time that one is assembled."""
    names: list[str] = []
    parts = Segments.parts

    def listening(runs: Segments, name: str) -> Iterator[bytes]:
        names.append(name)
        return parts(runs, name)

    monkeypatch.setattr(Segments, "parts", listening)
    return names


def releases(site: Site) -> set[str]:
    return set(os.listdir(site.folder / "dist/releases")) - {journal.FILE}


def test_each_long_file_is_assembled_once(site: Site, asked: list[str]) -> None:
    """A file that is on the disk when its digest is complete is not assembled again."""
    site.build()

    assert sorted(asked) == sorted(FILES)


def test_nothing_is_written_ahead_without_a_new_body(site: Site, asked: list[str]) -> None:
    """If only the configuration differs, the release is written after its id is known."""
    site.build()
    asked.clear()
    site.write("keys.yaml", f"- {{name: one, sha256: '{'0' * 64}'}}\n")
    release = site.build().release

    assert sorted(asked) == sorted([*FILES, *FILES])
    assert set(FILES) <= set(os.listdir(site.folder / "dist/releases" / release))


def test_files_written_ahead_by_a_killed_build_are_removed(site: Site) -> None:
    """They do not get into the next release."""
    site.build()
    (site.folder / "dist/.flatpanel").write_text("unfinished\n")
    left = site.folder / "dist/releases" / TEMPORARY_NAME
    left.mkdir()
    (left / "left.map").write_text("half of")
    release = site.build().release

    assert releases(site) == {release}
    assert not (site.folder / "dist/releases" / release / "left.map").exists()


def test_error_leaves_no_partial_file(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The partial file is removed at once, its folder by the next build."""

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
    """A title that looks like a date stays: its quotes have backslashes."""
    title = '"published":"1970-01-01T00:00:00Z"'
    kept = encoding.json([{"title": title, "published": v2.iso(one)} for one in (0, 86_399, AS_OF)])

    converted = encoding.parse(v2.convert_dates(kept, form))
    assert [one["title"] for one in converted] == [title] * 3
    assert [one["published"] for one in converted] == [v2.DATE_FORMATS[form](one) for one in (0, 86_399, AS_OF)]
