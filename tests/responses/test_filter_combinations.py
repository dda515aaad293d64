"""Lists that the shim makes: everything about them but the body is what a file would have."""

import hashlib
import json

import pytest

from tests.support.nginx_client import Web

LIST = "/api/v2/series"


@pytest.fixture(scope="module")
def web(serve) -> Web:
    return serve("v2")[1]


FILTERED = f"{LIST}?title=full&limit=5"


def test_a_made_list_has_the_headers_of_a_file(web: Web) -> None:
    """All but its tag, which is the MD5 of its own body, and no word of a compressed form, which it has not."""
    file, made = dict(web.ask(LIST).headers), dict(web.ask(FILTERED, Accept_Encoding="gzip").headers)
    body = web.ask(FILTERED).body

    assert made["etag"] == f'"{hashlib.md5(body).hexdigest()}"'
    for headers in (file, made):
        for name in ("etag", "content-length", "date", "vary"):
            headers.pop(name, None)
    # The index behind it shows people and categories too, and may be newer than the list.
    assert made.pop("last-modified") >= file.pop("last-modified")
    assert made == file


def test_a_made_list_is_a_304_to_its_tag(web: Web) -> None:
    """The conditions are judged by the same maps as a file's."""
    tag = web.ask(FILTERED)["etag"]
    answer = web.ask(FILTERED, If_None_Match=f'"x", W/{tag}')

    assert (answer.status, answer.body, answer["etag"], answer["content-length"]) == (304, b"", tag, None)
    assert web.ask(FILTERED, If_None_Match='"x"').status == 200


def test_a_made_list_is_a_304_to_its_date(web: Web) -> None:
    """If-Modified-Since counts where no tag is sent."""
    answer = web.ask(FILTERED)

    assert web.ask(FILTERED, If_Modified_Since=answer["last-modified"]).status == 304
    assert web.ask(FILTERED, If_Modified_Since="Thu, 01 Jan 1970 00:00:00 GMT").status == 200


def test_a_made_list_honours_if_match(web: Web) -> None:
    """Its own tag gets the body, another one a 412."""
    plain = web.ask(FILTERED)
    passed = web.ask(FILTERED, If_Match=plain["etag"])

    assert (passed.status, passed.body, passed["etag"]) == (200, plain.body, plain["etag"])
    assert web.ask(FILTERED, If_Match='"x"').status == 412


@pytest.mark.parametrize("query", ["?title=full", "?page=2", "?page=99", "?title=full&page=2"])
def test_head_is_get_without_the_body(web: Web, query: str) -> None:
    """In files, in the shim, and for pages that do not exist."""
    get, head = web.ask(LIST + query), web.ask(LIST + query, "HEAD")

    assert (head.status, head.body) == (get.status, b"")
    assert [pair for pair in head.headers if pair[0] != "date"] == [pair for pair in get.headers if pair[0] != "date"]


def test_a_filter_that_leaves_nothing_is_an_empty_list(web: Web) -> None:
    """Not an error: the first page always exists."""
    assert web.ask(f"{LIST}?status=nonsense").body == b'{"total":0,"last":true,"results":[]}'
    assert web.ask(f"{LIST}?status=nonsense&page=2").status == 404


def test_a_licensed_series_is_sorted_by_the_chapters_that_it_does_not_show(web: Web) -> None:
    """Two chapters put it before those with one, though the list says null."""
    body = json.loads(web.ask(f"{LIST}?sort=-chapter_count&limit=999").body)["results"]
    shown = {one["slug"]: one["chapters"] for one in body}
    places = list(shown)

    assert shown["in-shops"] is None
    assert places.index("in-shops") < places.index("half-out")
