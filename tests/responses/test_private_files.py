"""What must not be read is not there, or lies where no path leads."""

import gzip
import hashlib
import re
from collections.abc import Iterator

import pytest

from tests.conftest import Site
from tests.support.nginx_client import Web


@pytest.fixture(scope="module")
def site(serve) -> Site:
    return serve("v2")[0]


@pytest.fixture(scope="module")
def web(serve) -> Web:
    return serve("v2")[1]


def texts(site: Site) -> Iterator[tuple[str, bytes]]:
    dist = site.folder / "dist"
    for path in sorted(dist.rglob("*")):
        if path.is_file() and "run" not in path.relative_to(dist).parts:
            data = path.read_bytes()
            yield path.relative_to(dist).as_posix(), gzip.decompress(data) if path.suffix == ".gz" else data


def holding(site: Site, text: bytes) -> set[str]:
    """The top folders of everything that says it; of what is public, the families."""
    trees = re.compile(r"private|www/api(?:/v\d)?|releases|\w+")
    return {trees.match(name)[0] for name, data in texts(site) if text in data}


def test_a_restricted_body_lies_only_where_the_gate_leads(site: Site) -> None:
    """Its pages are named below private and nowhere else in all of dist."""
    assert holding(site, b"hidden-page.png") == {"private"}


def test_a_licensed_body_is_not_there(site: Site) -> None:
    """The old families show it; of v2 there is no file to be sent by mistake."""
    assert holding(site, b"sold-page.png") == {"www/api", "www/api/v1"}
    assert holding(site, b"neither-page.png") == set()


def test_only_digests_of_keys_are_written(site: Site) -> None:
    """No file below dist holds a key, and each key's digest is in one: the map of the release."""
    for key in ("key-one-too", "key-two", "key-of-nobody"):
        digest = hashlib.sha256(key.encode()).hexdigest().encode()
        assert holding(site, key.encode()) == set()
        assert [name.rsplit("/", 1)[1] for name, data in texts(site) if digest in data] == ["keys.map"]


def tricks(site: Site) -> Iterator[str]:
    """Every way that comes to mind to reach a file below private, or the answer made from it."""
    restricted = [one for one in site.manifest.resources.values() if one.restricted]
    for one in restricted:
        tree, _, inside = one.file.partition("/")
        yield from (f"/{one.file}", f"//{one.file}", f"/api/../{one.file}", f"/api/v2/../../{one.file}")
        yield from (f"/dist/{one.file}", f"/api/v2/{one.file}", f"/{inside}", f"/{inside}.headers", f"/{inside}.gz")
        yield from (f"/www/../{one.file}", f"/%2e%2e/{one.file}", f"/api/v2/..%2f..%2f{one.file}")
        yield from (f"/{tree}%2f{inside}", f"/{tree}/%2e/{inside}", f"/api/v2/%2e%2e/%2e%2e/{one.file}")
        yield from (f"/api\\..\\{one.file}", f"/{one.file}%00.json", f"/{one.file}?x", f"/{one.file};x")
        yield f"/api/v2/series?page=../../{one.file}"
    for path in ("31/pages", "31", "32", "31/read"):
        yield from (
            f"/api/v2/chapters/{path}{end}" for end in (";x", ".json", "%20", "%09", "?", "?api_key=", "/.", "//")
        )
        yield from (f"/api/v2/chapters/0{path}", f"/api/v2/chapters/+{path}", f"/api/v2/chapters/x/../{path}")
        yield from (f"/API/v2/chapters/{path}", f"/api/v2/Chapters/{path}", f"/api/v2/chapters/%33%31{path[2:]}")
        yield from (f"http://other.example/api/v2/chapters/{path}", f"/api/v2/chapters/{path}#x")
    for owner in ("one", "two"):
        for name in ("bookmarks", "profile"):
            yield from (f"/of/{owner}/{name}", f"/api/v2/of/{owner}/{name}", f"/api/v2/{name}/{owner}")
            yield from (f"/api/v2/{name}%23{owner}", f"/private/of/{owner}/{name}", f"/api/v2/{name}?username={owner}")
            yield from (f"/api/v2/{name}#{owner}", f"/api/v2/{name}?fp_account={owner}&fp_username={owner}")
    yield from ("/query/series/members-only/chapters/timestamp", "/api/query/series/members-only/chapters/timestamp")
    yield from ("/_flatpanel/search", "/_flatpanel/again", "/_flatpanel/fresh/", "/_flatpanel/error", "/private/")
    yield from ("/current/keys.map", "/dist/current/keys.map", "/releases/", "/run/views.log", "/api/keys.map")


SECRETS = (b"hidden-page", b"Hush", b'bookmarks":', b"una@mail.example")


def test_no_path_leads_to_what_is_private(site: Site, web: Web) -> None:
    """Traversal, escapes, doubled slashes, other cases, a file's own name: nothing gets there without a key."""
    reached = {}
    for path in tricks(site):
        answer = web.ask(path)
        if answer.status not in (400, 401, 404) or any(secret in answer.body for secret in SECRETS):
            reached[path] = answer.status

    assert reached == {}


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Original_URL": "/private/of/one/profile"},
        {"X_Rewrite_URL": "/private/of/one/profile"},
        {"X_Accel_Redirect": "/private/of/one/profile"},
        {"X_Forwarded_For": "127.0.0.1"},
        {"Referer": "https://lists.example/"},
        {"Range": "bytes=0-10"},
        {"If_None_Match": "*"},
        {"If_Match": "*"},
        {"If_Modified_Since": "Fri, 01 Jan 2100 00:00:00 GMT"},
        {"Upgrade": "h2c"},
        {"Expect": "100-continue"},
        {"Cookie": "X-API-Key=key-one; api_key=key-one"},
        {"Authorization": "Bearer key-one"},
        {"X-API-Key2": "key-one"},
    ],
)
def test_no_other_header_opens_a_gate(web: Web, headers: dict[str, str]) -> None:
    """Only X-API-Key counts."""
    for path in ("/api/v2/profile", "/api/v2/chapters/31/pages", "/api/v2/chapters/31/read"):
        assert web.ask(path, **headers).status == 401
