"""Each real host keeps exactly the promises that docs/hosts.md says."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner, Result

from generator.commands import cli
from generator.hosts.packs.pack_files import pack_release
from generator.hosts.plain.export import export_for
from generator.review.promises.table import HOSTS, PROMISES
from tests.conftest import Site
from tests.support import edge_servers, nginx_client, plain_hosts
from tests.support.host_sites import HostSite, served_site
from tests.support.lying_proxy import lying
from tests.support.node_tools import needs_wrangler
from tests.support.object_stores import BUCKET, ObjectStore

# The servers, each serving a built site on a free loopback port


class RealHost(NamedTuple):
    """A host, how a test starts it, and when the test is skipped."""

    start: Callable[..., AbstractContextManager[str]]
    marks: tuple[pytest.MarkDecorator, ...] = ()
    # The names of fixtures that `start` gets after the site, its nginx and a folder.
    fixtures: tuple[str, ...] = ()


def _url(web: nginx_client.Web) -> str:
    return f"http://127.0.0.1:{web.port}"


@contextmanager
def _nginx(site: Site, web: nginx_client.Web, folder: Path) -> Iterator[str]:
    yield _url(web)


def _edge(runtime: str) -> RealHost:
    @contextmanager
    def start(site: Site, web: nginx_client.Web, folder: Path) -> Iterator[str]:
        pack_release(site.store, folder / "packed")
        with edge_servers.running(runtime, folder / "packed") as server:
            yield _url(server)

    return RealHost(start, (*edge_servers.on_edge_runtimes,))


def _exported(
    host: str, serve: Callable[[Path], AbstractContextManager[nginx_client.Web]], *marks: pytest.MarkDecorator
) -> RealHost:
    @contextmanager
    def start(site: Site, web: nginx_client.Web, folder: Path) -> Iterator[str]:
        with plain_hosts.readable_folder() as readable:
            export_for(site.store, host, readable / "export")
            with serve(readable / "export") as server:
                yield _url(server)

    return RealHost(start, marks)


@contextmanager
def _bucket(site: Site, web: nginx_client.Web, folder: Path, store: ObjectStore) -> Iterator[str]:
    """A bucket under a host name of its own, as stores offer it: the proxy adds the name of the bucket to each path."""
    rule = {"AllowedMethods": ["GET", "HEAD"], "AllowedOrigins": ["*"], "ExposeHeaders": ["ETag"]}
    store.api.put_bucket_cors(Bucket=BUCKET, CORSConfiguration={"CORSRules": [rule]})
    port = int(store.endpoint.rpartition(":")[2])
    with lying(port, lambda asked, answer: answer, prefix=f"/{BUCKET}/site") as url:
        command = ["publish", f"s3://{BUCKET}/site", "--out", str(site.folder / "dist"), "--url", url]
        result = CliRunner().invoke(cli.main, command, env=dict(store.environment))
        assert result.exit_code == 0, result.output
        yield url


@contextmanager
def _public_packs(site: Site, web: nginx_client.Web, folder: Path, store: ObjectStore) -> Iterator[str]:
    """workerd in front of a bucket without restricted packs, which the publish itself verifies."""
    pack_release(site.store, folder / "packed")
    command = ["publish", f"s3://{BUCKET}/packs", "--out", str(site.folder / "dist"), "--layout", "packs"]
    with edge_servers.before_bucket(folder / "packed", store, "packs") as server:
        result = CliRunner().invoke(cli.main, [*command, "--url", _url(server)], env=dict(store.environment))
        assert result.exit_code == 0, result.output
        yield _url(server)


REAL_HOSTS: Mapping[str, RealHost] = {
    "nginx": RealHost(_nginx),
    "workerd": _edge("workerd"),
    "deno": _edge("deno"),
    "public-packs": RealHost(_public_packs, (*edge_servers.on_edge_runtimes,), ("seaweed",)),
    "caddy": _exported("caddy", plain_hosts.caddy, plain_hosts.needs_caddy),
    "apache": _exported("apache", plain_hosts.apache, plain_hosts.needs_apache),
    "cloudflare": _exported("cloudflare", plain_hosts.wrangler, needs_wrangler, pytest.mark.edge),
    "s3": RealHost(_bucket, fixtures=("seaweed",)),
}


pytestmark = pytest.mark.hosts

KEY = "key-of-nobody"
NOT_OBSERVABLE = {promise.id for promise in PROMISES if promise.check is None}


@pytest.fixture(scope="module")
def host_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostSite]:
    """A site with pages, licences, restrictions, keys and old slugs, so that every promise is checked."""
    with served_site("pages", tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.mark.parametrize("name", [pytest.param(name, marks=host.marks) for name, host in REAL_HOSTS.items()])
def test_a_host_keeps_the_documented_promises(
    host_site: HostSite, name: str, tmp_path: Path, run: Callable[..., Result], request: pytest.FixtureRequest
) -> None:
    """All differences are documented, and each documented one exists."""
    (tmp_path / "key").write_text(KEY)
    host = REAL_HOSTS[name]
    fixtures = map(request.getfixturevalue, host.fixtures)
    with host.start(host_site.site, host_site.web, tmp_path, *fixtures) as url:
        options = ["--url", url, "--for", name, "--table", "--key-file", tmp_path / "key", "--json"]
        result = run("verify", "--out", host_site.site.folder / "dist", *options)

    answer = json.loads(result.stdout)
    assert answer.get("differences") == [], result.output
    broken = {promise for promise, outcome in answer["promises"].items() if outcome.startswith("not kept")}
    assert broken == set(HOSTS[name].missing)
    assert {promise for promise, outcome in answer["promises"].items() if outcome == "not checked"} <= NOT_OBSERVABLE
    assert result.exit_code == 0


def test_documented_promises_exist() -> None:
    """No host names a promise that the table does not have, and all have a real server."""
    ids = {promise.id for promise in PROMISES}

    assert [name for name, host in HOSTS.items() if not ids >= host.missing.keys()] == []
    assert HOSTS.keys() == REAL_HOSTS.keys()
