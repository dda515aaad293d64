"""API keys and their accounts."""

import json
from urllib.parse import quote, urlsplit

import pytest

from generator import encoding
from generator.errors import CatalogError
from tests.conftest import copy_of
from tests.support.nginx_client import Answer, Web
from tests.support.site_variants import served
from tests.support.tables import each


def status_and_body(response: Answer) -> tuple[int, object]:
    return response.status, json.loads(response.body)


def test_bookmarks_belong_to_the_account_of_the_key(web: Web) -> None:
    """All keys of an account return the same bookmarks, and no others."""
    own = {"bookmarks": [{"series": "members-only"}, {"series": "full-book"}]}

    assert status_and_body(web.ask("/api/v2/bookmarks", X_API_Key="key-one")) == (200, own)
    assert status_and_body(web.ask("/api/v2/bookmarks", X_API_Key="key-one-too")) == (200, own)
    assert status_and_body(web.ask("/api/v2/bookmarks/?api_key=key-one")) == (200, own)
    assert status_and_body(web.ask("/api/v2/bookmarks", X_API_Key="key-two")) == (200, {"bookmarks": []})


def test_profile_has_every_field_in_order(web: Web) -> None:
    """A missing text is empty, a missing avatar is null, and a missing URL is that of the site."""
    whole = web.ask("/api/v2/profile", X_API_Key="key-one")
    bare = web.ask("/api/v2/profile?api_key=key-two")

    assert list(json.loads(whole.body).items()) == [
        ("username", "one"),
        ("first_name", "Una"),
        ("last_name", "One"),
        ("email", "una@mail.example"),
        ("bio", "Reads."),
        ("avatar", "https://lists.example/media/users/one/me%20%26%20you.png"),
        ("url", "https://una.example/"),
    ]
    empty = dict.fromkeys(("first_name", "last_name", "email", "bio"), "")
    own = {"username": "two", "avatar": None, "url": "https://lists.example/user/two/"}
    assert json.loads(bare.body) == empty | own


@each("path", ["/api/v2/bookmarks", "/api/v2/profile"])
def test_account_response_is_private(web: Web, path: str) -> None:
    """A cache may not share it, and its ETag does not match with the key of another account."""
    first = web.ask(path, X_API_Key="key-one")
    again = web.ask(path, X_API_Key="key-one-too", If_None_Match=first["etag"])
    other = web.ask(path, X_API_Key="key-two", If_None_Match=first["etag"])

    assert (first["cache-control"], first["vary"]) == ("private, max-age=3600", "X-API-Key")
    assert (again.status, again["cache-control"], again["vary"]) == (304, "private, max-age=3600", "X-API-Key")
    assert other.status == 200


NAMES = ("account", "username", "user", "owner", "of", "fp_account", "fp_username", "fp_holder")


@each("key", ["key-two", "key-of-nobody"])
@each("name", ["bookmarks", "profile"])
def test_only_the_key_selects_the_account(web: Web, name: str, key: str) -> None:
    """No parameter, header, cookie or path selects another one."""
    path = f"/api/v2/{name}"
    own, other = web.ask(path, X_API_Key=key), web.ask(path, X_API_Key="key-one")
    assert other.status == 200 and own.body != other.body
    for word in NAMES:
        assert status_and_body(web.ask(f"{path}?{word}=one", X_API_Key=key)) == status_and_body(own), word
        for header in (word, f"X-{word}", f"X-Remote-{word}"):
            assert status_and_body(web.ask(path, X_API_Key=key, **{header: "one"})) == status_and_body(own), header
        assert status_and_body(web.ask(path, X_API_Key=key, Cookie=f"{word}=one")) == status_and_body(own), word
    for where in (
        "{0}/one",
        "of/one/{0}",
        "one/{0}",
        "of/one/{0}/",
        "{0}%23one",
        "{0};one",
        "accounts/one/{0}",
        "users/one/{0}",
    ):
        for root in ("/api/v2", "/api", ""):
            response = web.ask(f"{root}/{where.format(name)}", X_API_Key=key)
            assert (response.status, other.body in response.body) == (404, False), where


@each("path", ["/api/v2/bookmarks", "/api/v2/profile"])
@each("method", ["GET", "HEAD"])
def test_key_without_account_is_404(web: Web, path: str, method: str) -> None:
    """It opens restricted resources, but has no bookmarks and no profile."""
    response = web.ask(path, method, X_API_Key="key-of-nobody")

    assert (response.status, response["cache-control"], response["vary"]) == (404, "private, max-age=60", "X-API-Key")
    assert response.body == (b'{"detail":"Not found."}' if method == "GET" else b"")


@each("path", ["/api/v2/bookmarks", "/api/v2/profile", "/api/v2/profile/"])
@each("method", ["GET", "HEAD"])
def test_missing_or_wrong_key_is_401(web: Web, path: str, method: str) -> None:
    """The texts differ; the headers do not."""
    absent, wrong = web.ask(path, method), web.ask(path, method, X_API_Key="key-ONE")

    for response, detail in (
        (absent, "Authentication credentials were not provided."),
        (wrong, "Invalid token."),
    ):
        assert response.status == 401
        assert response.body == (b'{"detail":"%s"}' % detail.encode() if method == "GET" else b"")
        assert (response["www-authenticate"], response["cache-control"]) == ("X-API-Key", "no-store")
        assert response["access-control-allow-origin"] == "*"


def test_repeated_username_is_an_error(tmp_path) -> None:
    """Both would have the same bookmarks."""
    site = copy_of("v2", tmp_path)
    site.write("accounts.yaml", "- {username: bob}\n- {username: bob}\n")

    with pytest.raises(CatalogError, match="the username bob is already used by another account"):
        site.build()


# Any text that MangAdventure accepts. nginx ignores the case of ASCII letters in its maps.
USERNAMES = [
    "Bob", "bob", "BOB", "Éric", "éric", "ﬁn", "fin", "bob@mail.example", "Bob@mail.example", "@bob", "-", "+", "_",
    "..a", "index", "default", "hostnames", "include", "霧" * 150, "𝒜" * 150, "a" * 150, "½²",
]  # fmt: skip


def test_each_username_has_its_own_bookmarks_and_profile(tmp_path_factory) -> None:
    """The URL of its page and of its avatar are percent-encoded."""
    entries = [
        {"username": name, "avatar": "a b.png", "bookmarks": ["full-book"] * (number % 2)}
        | {"first_name": f"No. {number}", "keys": [{"name": "key", "sha256": encoding.sha256(f"k{number}".encode())}]}
        for number, name in enumerate(USERNAMES)
    ]
    files = {"accounts.yaml": json.dumps(entries, ensure_ascii=False), "keys.yaml": "[]\n"}
    with served(tmp_path_factory.mktemp("usernames"), files=files) as (_, web):
        for number, name in enumerate(USERNAMES):
            status, profile = status_and_body(web.ask("/api/v2/profile", X_API_Key=f"k{number}"))

            assert (status, profile["username"], profile["first_name"]) == (200, name, f"No. {number}")
            assert urlsplit(profile["url"]).path == f"/user/{quote(name, safe='')}/"
            assert urlsplit(profile["avatar"]).path == f"/media/users/{quote(name, safe='')}/a%20b.png"
            bookmarks = web.ask("/api/v2/bookmarks", X_API_Key=f"k{number}")
            assert status_and_body(bookmarks) == (200, {"bookmarks": [{"series": "full-book"}] * (number % 2)})
        assert web.complaints() == []
