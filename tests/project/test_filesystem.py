"""Files are written completely, or removed."""

import os
from pathlib import Path

import pytest

from generator.filesystem import PartialFile, remove_empty_folders, replace, write, write_parts


def test_partial_write_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """os.write may write less than asked without an error."""
    call = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: call(descriptor, data[:3]))

    assert write(tmp_path / "file", b"0123456789") == 10
    assert (tmp_path / "file").read_bytes() == b"0123456789"


def test_partial_file_gets_its_name_and_mtime_at_the_end(tmp_path: Path) -> None:
    """`finish` returns the size."""
    with PartialFile(tmp_path / "unnamed") as growing:
        growing.write(b"one")
        growing.write(b"two")
        assert growing.finish(str(tmp_path / "named"), 5) == 6

    assert [(path.name, path.read_bytes(), path.stat().st_mtime) for path in tmp_path.iterdir()] == [
        ("named", b"onetwo", 5)
    ]


def test_unfinished_file_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the file."""

    def refuse(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", refuse)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_parts(tmp_path / "file", [b"one"])

    assert caught.value.filename == str(tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_replaced_leaves_nothing(tmp_path: Path) -> None:
    """The unfinished file is removed."""
    (tmp_path / "name").mkdir()
    with pytest.raises(IsADirectoryError):
        replace(tmp_path / "name", b"text")

    assert [path.name for path in tmp_path.iterdir()] == ["name"]


def test_only_expected_errors_end_the_removal_of_folders(tmp_path: Path) -> None:
    """A folder with content is one; a name that no folder can have is none."""
    (tmp_path / "full/empty").mkdir(parents=True)
    (tmp_path / "full/file").touch()
    remove_empty_folders(tmp_path / "full/empty")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["file"]
    with pytest.raises(OSError, match="File name too long"):
        remove_empty_folders(tmp_path / ("x" * 300))
