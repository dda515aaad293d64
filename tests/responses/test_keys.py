"""Keys and the accounts behind them."""

import json

import pytest

from generator.errors import CatalogError
from tests.conftest import copy_of
from tests.support.nginx_client import Answer, Web
from tests.support.site_variants import served


@pytest.fixture(scope="module")
def web(serve) -> Web:
    return serve("v2")[1]


def said(answer: Answer) -> tuple[int, object]:
    return answer.status, json.loads(answer.body)


def test_bookmarks_are_those_of_the_account_behind_the_key(web: Web) -> None:
    """Each of an account's keys opens the same, and none opens another's."""
    own = {"bookmarks": [{"series": "members-only"}, {"series": "full-book"}]}

    assert said(web.ask("/api/v2/bookmarks", X_API_Key="key-one")) == (200, own)
    assert said(web.ask("/api/v2/bookmarks", X_API_Key="key-one-too")) == (200, own)
    assert said(web.ask("/api/v2/bookmarks/?api_key=key-one")) == (200, own)
    assert said(web.ask("/api/v2/bookmarks", X_API_Key="key-two")) == (200, {"bookmarks": []})


def test_a_profile_has_every_key_in_its_order(web: Web) -> None:
    """What an account does not say is empty text; a picture is null, an address the site's own."""
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
    assert list(json.loads(bare.body).items()) == [
        ("username", "two"),
        ("first_name", ""),
        ("last_name", ""),
        ("email", ""),
        ("bio", ""),
        ("avatar", None),
        ("url", "https://lists.example/user/two/"),
    ]


@pytest.mark.parametrize("path", ["/api/v2/bookmarks", "/api/v2/profile"])
def test_what_is_somebodys_is_shared_with_nobody(web: Web, path: str) -> None:
    """Not by a cache, and not by a tag: the same tag with another's key is not fresh."""
    one = web.ask(path, X_API_Key="key-one")
    again = web.ask(path, X_API_Key="key-one-too", If_None_Match=one["etag"])
    other = web.ask(path, X_API_Key="key-two", If_None_Match=one["etag"])

    assert (one["cache-control"], one["vary"]) == ("private, max-age=3600", "X-API-Key")
    assert (again.status, again["cache-control"], again["vary"]) == (304, "private, max-age=3600", "X-API-Key")
    assert other.status == 200


NAMES = ("account", "username", "user", "owner", "of", "fp_account", "fp_username", "fp_holder")


@pytest.mark.parametrize("key", ["key-two", "key-of-nobody"])
@pytest.mark.parametrize("name", ["bookmarks", "profile"])
def test_no_parameter_header_or_path_chooses_another_account(web: Web, name: str, key: str) -> None:
    """Only the key says whose account it is; naming another one changes nothing."""
    path = f"/api/v2/{name}"
    own, other = web.ask(path, X_API_Key=key), web.ask(path, X_API_Key="key-one")
    assert other.status == 200 and own.body != other.body
    for word in NAMES:
        assert said(web.ask(f"{path}?{word}=one", X_API_Key=key)) == said(own), word
        for header in (word, f"X-{word}", f"X-Remote-{word}"):
            assert said(web.ask(path, X_API_Key=key, **{header: "one"})) == said(own), header
        assert said(web.ask(path, X_API_Key=key, Cookie=f"{word}=one")) == said(own), word
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
            answer = web.ask(f"{root}/{where.format(name)}", X_API_Key=key)
            assert (answer.status, other.body in answer.body) == (404, False), where


@pytest.mark.parametrize("path", ["/api/v2/bookmarks", "/api/v2/profile"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_key_of_nobody_finds_no_account(web: Web, path: str, method: str) -> None:
    """It opens what is restricted, but has no bookmarks and no profile."""
    answer = web.ask(path, method, X_API_Key="key-of-nobody")

    assert (answer.status, answer["cache-control"], answer["vary"]) == (404, "private, max-age=60", "X-API-Key")
    assert answer.body == (b'{"detail":"Not found."}' if method == "GET" else b"")


@pytest.mark.parametrize("path", ["/api/v2/bookmarks", "/api/v2/profile", "/api/v2/profile/"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_nobody_is_told_anything_without_a_key(web: Web, path: str, method: str) -> None:
    """Absent and wrong keys are refused in different words and the same manner."""
    absent, wrong = web.ask(path, method), web.ask(path, method, X_API_Key="key-ONE")

    for answer, detail in (
        (absent, "Authentication credentials were not provided."),
        (wrong, "Invalid token."),
    ):
        assert answer.status == 401
        assert answer.body == (b'{"detail":"%s"}' % detail.encode() if method == "GET" else b"")
        assert (answer["www-authenticate"], answer["cache-control"]) == ("X-API-Key", "no-store")
        assert answer["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("path", ["/api/v2/Bookmarks", "/api/V2/bookmarks", "/api/v2/PROFILE", "/api/v2/bookmarks/one"])
def test_paths_of_accounts_have_one_case(web: Web, path: str) -> None:
    """Another one is no path at all, key or no key."""
    assert web.ask(path, X_API_Key="key-one").status == 404
    assert web.ask(f"{path}?api_key=key-one").status == 404


def test_a_revoked_key_opens_nothing_from_the_next_release_on(tmp_path_factory) -> None:
    """What the catalog no longer names, the server no longer knows."""
    with served(tmp_path_factory.mktemp("revoked"), files={"keys.yaml": "[]\n"}) as (_, web):
        assert said(web.ask("/api/v2/chapters/31", X_API_Key="key-of-nobody")) == (401, {"detail": "Invalid token."})
        assert web.ask("/api/v2/chapters/31", X_API_Key="key-one").status == 200


def test_two_accounts_differ_in_more_than_case(tmp_path) -> None:
    """nginx would find one of them for both."""
    made = copy_of("v2", tmp_path)
    made.write("accounts.yaml", "- {username: Bob}\n- {username: bob}\n")

    with pytest.raises(CatalogError, match="the username bob belongs to another account"):
        made.build()
