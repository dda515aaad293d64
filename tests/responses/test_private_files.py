"""Files that clients may not read do not exist, or no URL leads to them."""

import gzip
import hashlib
import re
from collections.abc import Iterator

import pytest

from tests.conftest import Site
from tests.support.nginx_client import Web
from tests.support.tables import each


@pytest.fixture(scope="module")
def texts(asked_site: Site) -> dict[str, bytes]:
    """All files below dist but those that nginx writes, decompressed."""
    dist = asked_site.folder / "dist"
    files = [path for path in dist.rglob("*") if path.is_file() and "run" not in path.relative_to(dist).parts]
    data = {path.relative_to(dist).as_posix(): path.read_bytes() for path in files}
    return {name: gzip.decompress(text) if name.endswith(".gz") else text for name, text in data.items()}


def folders_with(texts: dict[str, bytes], text: bytes) -> set[str]:
    """The top folders, and API versions below `www`, of all files that contain the text."""
    trees = re.compile(r"private|www/api(?:/v\d)?|releases|\w+")
    return {trees.match(name)[0] for name, data in texts.items() if text in data}


def test_restricted_body_is_only_in_the_private_tree(texts: dict[str, bytes]) -> None:
    """No other file below dist contains its pages."""
    assert folders_with(texts, b"hidden-page.png") == {"private"}


def test_licensed_body_of_v2_does_not_exist(texts: dict[str, bytes]) -> None:
    """Only /api and /api/v1 have the chapters of a licensed series."""
    assert folders_with(texts, b"sold-page.png") == {"www/api", "www/api/v1"}
    assert folders_with(texts, b"neither-page.png") == set()


def test_keys_are_written_as_digests_only(texts: dict[str, bytes]) -> None:
    """Each digest is in two files of the release: keys.json, and keys.map for nginx."""
    for key in ("key-one-too", "key-two", "key-of-nobody"):
        digest = hashlib.sha256(key.encode()).hexdigest().encode()
        assert folders_with(texts, key.encode()) == set()
        holding = sorted(name.rsplit("/", 1)[1] for name, data in texts.items() if digest in data)
        assert holding == ["keys.json", "keys.map"]


# Paths that try to reach a file below private.
TO_FILES = (
    *("/{file}", "//{file}", "/api/../{file}", "/api/v2/../../{file}", "/dist/{file}", "/api/v2/{file}"),
    *("/{rest}", "/{rest}.headers", "/{rest}.gz", "/www/../{file}", "/%2e%2e/{file}", "/api/v2/..%2f..%2f{file}"),
    *("/{tree}%2f{rest}", "/{tree}/%2e/{rest}", "/api/v2/%2e%2e/%2e%2e/{file}", "/api\\..\\{file}"),
    *("/{file}%00.json", "/{file}?x", "/{file};x", "/api/v2/series?page=../../{file}"),
)


def hostile_paths(asked_site: Site) -> Iterator[str]:
    """Paths that try to reach a file below private, or a response made from it."""
    for published in asked_site.manifest.resources.values():
        if published.restricted:
            tree, _, rest = published.file.partition("/")
            for path in TO_FILES:
                yield path.format(file=published.file, tree=tree, rest=rest)
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
    yield from ("/_flatpanel/search", "/_flatpanel/again", "/_flatpanel/refused", "/_flatpanel/fresh/")
    yield from ("/_flatpanel/error", "/private/")
    yield from ("/current/keys.map", "/current/keys.json", "/dist/current/manifest.json", "/dist/current/keys.map")
    yield from ("/releases/", "/run/views.log", "/api/keys.map")


SECRETS = (b"hidden-page", b"Hush", b'bookmarks":', b"una@mail.example")


def test_no_path_reaches_a_private_file(asked_site: Site, web: Web) -> None:
    """Traversal, escapes, double slashes, other cases and file names are all rejected without a key."""
    reached = {}
    for path in hostile_paths(asked_site):
        response = web.ask(path)
        if response.status not in (400, 401, 404) or any(secret in response.body for secret in SECRETS):
            reached[path] = response.status

    assert reached == {}


@each(
    "headers",
    [
        {"X_Original_URL": "/private/of/one/profile"},
        {"X_Rewrite_URL": "/private/of/one/profile"},
        {"X_Accel_Redirect": "/private/of/one/profile"},
        {"X_Forwarded_For": "127.0.0.1"},
        {"Referer": "https://lists.example/"},
        {"If_None_Match": "*"},
        {"If_Match": "*"},
        {"Cookie": "X-API-Key=key-one; api_key=key-one"},
        {"Authorization": "Bearer key-one"},
        {"X-API-Key2": "key-one"},
    ],
)
def test_no_other_header_is_a_key(web: Web, headers: dict[str, str]) -> None:
    """Only X-API-Key is."""
    for path in ("/api/v2/profile", "/api/v2/chapters/31/pages", "/api/v2/chapters/31/read"):
        assert web.ask(path, **headers).status == 401
