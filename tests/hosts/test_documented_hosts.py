"""Each real host keeps exactly the promises that docs/hosts.md says."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from generator.review.promises.hosts import HOSTS
from generator.review.promises.table import PROMISES
from tests.support.host_sites import HostSite, served_site
from tests.support.real_hosts import REAL_HOSTS

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
