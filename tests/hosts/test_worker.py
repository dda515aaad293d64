"""The worker on real runtimes: packs of a few bodies, large bodies, and lost files."""

import gzip
import random
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from generator.api.payloads.resources import SERIES_INDEX_URL, key
from generator.hosts.packs import pack_format
from generator.hosts.packs.pack_files import pack_release
from generator.release.manifest import Entry, Published
from tests.conftest import Site, copy_of
from tests.support import edge_servers
from tests.support.edge_servers import RUNTIMES, EdgeServer, on_edge_runtimes
from tests.support.pack_reader import PackedFolder

pytestmark = on_edge_runtimes


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A packed site with more packs than the worker keeps in memory, and with large bodies."""
    made = copy_of("pages", tmp_path_factory.mktemp("site"))
    made.build()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack_format, "MAX_PACK", 1500)
        patch.setattr(pack_format, "MAX_INLINE", 1000)
        totals = pack_release(made.store, made.folder / "edge")
    assert totals.packs > 64
    assert totals.large > 10
    yield made


@pytest.fixture(scope="module", params=RUNTIMES)
def server(request: pytest.FixtureRequest, site: Site) -> Iterator[EdgeServer]:
    with edge_servers.running(request.param, site.folder / "edge") as started:
        yield started
        assert started.output == [line for line in started.output if "isten" in line]


def entries(site: Site) -> list[Entry]:
    with site.store.table() as table:
        return [entry for slug in table.segments for entry in table.entries(slug)]


def public_bodies(site: Site) -> list[Published]:
    bodies = [entry for entry in entries(site) if isinstance(entry, Published) and not entry.restricted]
    return [body for body in bodies if body.url != SERIES_INDEX_URL]


@pytest.mark.parametrize("coding", ["gzip", "identity"])
def test_every_body(site: Site, server: EdgeServer, coding: str) -> None:
    """In any order and twice, since the worker forgets packs: small ones, large ones, compressed and unpacked."""
    bodies = public_bodies(site) * 2
    random.Random(17).shuffle(bodies)
    for body in bodies:
        answer = server.ask(body.url, Accept_Encoding=coding)
        is_packed = coding == "gzip" and body.gzip
        plain = gzip.decompress(answer.body) if is_packed else answer.body
        assert plain == (site.store.root / body.file).read_bytes(), body.url
        assert answer["content-length"] == str(len(answer.body))
        assert answer["content-encoding"] == ("gzip" if is_packed else None)
        assert answer["etag"] == f'{"W/" * is_packed}"{body.etag}"'


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_lost_or_damaged_file_is_an_error_until_it_is_back(site: Site, tmp_path: Path, runtime: str) -> None:
    """The form of the error is that of the path, and no cache stores it."""
    folder = tmp_path / "edge"
    shutil.copytree(site.folder / "edge", folder)
    (folder / "files/public").rename(folder / "files/away")
    bodies = {
        "/api/series": (b'{"error":"Internal server error","status":500}', "application/json"),
        "/api/v2/series": (b'{"detail":"Internal server error."}', "application/json"),
        "/latest/": (b"<!DOCTYPE html>", "text/html; charset=utf-8"),
    }
    with edge_servers.running(runtime, folder) as server:
        for url, (text, type) in bodies.items():
            answer = server.ask(url)
            assert (answer.status, answer["cache-control"], answer["content-type"]) == (500, "no-store", type)
            assert answer.body.startswith(text)
        # Nor does a damaged file stay after its repair.
        (folder / "files/public").mkdir()
        for path in (folder / "files/away").iterdir():
            (folder / "files/public" / path.name).write_bytes(b"damaged")
        assert {server.ask(url).status for url in bodies} == {500}
        shutil.rmtree(folder / "files/public")
        (folder / "files/away").rename(folder / "files/public")
        assert {server.ask(url).status for url in bodies} == {200}
        large = next(body for body in public_bodies(site) if is_alone(site, body))
        small = next(body for body in public_bodies(site) if not is_alone(site, body))
        server.ask(large.url)
        polled = server.ask(small.url)
        for path in (folder / "files/public").iterdir():
            path.unlink()
        assert server.ask(large.url).status == 500
        # A small body that was asked for stays in memory.
        again = server.ask(small.url)
        assert (again.status, again.body) == (200, polled.body)
        assert server.ask(small.url, If_None_Match=str(polled["etag"])).status == 304
    # All that the server printed is read when it has ended.
    assert any("is missing" in line for line in server.output)


@pytest.fixture
def small_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A site has many packs, and bodies of their own files."""
    monkeypatch.setattr(pack_format, "MAX_PACK", 1500)
    monkeypatch.setattr(pack_format, "MAX_INLINE", 1000)


def retitled(made: Site, title: str, edge: Path) -> dict[str, str | None]:
    """Edit a series, build and pack; the ETags of all public bodies."""
    path = made.folder / "catalog_src/series/moons.yaml"
    path.write_text(re.sub("^title: .*", f"title: {title}", path.read_text(), flags=re.MULTILINE))
    made.build()
    assert pack_release(made.store, edge).removed > 0
    return {body.url: f'"{body.etag}"' for body in public_bodies(made)}


def replace_files(edge: Path, later: Path) -> None:
    """What `pack` does last, in a few milliseconds."""
    names = [{path.relative_to(folder) for path in folder.glob("files/*/*")} for folder in (edge, later)]
    for name in (*(names[1] - names[0]), "worker/release.json", "worker/release.js"):
        shutil.copy(later / name, edge / name)
    for name in names[0] - names[1]:
        (edge / name).unlink()


def until(holds: Callable[[], bool]) -> None:
    """Ask again until the worker has looked for a release, which it does each second."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end


@pytest.mark.usefixtures("small_packs")
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_worker_that_runs_follows_the_folder(tmp_path: Path, runtime: str) -> None:
    """Without a restart: no URL is an error, although the packs before are gone, and all change at once."""
    made, edge, later = copy_of("pages", tmp_path), tmp_path / "edge", tmp_path / "later"
    made.build()
    pack_release(made.store, edge)
    shutil.copytree(edge, later)
    new = retitled(made, "Second", later)
    with edge_servers.running(runtime, edge) as server:

        def etags() -> dict[str, str | None]:
            answers = {url: server.ask(url, Accept_Encoding="identity") for url in new}
            assert {answer.status for answer in answers.values()} == {200}
            return {url: answer["etag"] for url, answer in answers.items()}

        server.ask("/api/series")
        # It has looked for a newer release just now, so a lost file is the first that it sees of this one.
        replace_files(edge, later)
        etags()
        assert etags() == new

        # The worker remembers all bodies, so it needs no file to answer from the release before.
        new = retitled(made, "Third", edge)
        until(lambda: server.ask("/api/series", Accept_Encoding="identity")["etag"] == new["/api/series"])
        assert etags() == new

        release = edge / "worker/release.json"
        release.write_text(release.read_text().replace('"code":"', '"code":"0'))
        until(lambda: etags() == new and any("another version" in line for line in server.output))
    with edge_servers.running(runtime, edge) as server:
        assert etags() == new


def is_alone(site: Site, body: Published) -> bool:
    record = PackedFolder(site.folder / "edge").find(key(body.url))
    return record is not None and record.alone
