"""An edit of one chapter: as a command, and in `serve --watch` until the first new response; with their floor.

The floor is the work that every edit of this catalog contains: digests and files of the whole lists and of the long
files of the release, and a load of the configuration by nginx.
"""

import hashlib
import http.client
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from generator.nginx.process import find_nginx

from . import catalogs
from .program import AS_OF, ROOT, Site, remove
from .report import Figure, Findings, Series, ratios

# The numbers of series, and of chapters of each. The largest catalog has no target for the watch.
SIZES, CHAPTERS = (20, 400, 2000), 50
COMMAND = {20: 0.3, 400: 0.68, 2000: 2.0}
WATCH = {20: 0.15, 400: 0.55}
_TITLE = re.compile(r"What happened in chapter 7\b.*")


def measure(site: Site, rounds: int, say: Callable[[str], None]) -> Findings:
    """Measure edits of catalogs that have at most as many series as that of `site`."""
    findings = Findings()
    for series in [series for series in SIZES if series <= max(site.series, SIZES[0])]:
        say(f"edits, {series} series")
        edited = Site(site.folder / "edited", series, CHAPTERS)
        edited.write()
        edited.build(2)
        findings.add(_of_site(edited, rounds))
        remove(edited.folder)
    return findings


def _of_site(site: Site, rounds: int) -> Findings:
    size = f"{site.series * site.chapters:,} chapters"
    commands, watched, floors = [], [], []
    with serving(site) as port:
        for _ in range(rounds):
            watched.append(first_response(site, port))
    for _ in range(rounds):
        _edit(site)
        commands.append(site.build().seconds)
        floors.append(floor(site))
    figures = [Figure(f"{size}: last write to first new response ÷ floor", ratios(watched, floors), "≤", 2)]
    if site.series in COMMAND:
        figures.append(Figure(f"{size}: an edit as a command", commands, "≤", COMMAND[site.series], "s"))
    if site.series in WATCH:
        figures.append(Figure(f"{size}: last write to first new response", watched, "≤", WATCH[site.series], "s"))
    return Findings(
        figures,
        [
            Series(f"{size}: an edit as a command", commands, "s"),
            Series(f"{size}: last write to first new response", watched, "s"),
            Series(f"{size}: floor of both", floors, "s"),
        ],
    )


def _edit(site: Site) -> tuple[int, str]:
    """Change the title of a chapter; return its id and the title."""
    number = site.series // 2
    file = site.catalog / "series" / f"{catalogs.slug(number)}.yaml"
    title = f"What happened in chapter 7 {time.time_ns()}"
    text = _TITLE.sub(title, file.read_text(encoding="utf-8"))
    file.write_text(text, encoding="utf-8")
    return number * site.chapters + 7, title


def first_response(site: Site, port: int) -> float:
    """The time from the end of an edit to the first response with it."""
    chapter, title = _edit(site)
    started = time.perf_counter()
    while title not in _response(port, f"/api/v2/chapters/{chapter}"):
        time.sleep(0.002)
    seconds = time.perf_counter() - started
    # The build of one edit ends before the next one begins.
    time.sleep(1)
    return seconds


def _response(port: int, url: str) -> str:
    """The body of a response on a new connection: an old worker answers on an old one."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", url)
        return connection.getresponse().read().decode()
    except OSError:
        return ""
    finally:
        connection.close()


@contextmanager
def serving(site: Site) -> Iterator[int]:
    """`serve --watch` on a built site; yields its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = [sys.executable, "build.py", "serve", "--watch", "--as-of", AS_OF, "--port", str(port)]
    command += ["--catalog", str(site.catalog), "--out", str(site.dist), "--nginx", str(site.folder / "nginx.conf")]
    command += ["--cache", str(site.cache)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        while not _response(port, "/api/v2/chapters/7"):
            time.sleep(0.05)
        # The first edit loads what a build imports on demand.
        first_response(site, port)
        yield port
    finally:
        process.terminate()
        process.wait()


def floor(site: Site) -> float:
    """Seconds for the digests and copies of the whole lists and of the long files, and for nginx to load the maps."""
    release = site.dist / "current"
    lists = [path for path in site.dist.glob("www/**/*.json") if path.stat().st_size >= 1 << 20]
    newest = {
        path.parent / path.name.split(".")[0]: path for path in sorted(lists, key=lambda path: path.stat().st_ctime)
    }
    scratch = site.folder / "floor"
    scratch.mkdir()
    started = time.perf_counter()
    for path in newest.values():
        _digest_and_copy(path, scratch, "md5", "sha256")
    for path in (*release.glob("*.map"), release / "manifest.json"):
        _digest_and_copy(path, scratch, "sha256")
    subprocess.run(
        [find_nginx(), "-t", "-q", "-c", site.folder / "nginx.conf", "-p", site.folder],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    seconds = time.perf_counter() - started
    shutil.rmtree(scratch)
    return seconds


def _digest_and_copy(path: Path, folder: Path, *names: str) -> None:
    digests = [hashlib.new(name, usedforsecurity=False) for name in names]
    with path.open("rb") as source, (folder / path.name).open("wb") as target:
        while block := source.read(1 << 20):
            for digest in digests:
                digest.update(block)
            target.write(block)
