"""`export --for cloudflare`: the static assets of wrangler serve an export, and what is over a limit is said."""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote

import pytest

from generator.api.payloads.resources import HTML, JSON
from generator.hosts.plain import plain_release
from generator.hosts.plain.export import export_for
from tests.conftest import Site, copy_of
from tests.hosts.plain_cases import public
from tests.hosts.unusual_site import REDIRECTED, unusual_copy
from tests.support import plain_hosts, same_answers
from tests.support.nginx_client import Answer
from tests.support.node_tools import needs_wrangler
from tests.support.odd_requests import Request

# test_rule_files.py reads the same export without a server in the everyday run.
pytestmark = [needs_wrangler, pytest.mark.edge]
# Headers that each response has.
COMMON = {
    "x-frame-options": "SAMEORIGIN",
    "x-content-type-options": "nosniff",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag",
}


class Assets(NamedTuple):
    """A site and the server of its export, which sends long bodies in chunks."""

    site: Site
    port: int

    def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        fields = tuple((name.replace("_", "-"), value) for name, value in headers.items())
        (answer,) = same_answers.ask_all(self.port, [Request(path, method, fields)])
        return answer


@pytest.fixture(scope="module", params=["pages", "everything", "unusual"])
def assets(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assets]:
    folder = tmp_path_factory.mktemp("cloudflare")
    if request.param == "unusual":
        site = unusual_copy(folder / "project")
    else:
        site = copy_of(request.param, folder / "project")
    site.build()
    export_for(site.store, "cloudflare", folder / "export")
    with plain_hosts.wrangler(folder / "export") as web:
        yield Assets(site, web.port)


def test_each_path_has_its_body_and_headers(assets: Assets) -> None:
    bodies = public(assets.site)
    assert len(bodies) > 100
    for body in bodies:
        answer = assets.ask(body.url)
        assert (answer.status, answer.body) == (200, (assets.site.store.root / body.file).read_bytes()), body.url
        assert answer["cache-control"] == f"public, max-age={body.max_age}", body.url
        assert dict(answer.headers).items() >= COMMON.items()
        kind = body.type.partition(";")[0]
        # The files of feeds have their usual types; that of a feed of JSON is JSON.
        expected = {"application/feed+json": JSON, "application/opensearchdescription+xml": "application/xml"}.get(
            kind, kind
        )
        assert str(answer["content-type"]).partition(";")[0] == expected, body.url
        if body.type == HTML:
            assert str(answer["content-security-policy"]).startswith("default-src 'none'; ")
        if body.url.startswith("/api/v2"):
            assert answer["access-control-allow-methods"] == "GET, HEAD, OPTIONS"


def test_all_rules_are_accepted(assets: Assets) -> None:
    log = (assets.site.folder.parent / "wrangler.log").read_text()
    assert "Parsed" in log and "invalid" not in log.lower(), log


def test_names_that_the_host_redirects(assets: Assets, request: pytest.FixtureRequest) -> None:
    """They have their bodies with and without a final slash."""
    names = {quote(name, safe="") for name in REDIRECTED}
    paths = [body.url.removesuffix("/") for body in public(assets.site)]
    paths = [path for path in paths if path.rpartition("/")[2] in names - {"x", "x.json"}]
    kind = request.node.callspec.params["assets"]
    assert len(paths) > 15 if kind == "unusual" else paths == ["/404"] * (kind == "pages")
    for path in paths:
        answer, other = assets.ask(path), assets.ask(f"{path}/")
        assert (answer.status, other.status, other.body) == (200, 200, answer.body), path


def test_errors_of_the_api_are_json(assets: Assets) -> None:
    for path, text in (
        ("/api/nope", b'{"error":"Not found","status":404}'),
        ("/api/series/nope/1", b'{"error":"Not found","status":404}'),
        ("/api/v2/nope", b'{"detail":"Not found."}'),
        ("/api/v2/chapters/999999", b'{"detail":"Not found."}'),
    ):
        answer = assets.ask(path)
        assert (answer.status, answer["content-type"], answer.body) == (404, JSON, text)
    expected = HTML if assets.site.store.table().rules.pages else JSON
    assert assets.ask("/nope")["content-type"] == expected
    assert assets.ask("/nope").status == 404


def test_redirects(assets: Assets) -> None:
    """A final slash is a 307; a chapter and an old slug are a 308 to an absolute URL."""
    answer = assets.ask("/api/series/")
    assert (answer.status, answer["location"]) == (307, "/api/series")
    with assets.site.store.table() as table:
        release = plain_release.read(table, assets.site.store.root)
    for path, target in release.moved.items():
        answer = assets.ask(path)
        assert (answer.status, answer["location"]) == (308, f"{release.rules.base_url}{target}")
    for old, present in release.rules.redirected_paths().items():
        answer = assets.ask(f"{old}/1/2?a=1")
        assert (answer.status, answer["location"]) == (308, f"{release.rules.base_url}{present}/1/2?a=1")


def test_an_etag_of_its_own_is_compared(assets: Assets) -> None:
    """One at a time: the host ignores lists, `*` and dates."""
    tag = str(assets.ask("/api/authors")["etag"])
    assert assets.ask("/api/authors", If_None_Match=tag).status == 304
    assert assets.ask("/api/authors", "HEAD")["etag"] == tag
    assert assets.ask("/api/authors", If_None_Match="*").status == 200
    assert assets.ask("/api/authors", "POST").status == 405


def test_restricted_and_licensed_urls_are_missing(assets: Assets, request: pytest.FixtureRequest) -> None:
    with assets.site.store.table() as table:
        release = plain_release.read(table, assets.site.store.root)
    assert release.locked and (release.licensed or request.node.callspec.params["assets"] == "unusual")
    for path in (*release.locked, *release.licensed):
        assert assets.ask(path).status == 404
