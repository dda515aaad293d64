"""`export --cubari`: files that cubari.moe can read, of series that need no API key."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from generator.hosts import cubari_gists
from tests.conftest import Site
from tests.support.feeds import FeedCatalog

Export = Callable[..., Result]


@pytest.fixture
def catalog(tmp_path: Path) -> FeedCatalog:
    """Readable series, and others that no file may have."""
    made = FeedCatalog(tmp_path / "catalog_src")
    made.lists["groups.yaml"].append({"id": 6, "name": "Day Shift"})
    made.lists["authors.yaml"] = [{"id": 1, "name": "Mira"}, {"id": 2, "name": "Ada"}]
    made.lists["artists.yaml"] = [{"id": 1, "name": "Kay"}]
    made.add("moons", {"number": 10}, {"number": 9.5, "volume": 2}, authors=[1, 2], artists=[1], description="A\nB")
    made.add("in-shops", {}, licensed=True)
    made.add("members", {}, restricted=True)
    made.add("tomorrow", {"published": "2099-01-01"})
    return made


@pytest.fixture
def export(catalog: FeedCatalog, tmp_path: Path, run: Callable[..., Result]) -> Export:
    """Build the catalog, and export it."""

    def built(*arguments: str) -> Result:
        catalog.read()
        Site(tmp_path).build()
        return run("export", "--out", tmp_path / "dist", "--cubari", tmp_path / "gists", *arguments)

    return built


def gist(folder: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((folder / "gists/moons.json").read_bytes())
    return value


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "gists").iterdir() if not path.name.startswith("."))


def written(folder: Path) -> dict[str, tuple[int, int]]:
    """Which file has each name, and when it was written."""
    stats = {path.name: path.stat() for path in (folder / "gists").iterdir()}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}


def test_the_file_of_a_series(export: Export, tmp_path: Path) -> None:
    """Chapters in reading order, by number; all URLs are absolute."""
    result = export()
    assert (result.exit_code, result.stdout) == (0, f"{tmp_path}/gists: 1 series, 1 written, 0 removed\n")
    assert names(tmp_path) == ["moons.json"]
    media = "https://comics.example/media/series/moons"
    assert json.dumps(gist(tmp_path)) == json.dumps(
        {
            **{"title": "Moons", "description": "A\nB", "artist": "Kay", "author": "Mira, Ada"},
            "cover": f"{media}/cover.jpg",
            "chapters": {
                "9.5": {
                    **{"title": "", "volume": "2", "last_updated": "1769991000"},
                    "groups": {"Night Shift": [f"{media}/2/9.5/1.png"]},
                },
                "10": {
                    **{"title": "", "last_updated": "1769904600"},
                    "groups": {"Night Shift": [f"{media}/0/10/1.png"]},
                },
            },
        }
    )


def test_versions_of_a_chapter_are_its_groups(catalog: FeedCatalog, export: Export, tmp_path: Path) -> None:
    """Those of the same group have a number, and those of another volume its name."""
    catalog.add(
        "moons",
        {"number": 1, "title": "First", "pages": ["a.png"]},
        {"number": 1, "title": "Second", "pages": ["b.png"], "groups": [6]},
        {"number": 1, "title": "Third", "pages": ["c.png"]},
        {"number": 1, "title": "In a book", "pages": ["d.png"], "volume": 3},
        {"number": 1, "title": "Again", "pages": ["e.png"]},
        {"number": 1, "title": "In another", "pages": ["f.png"], "volume": 4},
    )
    assert export().exit_code == 0
    (chapter,) = gist(tmp_path)["chapters"].values()
    assert (chapter["title"], chapter["volume"]) == ("In a book", "3")
    assert {name: pages[0].rpartition("/")[2] for name, pages in chapter["groups"].items()} == {
        "Night Shift": "d.png",
        "Night Shift, Vol. 4": "f.png",
        "Night Shift, no volume": "a.png",
        "Day Shift, no volume": "b.png",
        "Night Shift, no volume (2)": "c.png",
        "Night Shift, no volume (3)": "e.png",
    }


def test_the_standing_version_gives_the_title(catalog: FeedCatalog, export: Export, tmp_path: Path) -> None:
    catalog.add("moons", {"number": 1, "title": "First"}, {"number": 1, "title": "Second"})
    assert export().exit_code == 0
    (chapter,) = gist(tmp_path)["chapters"].values()
    assert (chapter["title"], list(chapter["groups"])) == ("Second", ["Night Shift", "Night Shift (2)"])


@pytest.mark.parametrize("route", ["/cubari/{slug}", "/chapters/{id}/pages", "/pages"])
def test_no_file_tells_what_needs_a_key(catalog: FeedCatalog, export: Export, tmp_path: Path, route: str) -> None:
    catalog.site["restricted"] = [route]
    assert "0 series" in export().stdout
    assert names(tmp_path) == []


def test_a_second_export_writes_what_changed(catalog: FeedCatalog, export: Export, tmp_path: Path) -> None:
    """A file of a series that is licensed now is removed; files of other origin stay."""
    catalog.add("suns", {})
    export()
    (tmp_path / "gists/README.md").write_text("Mine")
    before = written(tmp_path)
    assert "2 series, 0 written, 0 removed" in export().stdout
    assert before == written(tmp_path)

    catalog.series["moons"]["title"] = "More Moons"
    assert "2 series, 1 written, 0 removed" in export().stdout
    assert written(tmp_path)["suns.json"] == before["suns.json"]
    catalog.series["suns"]["licensed"] = True
    assert "1 series, 0 written, 1 removed" in export().stdout
    assert names(tmp_path) == ["README.md", "moons.json"]
    (tmp_path / "gists/moons.json").unlink()
    (tmp_path / "gists/moons.json").mkdir()
    catalog.series["moons"]["licensed"] = True
    assert "moons.json: Is a directory" in export().stderr
    assert (tmp_path / "gists/moons.json").is_dir()


def test_an_interrupted_export_is_continued(export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that it wrote are its own."""
    write = cubari_gists.write_if_changed

    def interrupted(path: Path, text: bytes) -> bool:
        result = write(path, text)
        if path.name == "moons.json":
            raise KeyboardInterrupt
        return result

    with monkeypatch.context() as patch:
        patch.setattr(cubari_gists, "write_if_changed", interrupted)
        assert export().exit_code != 0
    assert names(tmp_path) == ["moons.json"]

    assert export().exit_code == 0
    assert json.loads((tmp_path / "gists/.flatpanel-gists.json").read_bytes()) == names(tmp_path)


def test_a_foreign_file_is_not_overwritten(export: Export, tmp_path: Path) -> None:
    (tmp_path / "gists").mkdir()
    (tmp_path / "gists/moons.json").write_text("Mine")
    result = export()
    assert (result.exit_code, (tmp_path / "gists/moons.json").read_text()) == (1, "Mine")
    assert "moons.json: is not a file of an earlier export; move it, or choose a new folder" in result.stderr


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '["../a.json"]', '[".."]', '["/etc/a.json"]'])
def test_a_changed_list_of_files_is_refused(export: Export, tmp_path: Path, text: str) -> None:
    """It names the files to remove, so names of other folders are refused."""
    (tmp_path / "gists").mkdir()
    (tmp_path / "gists/.flatpanel-gists.json").write_text(text)
    (tmp_path / "a.json").touch()
    result = export()
    assert result.exit_code == 1 and (tmp_path / "a.json").exists()
    assert "has been changed; remove it together with the files of the earlier export" in result.stderr


def test_a_damaged_body_is_refused(export: Export, tmp_path: Path, run: Callable[..., Result]) -> None:
    export()
    body = Site(tmp_path).manifest.resources["/api/v2/cubari/moons"].file
    (tmp_path / "dist" / body).write_bytes(b"{")
    result = run("export", "--out", tmp_path / "dist", "--cubari", tmp_path / "gists")
    assert result.exit_code == 1 and f"{body}: is damaged; `python build.py verify --repair`" in result.stderr


def test_both_exports_at_once(export: Export, tmp_path: Path) -> None:
    assert export(str(tmp_path / "public")).exit_code == 0
    assert (tmp_path / "public/index.json").exists() and names(tmp_path) == ["moons.json"]


def test_the_first_export_is_reported_if_the_second_fails(export: Export, tmp_path: Path) -> None:
    """Its files are written. The folder of the second may not be a file."""
    (tmp_path / "gists").touch()
    result = export(str(tmp_path / "public"))
    assert "gists: is not a folder; choose a new one" in result.stderr
    assert result.exit_code == 1 and (tmp_path / "public/index.json").exists()
    assert result.stdout.startswith(f"{tmp_path / 'public'}: ") and result.stdout.endswith(" resources\n")


def test_export_needs_a_folder(run: Callable[..., Result]) -> None:
    result = run("export")
    assert result.exit_code == 2
    assert "pass a folder, --cubari with a folder, or both" in result.stderr
