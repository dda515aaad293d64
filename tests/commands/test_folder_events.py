"""Waiting for changes in folders."""

import ctypes
import select
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from generator.commands import serve
from generator.commands.serve import FolderEvents

# Whether an event ends a wait.
Ended = Callable[[FolderEvents], bool]


@pytest.fixture
def ended_by_event(monkeypatch: pytest.MonkeyPatch) -> Ended:
    """Return whether an event ends a wait; nothing waits for a time."""

    def ended(events: FolderEvents) -> bool:
        ready: list[bool] = []

        def at_once(watched: Any, writing: Any, failing: Any, _: float) -> Any:
            result = select_now(watched, writing, failing, 0)
            ready.append(bool(result[0]))
            return result

        monkeypatch.setattr(serve.select, "select", at_once)
        events.wait(60)
        return ready[0]

    select_now = select.select
    return ended


@pytest.fixture
def events() -> Iterator[FolderEvents]:
    with closing(FolderEvents()) as opened:
        yield opened


def test_a_written_file_ends_the_wait_once(events: FolderEvents, ended_by_event: Ended, tmp_path: Path) -> None:
    """The events of one edit do not end the next wait."""
    events.watch([tmp_path])
    (tmp_path / "first.yaml").write_text("title: First\n")

    assert [ended_by_event(events), ended_by_event(events)] == [True, False]


@pytest.mark.parametrize("change", [lambda file: file.unlink(), lambda file: file.rename(file.parent.parent / "moved")])
def test_a_removed_file_ends_the_wait(
    events: FolderEvents, ended_by_event: Ended, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    """A removed series changes the site, too."""
    file = tmp_path / "series/first.yaml"
    file.parent.mkdir()
    file.write_text("title: First\n")
    events.watch([file.parent, file.parent])
    change(file)

    assert ended_by_event(events)


def test_an_empty_new_file_does_not_end_the_wait(events: FolderEvents, ended_by_event: Ended, tmp_path: Path) -> None:
    """A build would read it before its text is written."""
    events.watch([tmp_path])
    with (tmp_path / "first.yaml").open("w"):
        assert not ended_by_event(events)


def test_a_missing_folder_has_no_events(events: FolderEvents, ended_by_event: Ended, tmp_path: Path) -> None:
    """The folder may have been removed since it was listed."""
    events.watch([tmp_path / "removed"])

    assert not ended_by_event(events)


def test_without_inotify_a_wait_takes_its_time(
    ended_by_event: Ended, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The caller compares the files after each wait, so a change is still noticed."""
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    with closing(FolderEvents()) as events:
        events.watch([tmp_path])
        (tmp_path / "first.yaml").write_text("title: First\n")

        assert not ended_by_event(events)
