"""`media list`, `media check` and `media fetch` as commands: output, JSON and exit codes."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from generator.commands.output import print_data
from generator.installation import how_to_add
from generator.media.named_files import url_path
from tests.conftest import AS_OF, Site
from tests.project.test_installation import shell
from tests.support import fake_site, media_server
from tests.support.fake_site import Reply
from tests.support.images import image
from tests.support.media_server import FILES, MediaServer
from tests.support.paths import BUILD
from tests.support.tables import each
from tests.support.terminal import on_a_terminal
from tests.support.tree_snapshot import content, state

Media = Callable[..., Result]
ENVIRONMENT = {"SOURCE_DATE_EPOCH": str(AS_OF)}


@pytest.fixture
def media(site: Site, run: Callable[..., Result]) -> Media:
    """Run `media …` on a catalog whose media are in `media`."""
    media_server.write_catalog(site)
    media_server.fill(site.folder / "media", FILES)
    return lambda name, *words: run("media", name, "--catalog", site.folder / "catalog_src", *words, **ENVIRONMENT)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MediaServer]:
    with media_server.media_server(tmp_path / "server") as server:
        media_server.fill(server.media, FILES)
        yield server


def kinds(result: Result) -> list[tuple[str, str]]:
    """The kind and the path of each finding in JSON."""
    return [(finding["kind"], finding["path"]) for finding in json.loads(result.stdout)["findings"]]


def in_shell(site: Site, script: str) -> None:
    """Run a script with `media` as the command."""
    command = f'set -uo pipefail\nmedia() {{ "{sys.executable}" "{BUILD}" media "$@" --catalog catalog_src; }}\n'
    shell(command + script, site.folder, {**os.environ, **ENVIRONMENT})


def test_list_prints_one_path_a_line(media: Media) -> None:
    result = media("list")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "".join(f"{path}\n" for path in FILES), "")


def test_list_prints_urls_of_a_source(media: Media) -> None:
    """By default, those of site.yaml."""
    last = "series/one/2/2.5/%E7%B4%99.webp"
    own, other = media("list", "--urls"), media("list", "--urls", "--source", "http://old.example:81/m/")

    assert own.stdout.splitlines()[-1] == f"{FILES[-1]}\thttps://comics.example/media/{last}"
    assert other.stdout.splitlines()[-1] == f"{FILES[-1]}\thttp://old.example:81/m/{last}"


def test_list_leaves_out_what_readers_do_not_get(media: Media) -> None:
    assert media("list", "--leave-out", "scheduled").stdout.splitlines() == list(FILES[:-2])


def test_list_as_json_tells_kinds_apart(site: Site, media: Media) -> None:
    """Images on other hosts are apart: they cannot be copied below the media root."""
    site.write("series/two.yaml", "title: Two\ncover: https://other.example/c.png\n")
    answer = json.loads(media("list", "--json").stdout)

    assert (answer["ok"], answer["root"], len(answer["files"])) == (True, "https://comics.example/media/", len(FILES))
    assert answer["files"][-1] == {
        "path": FILES[-1],
        "url": "https://comics.example/media/series/one/2/2.5/%E7%B4%99.webp",
        "kind": "page",
        "owner": "one",
        "scheduled": True,
        "licensed": False,
        "restricted": False,
    }
    assert [(entry["path"], entry["url"]) for entry in answer["elsewhere"]] == [(None, "https://other.example/c.png")]
    assert media("list").stderr == "1 image on other hosts; use --elsewhere to list URLs\n"
    assert media("list", "--elsewhere").stdout == "https://other.example/c.png\n"


def test_problems_of_the_catalog_are_printed(site: Site, media: Media) -> None:
    site.write("series/one.yaml", "titel: One\n")

    for words in (("list",), ("check", site.folder / "media"), ("fetch", site.folder / "media")):
        result = media(*words)
        assert (result.exit_code, "titel: unknown field" in result.stderr) == (1, True)


ODD = ("#1.png", ";2.png", "-3.png", " 4.png", "\u200e5.png", "a'b\"c$d.png", "%20.png", ".._x.png")


@pytest.mark.end_to_end
@pytest.mark.skipif(not shutil.which("rsync"), reason="rsync is not installed")
def test_rsync_reads_the_list(site: Site, media: Media, tmp_path: Path) -> None:
    """Lines that begin with # or ; are comments for rsync; names may have marks that a terminal must not get."""
    urls = [f"https://comics.example/media/{''.join(f'%{byte:02X}' for byte in name.encode())}" for name in ODD]
    chapter = f"{{id: 9, number: 1, published: 2026-01-01, pages: {json.dumps(urls)}}}"
    site.write("series/odd.yaml", f"title: Odd\ncover: c.png\nchapters:\n  - {chapter}\n")
    media_server.fill(site.folder / "media", ODD)
    media_server.fill(site.folder / "media", ["series/odd/c.png"])
    in_shell(site, "media list | rsync -a --files-from=- media/ copy/")

    assert content(site.folder / "copy") == content(site.folder / "media")
    assert (site.folder / "copy" / ODD[0]).is_file()


@pytest.mark.end_to_end
@pytest.mark.skipif(not shutil.which("wget"), reason="wget is not installed")
def test_wget_reads_the_urls(site: Site, media: Media, server: MediaServer) -> None:
    """The second column is a list of URLs; options of wget give the paths below the media root."""
    script = f"media list --urls --source {server.url} | cut -f2 | wget --tries=3 --timeout=60 -q -x -nH --cut-dirs=1"
    in_shell(site, f"{script} --restrict-file-names=nocontrol -P copy -i -")

    assert content(site.folder / "copy") == content(server.media)


def test_a_terminal_gets_no_control_characters(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe gets the exact names."""
    print_data(["a\u200eb"])
    assert capsys.readouterr().out == "a\u200eb\n"

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    print_data(["a\u200eb"])
    assert capsys.readouterr().out == "a\\u200eb\n"


def test_check_prints_a_complete_folder(site: Site, media: Media) -> None:
    """With the smallest and the largest image of each kind."""
    (site.folder / "media" / FILES[4]).write_bytes(image(FILES[4], 1600, 2400))
    result = media("check", site.folder / "media")

    assert result.exit_code == 0
    assert result.stdout.replace(f"{site.folder}/", "") == (
        "media: 9 of 9 files that the catalog names, 0.0 MiB\n"
        "avatars: 3 x 2 to 3 x 2 pixels\n"
        "covers: 3 x 2 to 3 x 2 pixels\n"
        "logos: 3 x 2 to 3 x 2 pixels\n"
        "pages: 3 x 2 to 1600 x 2400 pixels\n"
    )


def test_check_fits_a_screen(site: Site, media: Media) -> None:
    """Grouped by kind and folder; --all prints every file."""
    folder = site.folder / "media"
    for path in FILES[3:]:
        (folder / path).unlink()
    (folder / FILES[0]).write_bytes(b"")
    media_server.fill(folder, (f"old/{number}/{page}.png" for number in range(40) for page in range(3)))
    result = media("check", folder)

    assert result.exit_code == 1
    assert result.stdout.replace(f"{site.folder}/", "") == (
        "media: 3 of 9 files that the catalog names, 0.0 MiB\n"
        "missing: 6 files\n"
        "  series/one/cover.jpg\n"
        "  series/one/0/1/: 3 files\n"
        "  and 1 more (--all)\n"
        "empty: 1 file\n"
        "  groups/4/logo.png\n"
        "extra: served, but not named by the catalog: 120 files\n"
        "  old/0/: 3 files\n"
        "  old/1/: 3 files\n"
        "  and 38 more (--all)\n"
        "avatars: 3 x 2 to 3 x 2 pixels\n"
    )
    assert "  old/39/2.png\n" in media("check", folder, "--all").stdout


def test_check_as_json_has_everything(site: Site, media: Media) -> None:
    folder = site.folder / "media"
    (folder / FILES[3]).rename(folder / "series/one/Cover.JPG")
    (folder / FILES[4]).unlink()
    result = media("check", folder, "--json")
    answer = json.loads(result.stdout)

    move = {"source": "series/one/Cover.JPG", "target": FILES[3], "is_copy": False, "is_certain": True}
    assert result.exit_code == 1
    assert (answer["ok"], answer["named"], answer["present"], answer["moves"]) == (False, 9, 7, [move])
    assert answer["findings"][:2] == [
        {"kind": "missing", "path": FILES[4], "detail": ""},
        {"kind": "moved", "path": FILES[3], "detail": "series/one/Cover.JPG"},
    ]
    assert answer["sizes"][FILES[0]] == [3, 2]
    assert answer["bytes"] > 0


def test_check_without_the_library_says_how_to_add_it(
    site: Site, media: Media, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything else is checked."""
    monkeypatch.setitem(sys.modules, "imagesize", None)
    (site.folder / "media" / FILES[0]).write_bytes(b"text")
    result = media("check", site.folder / "media")

    assert "unreadable: 1 file\n  groups/4/logo.png: is not an image\n" in result.stdout
    assert result.stdout.endswith(f"which needs the library imagesize; install it: {how_to_add('imagesize')}\n")
    assert json.loads(media("check", site.folder / "media", "--json").stdout)["sizes"] is None


def test_check_writes_the_sizes_of_pages(site: Site, media: Media) -> None:
    """A second run changes nothing, and a check without the option writes nothing."""
    folder, written = site.folder / "media", site.folder / "catalog_src/sizes.yaml"
    (folder / FILES[5]).write_bytes(image(FILES[5], 1600, 2400))
    (folder / FILES[6]).write_bytes(b"text")
    media("check", folder)
    assert not written.exists()

    first = media("check", folder, "--write-sizes")
    text, before = written.read_text(), written.stat()
    second = media("check", folder, "--write-sizes", "--json")
    after = written.stat()

    assert text.endswith('\n1: "3x2 1600x2400 -"\n2: "3x2*2"\n')
    assert first.stdout.endswith("\nsizes.yaml: 2 chapters with sizes of pages\n")
    assert (first.exit_code, json.loads(second.stdout)["chapters_with_sizes"]) == (1, 2)
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert written.read_text() == text


def test_sizes_need_a_folder_and_the_library(site: Site, media: Media, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check of a server asks for headers only."""
    remote = media("check", "https://comics.example/media/", "--write-sizes")
    monkeypatch.setitem(sys.modules, "imagesize", None)
    without = media("check", site.folder / "media", "--write-sizes")

    assert (remote.exit_code, "--write-sizes needs a folder, not a URL" in remote.stderr) == (2, True)
    assert (without.exit_code, how_to_add("imagesize") in without.stderr) == (1, True)
    assert not (site.folder / "catalog_src/sizes.yaml").exists()


def test_moved_files_are_shown_by_folder_and_moved_by_the_script(site: Site, media: Media) -> None:
    folder = site.folder / "media"
    (folder / "series/one").rename(folder / "series/One")
    result = media("check", folder)

    assert "  series/one/0/1/: 3 files: series/One/0/1/\n" in result.stdout
    script = media("check", folder, "--moves")
    assert script.exit_code == 0
    subprocess.run(["sh"], input=script.stdout, text=True, check=True, cwd="/")
    assert media("check", folder).exit_code == 0


def test_check_of_a_missing_folder_names_it(site: Site, media: Media) -> None:
    result = media("check", site.folder / "absent")

    assert (result.exit_code, result.stderr) == (1, f"{site.folder}/absent: No such file or directory\n")


def test_the_folder_of_the_site_is_the_default(site: Site, media: Media, server: MediaServer) -> None:
    """For `check` and `fetch`; without `media_folder`, they need an argument."""
    for name in ("check", "fetch"):
        result = media(name)
        assert (result.exit_code, "site.yaml has no media_folder" in result.stderr) == (2, True)
    with (site.folder / "catalog_src/site.yaml").open("a") as settings:
        settings.write("media_folder: media\n")
    (site.folder / "media" / FILES[0]).unlink()
    copied = media("fetch", "--source", server.url, "--rate", "100")

    assert (copied.exit_code, copied.stderr) == (0, "")
    assert copied.stdout == f"{site.folder}/media: fetched 1 file, 0.0 MiB; kept 8\n"
    assert content(site.folder / "media") == content(server.media)
    assert media("check").stdout.startswith(f"{site.folder}/media: 9 of 9 files")


def test_check_asks_a_server(media: Media, server: MediaServer) -> None:
    """Missing files are grouped, and the exit code is 1."""
    complete = media("check", server.url, "--rate", "100")
    assert (complete.exit_code, complete.stdout) == (0, f"{server.url}/: 9 of 9 files are there\n")

    for path in FILES[4:7]:
        (server.media / path).unlink()
    missing = media("check", server.url, "--rate", "100")
    assert missing.exit_code == 1
    assert missing.stdout == f"{server.url}/: 6 of 9 files are there\nmissing: 3 files\n  series/one/0/1/: 3 files\n"
    answer = json.loads(media("check", server.url, "--rate", "100", "--json", "--leave-out", "scheduled").stdout)
    assert (answer["ok"], answer["requests"], len(answer["findings"])) == (False, 7, 3)


@each(
    ("words", "message"),
    [
        (("check", "http://h/", "--moves"), "--moves needs a folder, not a URL"),
        (("check", "http://user@h/"), "should contain no user name or password"),
        (("check", "http://h/", "--after", "absent"), "--after: the list has no file absent"),
        (("check", "media", "--after", FILES[0]), "--after needs a URL, not a folder"),
        (("list", "--source", "old.example"), "should be a URL like https://comics.example"),
        (("check", "http://h/", "--rate", "nan"), "should be a number"),
        (("check", "ftp://h/"), "should be a URL like https://comics.example"),
        (("check", "http://h/é"), "should be a URL of ASCII characters"),
    ],
)
def test_wrong_arguments_are_refused(media: Media, words: tuple[str, ...], message: str) -> None:
    result = media(*words)

    assert (result.exit_code, message in result.stderr) == (2, True)


def test_an_ended_check_of_a_server_can_be_continued(media: Media) -> None:
    """What was found until then is printed."""
    png = Reply(200, image("a.png"), {"Content-Type": "image/png"})
    answers = {f"/{path}": png for path in FILES[:2]}
    busy = Reply(429, b"", {"Retry-After": "5000"})
    with fake_site.serving({**answers, f"/{FILES[3]}": busy}) as site:
        ended = media("check", site.url, "--rate", "100")
        assert ended.exit_code == 1
        assert ended.stdout == "missing: 1 file\n  users/c@d/me.jpg\n"
        assert ended.stderr.startswith("continue with --after users/c@d/me.jpg\n")
        assert "asks to wait 5000 seconds" in ended.stderr
        as_json = media("check", site.url, "--rate", "100", "--json")
        assert json.loads(as_json.stdout)["ok"] is False
        assert as_json.stderr == "continue with --after users/c@d/me.jpg\n"

        site.answers[f"/{FILES[3]}"] = png
        site.asked.clear()
        rest = media("check", site.url, "--rate", "100", "--after", "users/c@d/me.jpg")
        assert (site.paths, f"{site.url}/: 1 of 6 files are there\n" in rest.stdout) == (
            [f"/{url_path(path)}" for path in FILES[3:]],
            True,
        )


def test_a_site_without_a_valid_host_needs_a_source(site: Site, media: Media) -> None:
    """A catalog may have a host name that no server can have."""
    site.write("site.yaml", f"base_url: https://{'a' * 64}.example\n")
    result = media("fetch", site.folder / "media", "--dry-run")

    assert (result.exit_code, "should name a host" in result.stderr) == (2, True)


def test_fetch_reports_what_the_server_lacks(site: Site, media: Media, server: MediaServer) -> None:
    (server.media / FILES[0]).unlink()
    words = ("fetch", site.folder / "copy", "--source", f"{server.url}/", "--rate", "100")
    result = media(*words)

    assert result.exit_code == 1
    assert result.stdout.endswith("missing: 1 file\n  groups/4/logo.png\n")
    answer = json.loads(media(*words, "--json").stdout)
    assert (answer["ok"], answer["fetched"], answer["kept"], answer["bytes"]) == (False, 0, 8, 0)
    assert answer["findings"] == [{"kind": "missing", "path": FILES[0], "detail": ""}]


def test_a_dry_run_of_fetch_requests_nothing(site: Site, media: Media) -> None:
    """The server of site.yaml does not exist."""
    folder = site.folder / "media"
    (folder / FILES[0]).unlink()
    before = state(folder)
    result = media("fetch", folder, "--dry-run")

    assert result.exit_code == 0
    assert result.stdout == (
        f"{folder}: would request 1 of 9 files from https://comics.example/media/\n"
        "to request: 1 file\n"
        "  groups/4/logo.png\n"
    )
    assert json.loads(media("fetch", folder, "--dry-run", "--json", "--update").stdout)["paths"] == list(FILES)
    assert state(folder) == before


def test_an_unreachable_server_is_named(site: Site, media: Media, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    result = media("check", "http://127.0.0.1:1/media")

    assert (result.exit_code, "http://127.0.0.1:1" in result.stderr) == (1, True)


def test_a_terminal_shows_progress(site: Site, media: Media) -> None:
    """A pipe, and a JSON reader, do not get it."""
    environment = {**os.environ, **ENVIRONMENT}
    words = [sys.executable, str(BUILD), "media", "check", "--catalog", str(site.folder / "catalog_src")]
    code, shown = on_a_terminal([*words, str(site.folder / "media")], environment)

    assert (code, "checking" in shown, "9/9" in shown) == (0, True, True)
    assert "checking" not in on_a_terminal([*words, str(site.folder / "media"), "--json"], environment)[1]
