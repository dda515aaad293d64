"""Media on a server: `media check URL` and `media fetch`."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from generator.catalog.confined_folder import ConfinedFolder
from generator.catalog.linking import ARCHIVE_TYPE
from generator.errors import FlatpanelError
from generator.media.folder_check import Finding
from generator.media.source import Fetcher, FetchResult, SourceChecker, existing
from generator.reading_sites.site_client import SiteClient
from generator.server_url import ServerUrl
from tests.support import fake_site, media_server
from tests.support.fake_site import Reply
from tests.support.images import image
from tests.support.import_project import FakeClock
from tests.support.media_server import FILES, MediaServer
from tests.support.tree_snapshot import content, files, state

MODIFIED = 1_700_000_000


def connected(url: str, **values: Any) -> SiteClient:
    """A client whose pauses take no time."""
    clock = FakeClock()
    return SiteClient(ServerUrl.of(url), clock, clock.slept.append, 0.2, accept="image/*", **values)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MediaServer]:
    """A server that has all files, modified at the same time."""
    with media_server.media_server(tmp_path / "server") as server:
        media_server.fill(server.media, FILES)
        for path in FILES:
            os.utime(server.media / path, (MODIFIED, MODIFIED))
        yield server


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "copy"


def check(url: str, *paths: str) -> list[Finding]:
    with closing(connected(url)) as client:
        return SourceChecker(client).check(paths or FILES, lambda count: None)


def fetch(url: str, target: Path, *paths: str, updates: bool = False, **values: Any) -> FetchResult:
    with closing(connected(url, **values)) as client:
        return Fetcher(client, ConfinedFolder(target), updates).fetch(paths or FILES, lambda count: None)


def test_a_complete_server_has_no_findings(server: MediaServer) -> None:
    """Bodies are not requested; names are encoded."""
    assert check(server.url) == []
    assert server.requests[-1] == "HEAD /media/series/one/2/2.5/%E7%B4%99.webp 200"
    assert len(server.requests) == len(FILES)


def test_a_server_without_head_gets_ranges(tmp_path: Path) -> None:
    """After the first refusal, HEAD is not tried again."""
    with media_server.media_server(tmp_path, "if ($request_method = HEAD) { return 405; }") as server:
        media_server.fill(server.media, FILES[:2])
        (server.media / "empty.png").write_bytes(b"")

        assert check(server.url, *FILES[:2], "empty.png", "no.png") == [
            Finding("empty", "empty.png"),
            Finding("missing", "no.png"),
        ]
        assert [line.split()[0] + line[-4:] for line in server.requests] == [
            *("HEAD 405", "GET 206", "GET 206"),
            *("GET 200", "GET 404"),
        ]


def test_every_fault_of_a_server_is_found(server: MediaServer) -> None:
    """Missing and empty files, and files that are sent as something else."""
    media_server.fill(server.media, ["a.html", "a.svg", "plain"])
    (server.media / "empty.png").write_bytes(b"")

    assert check(server.url, "a.html", "a.svg", "plain", "empty.png", "no.png") == [
        Finding("unreadable", "a.html", "is sent as text/html"),
        Finding("unreadable", "a.svg", "is sent as image/svg+xml"),
        Finding("unreadable", "plain", "is sent as text/plain"),
        Finding("empty", "empty.png"),
        Finding("missing", "no.png"),
    ]


PNG = {"Content-Type": "image/png"}


@pytest.mark.parametrize(
    ("reply", "finding"),
    [
        (Reply(410), Finding("missing", "1.png")),
        (Reply(403), Finding("unusable", "1.png", "status 403")),
        (Reply(416, b""), Finding("empty", "1.png")),
        (Reply(200, image("a.png"), {"Content-Type": ""}), Finding("unreadable", "1.png", "is sent as no type")),
        (
            Reply(302, b"", {"Location": "https://other.example/1.png"}),
            Finding("unusable", "1.png", "redirect to https://other.example; if the site has moved, use that URL"),
        ),
    ],
)
def test_other_responses_are_findings(reply: Reply, finding: Finding, target: Path) -> None:
    """The check goes on with the next file."""
    with fake_site.serving({"/media/1.png": reply, "/media/2.png": Reply(200, image("a.png"), PNG)}) as site:
        assert check(f"{site.url}/media/", "1.png", "2.png") == [finding]


def test_archives_have_a_type_of_their_own() -> None:
    archives = [f"archives/one/0/{number}.cbz" for number in (1, 2)]
    types = (ARCHIVE_TYPE, "image/png")
    replies = {
        f"/media/{path}": Reply(200, b"PK", {"Content-Type": type}) for path, type in zip(archives, types, strict=True)
    }
    with fake_site.serving(replies) as site:
        assert check(f"{site.url}/media/", *archives) == [Finding("unreadable", archives[1], "is sent as image/png")]


def test_files_are_copied(server: MediaServer, target: Path) -> None:
    """With their times, so that a later update can ask what changed."""
    result = fetch(server.url, target)

    assert content(target) == content(server.media)
    assert (result.fetched, result.kept, result.findings) == (len(FILES), 0, [])
    assert result.size == sum((server.media / path).stat().st_size for path in FILES)
    assert {(target / path).stat().st_mtime for path in FILES} == {MODIFIED}


def test_complete_files_are_not_requested_again(server: MediaServer, target: Path) -> None:
    """An interrupted copy goes on; a truncated file is not complete."""
    fetch(server.url, target)
    (target / FILES[3]).unlink()
    (target / FILES[4]).write_bytes(image(FILES[4])[:-1])
    server.forget()
    result = fetch(server.url, target)

    assert (result.fetched, result.kept) == (2, len(FILES) - 2)
    assert server.requests == [f"GET /media/{path} 200" for path in FILES[3:5]]
    assert content(target) == content(server.media)


def test_an_update_replaces_changed_files(server: MediaServer, target: Path) -> None:
    """The server says which files did not change."""
    fetch(server.url, target)
    (server.media / FILES[0]).write_bytes(image(FILES[0], 7, 7))
    server.forget()
    result = fetch(server.url, target, updates=True)

    assert (result.fetched, result.kept) == (1, len(FILES) - 1)
    assert sorted({line[-3:] for line in server.requests}) == ["200", "304"]
    assert content(target) == content(server.media)


def test_what_is_no_image_is_not_written(server: MediaServer, target: Path) -> None:
    """An error page, a file of another type, a truncated image, an image that exceeds the limit."""
    (server.media / "page.png").write_bytes(b"<!DOCTYPE html>")
    (server.media / "cut.png").write_bytes(image("cut.png")[:-1])
    (server.media / "empty.png").write_bytes(b"")
    (server.media / "large.png").write_bytes(image("large.png") + bytes(5 << 20))
    media_server.fill(server.media, ["a.svg"])
    names = ("page.png", "cut.png", "empty.png", "large.png", "a.svg", "no.png")
    result = fetch(server.url, target, *names, size=4 << 20)

    assert result.findings == [
        Finding("unreadable", "page.png", "is not an image"),
        Finding("unreadable", "cut.png", "is truncated"),
        Finding("empty", "empty.png", "is empty"),
        Finding("unusable", "large.png", "response is larger than 4 MiB (raise --max-response)"),
        Finding("unreadable", "a.svg", "is sent as image/svg+xml"),
        Finding("missing", "no.png"),
    ]
    assert files(target) == set()


def test_the_limit_of_a_run_ends_it(server: MediaServer, target: Path) -> None:
    """What was copied stays, and the next run goes on."""
    with pytest.raises(FlatpanelError, match="limit of 0 MiB in one run reached; run again to resume"):
        fetch(server.url, target, max_bytes=500)
    with pytest.raises(FlatpanelError, match="limit of 2 requests in one run reached; run again to resume"):
        fetch(server.url, target, max_requests=2)
    assert 1 < len(files(target)) < len(FILES)

    fetch(server.url, target)
    assert content(target) == content(server.media)


def test_nothing_is_written_outside_of_the_folder(server: MediaServer, target: Path, tmp_path: Path) -> None:
    """A link in the folder leads elsewhere."""
    outside = tmp_path / "outside"
    outside.mkdir()
    target.mkdir()
    (target / "series").symlink_to(outside)
    before = state(outside)

    with pytest.raises(PermissionError, match="the link leads out of copy"):
        fetch(server.url, target, *FILES)
    assert state(outside) == before


def test_a_file_in_the_place_of_a_folder_is_named(server: MediaServer, target: Path) -> None:
    target.mkdir()
    (target / "series").write_bytes(b"")

    with pytest.raises(NotADirectoryError) as caught:
        fetch(server.url, target, FILES[3])
    assert str(target) in str(caught.value.filename)


def test_an_existing_file_is_only_read(target: Path) -> None:
    media_server.fill(target, ["1.png", "2.txt"])
    os.utime(target / "1.png", (MODIFIED, MODIFIED))
    before = state(target)

    assert [existing(ConfinedFolder(target), path) for path in ("1.png", "2.txt", "3.png")] == [MODIFIED, None, None]
    assert state(target) == before


@pytest.mark.parametrize("date", ["", "yesterday", "Thu, 01 Jan 1960 00:00:00 GMT"])
def test_a_file_without_a_date_is_copied(target: Path, date: str) -> None:
    """It is as old as its copy."""
    with fake_site.serving({"/1.png": Reply(200, image("a.png"), {**PNG, "Last-Modified": date})}) as site:
        assert fetch(site.url, target, "1.png").fetched == 1
    assert (target / "1.png").stat().st_mtime > MODIFIED
