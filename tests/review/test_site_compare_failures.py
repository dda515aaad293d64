"""`compare` with sites that are broken, slow or refusing, and with few responses: messages and exit codes."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from click.testing import Result

from generator.reading_sites.site_client import TRIES_IF_BROKEN
from generator.review.site_compare import facts
from generator.review.site_compare.facts import UNUSABLE, Difference, Facts
from generator.review.site_compare.known_reasons import group_roles, new_field, reason
from tests.review.conftest import Pair
from tests.support.fake_site import Replies, Reply
from tests.support.import_project import invoke
from tests.support.moved_sites import compare


def compared(sites: Pair, folder: Path, *arguments: str) -> Result:
    return compare(sites[0].url, sites[1].url, folder / "cache", *arguments)


def shown(sites: Pair, folder: Path, *arguments: str) -> str:
    """What `compare` prints of sites that differ."""
    result = compared(sites, folder, *arguments)
    assert result.exit_code == 1
    return result.output


def test_equal_sites_have_no_differences(sites: Pair, tmp_path: Path) -> None:
    """The URLs that they state are those of neither."""
    result = compared(sites, tmp_path)

    assert result.exit_code == 0
    first, second, *stated = result.output.splitlines()
    assert first == f"{sites[0].url} → {sites[1].url}"
    assert second.endswith(" equal") and len({number for number in second.split() if number.isdecimal()}) == 1
    assert stated == [
        f"URLs in responses of {site.url} begin with https://comics.example; only the paths behind it are compared"
        for site in sites
    ]


def test_sites_of_this_project_have_no_reasons(sites: Pair, tmp_path: Path) -> None:
    """Reasons are those of the original service: another order of aliases is a difference."""
    sites[1].answers["/api/v2/series/one"]["aliases"] = ["Eins", "Uno"]
    sites[0].answers["/api/v2/series/one"]["aliases"] = ["Uno", "Eins"]
    result = compared(sites, tmp_path)

    assert (result.exit_code, "/api/v2/series/{slug} aliases[] moved" in result.output) == (1, True)


@pytest.mark.parametrize("which", [0, 1])
def test_site_without_a_known_api_is_an_error(which: int, sites: Pair, tmp_path: Path) -> None:
    """Either of the two. With --json, the message is in the JSON."""
    sites[which].answers.clear()
    result, report = compared(sites, tmp_path), json.loads(compared(sites, tmp_path, "--json").stdout)

    missing = "not a known API: /api/v2/series, /api/v1/series and /api/series do not exist"
    assert (result.exit_code, result.stderr) == (1, f"{sites[which].url}: {missing}\n")
    assert (report["ok"], report["message"]) == (False, f"{sites[which].url}: {missing}")


def test_sites_without_a_common_version_differ(sites: Pair, tmp_path: Path) -> None:
    """Nothing else can be compared."""
    for site, version in zip(sites, ("/api/v1", "/api/v2"), strict=True):
        site.answers = {path: answer for path, answer in site.answers.items() if not path.startswith(version)}
    output = shown(sites, tmp_path)

    assert "0 responses of each site compared, 0 equal\n" in output
    assert "  1 × /api/v2 another status: /api/v2: 200 → 404\n" in output
    assert "the first site does not have this version of the API: /api/v1: 404 → 200\n" in output


def test_refused_responses_differ(sites: Pair, tmp_path: Path) -> None:
    """403, 410 and 500 on one site are other statuses; a status of both is equal."""
    sites[1].answers |= {"/api/v2/authors": Reply(403), "/api/v2/groups/2": Reply(410), "/api/v2/artists": Reply(500)}
    sites[0].answers["/api/v2/groups/2"] = {"id": 2}
    for site in sites:
        site.answers["/api/v2/members"] = Reply(500)
    output = shown(sites, tmp_path)

    assert "  1 × /api/v2/authors another status: /api/v2/authors: 200 → 403\n" in output
    assert "  1 × /api/v2/groups/{id} another status: /api/v2/groups/2: 200 → 410\n" in output
    assert "  1 × /api/v2/artists another status: /api/v2/artists: 200 → 500\n" in output
    assert "/api/v2/members" not in output
    # Several parts of the comparison need the list of artists; the site fails once for all of them.
    assert [path for path, _ in sites[1].asked].count("/api/v2/artists") == TRIES_IF_BROKEN


def test_unusable_response_is_a_difference(sites: Pair, tmp_path: Path) -> None:
    """A body that is not JSON, also if both sites send it: it cannot be compared."""
    for site in sites:
        site.answers["/api/v2/members"] = Reply(body=b"<html>")
    sites[1].answers["/api/v2/groups"] = Reply(headers={"Content-Encoding": "gzip"})
    output = shown(sites, tmp_path)

    assert "note: both sites: /api/v2/members: not JSON; skipped\n" in output
    assert "  1 × /api/v2/members no usable response: /api/v2/members: unusable → unusable\n" in output
    assert "  1 × /api/v2/groups no usable response: /api/v2/groups: 200 → unusable\n" in output


def test_no_reason_explains_unusable_responses() -> None:
    """Not even if neither site sent a usable one, so that both values are equal texts."""
    difference = Difference("/api/v2/members", "/api/v2/members", UNUSABLE, (), "unusable", "unusable")
    original = cast(Facts, SimpleNamespace(from_original=True))

    assert reason(difference, original) == ""
    assert reason(replace(difference, kind="changed", first="a\r\n", second="a\n"), original) != ""


def test_no_reason_explains_values_of_another_kind() -> None:
    """Roles that are no text, and a field that is missing although the first site has version 2."""
    roles = Difference("/api/v2/members", "/api/v2/members", "removed", ("[id=1]", "roles"), [7], None)
    title = Difference("/api/v2/chapters", "/api/v2/chapters", "added", ("[id=1]", "full_title"), None, "Ch. 1")
    facts = cast(Facts, SimpleNamespace(has_v2=True))

    assert not group_roles(roles, facts) and not new_field(title, facts)


def test_slow_site_ends_the_comparison(sites: Pair, tmp_path: Path) -> None:
    """After three responses in a row; the message names the option."""
    sites[1].answers = dict.fromkeys(sites[1].answers, Reply(200, b"[", {"Content-Length": "9", "Connection": "close"}))
    result = compared(sites, tmp_path, "--timeout", "1")

    assert result.exit_code == 1
    assert sites[1].url in result.stderr


def test_interrupted_comparison_resumes(sites: Pair, tmp_path: Path) -> None:
    """The next run requests what is left, and the run after that everything, with conditions."""
    sites[1].answers["/api/v2/groups"] = Replies([*[Reply(503)] * 7, *[sites[1].answers["/api/v2/groups"]]])
    sites[0].answers["/api/v2/members/9"] = Reply(headers={"ETag": '"x"'})
    sites[1].answers["/api/v2/members/9"] = {}
    first = compared(sites, tmp_path)
    assert (first.exit_code, "gave up after 7 tries; run again to resume" in first.stderr) == (1, True)
    before = [len(site.asked) for site in sites]

    assert compared(sites, tmp_path).exit_code == 0
    asked = [site.paths[count:] for site, count in zip(sites, before, strict=True)]
    assert "/api/v2/series" not in [*asked[0], *asked[1]]
    before = [len(site.asked) for site in sites]
    assert compared(sites, tmp_path).exit_code == 0
    again = dict(sites[0].asked[before[0] :])
    assert again["/api/v2/members/9"]["If-None-Match"] == '"x"'
    assert "/api/v2/series" in again


def test_redirects_are_not_requested_twice(sites: Pair, tmp_path: Path) -> None:
    """They are in the cache, too."""
    for site in sites:
        site.answers["/api/v2/chapters/12/read"] = Reply(308, headers={"Location": f"{site.url}/reader/one/1/2/"})
        chapter = site.answers["/api/v1/series/one"]["volumes"]["1"]["2"]
        site.answers["/api/v1/series/one/1/2"] = Replies([*[Reply(503)] * 7, chapter])
    assert compared(sites, tmp_path).exit_code == 1
    assert compared(sites, tmp_path).exit_code == 1  # of the other site
    assert compared(sites, tmp_path).exit_code == 0
    assert [site.paths.count("/api/v2/chapters/12/read") for site in sites] == [1, 1]


def test_page_size_differs(sites: Pair, tmp_path: Path) -> None:
    """All pages are compared as one list, and their size, too."""
    series = [{"slug": f"s{number}", "title": "S"} for number in range(4)]
    for site, size in zip(sites, (2, 3), strict=True):
        for start in range(0, 4, size):
            path = f"/api/v2/series?page={start // size + 1}" if start else "/api/v2/series"
            last = start + size >= 4
            site.answers[path] = {"total": 4, "last": last, "results": series[start : start + size]}
    output = shown(sites, tmp_path)

    assert "  1 × /api/v2/series page size changed: /api/v2/series page size: 2 → 3\n" in output


def test_list_without_end_ends(sites: Pair, tmp_path: Path) -> None:
    """A page that repeats the series of another one is the last."""
    for site in sites:
        for path in ("/api/v2/series", "/api/v2/series?page=2"):
            site.answers[path] = {"total": 1, "last": False, "results": [{"slug": "one", "title": "One"}]}

    assert compared(sites, tmp_path).exit_code == 0
    assert "/api/v2/series?page=3" not in sites[0].paths


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        (Reply(500), "/api/v2/series another status: /api/v2/series: 200 → 500"),
        (Reply(body=b"<html>"), "/api/v2/series no usable response: /api/v2/series: 200 → unusable"),
    ],
)
def test_failed_page_of_a_list_is_no_loss_of_series(sites: Pair, tmp_path: Path, reply: Reply, line: str) -> None:
    """The other pages are not the list."""
    pages = [{"total": 2, "last": slug == "b", "results": [{"slug": slug, "title": slug}]} for slug in "ab"]
    for site in sites:
        site.answers |= {"/api/v2/series": pages[0], "/api/v2/series?page=2": pages[1]}
    sites[1].answers["/api/v2/series?page=2"] = reply
    output = shown(sites, tmp_path)

    assert f"  1 × {line}\n" in output
    assert "only on the first site" not in output


def test_page_after_the_last_may_be_missing(sites: Pair, tmp_path: Path) -> None:
    """As on sites that do not state which page is the last."""
    sites[1].answers["/api/v2/series"] = {"total": 1, "last": False, "results": [{"slug": "one", "title": "One"}]}
    result = compared(sites, tmp_path)

    assert "/api/v2/series?page=2" in sites[1].paths
    assert (result.exit_code, "another status" in result.output) == (0, False), result.output


def test_number_of_series_is_limited(sites: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site may have another series on each page."""
    monkeypatch.setattr(facts, "MAX_SERIES", 3)
    for site in sites:
        for page in range(1, 9):
            path = f"/api/v2/series?page={page}" if page > 1 else "/api/v2/series"
            site.answers[path] = {"total": 9, "last": False, "results": [{"slug": f"s{page}", "title": "S"}]}
    result = compared(sites, tmp_path)

    assert "note: both sites: /api/v2/series: more than 3 series; the rest is skipped\n" in result.output
    assert "/api/v2/series?page=5" not in sites[0].paths


def test_order_of_requests_is_fixed(sites: Pair, tmp_path: Path) -> None:
    """And so is that of the differences."""
    compared(sites, tmp_path)
    entries = [path for path in sites[0].paths if re.fullmatch("/api/v[12]/[a-z]+/[0-9]+", path)]
    kinds = [path.split("/")[3] for path in entries if path.startswith("/api/v2/")]

    assert [kind for kind in dict.fromkeys(kinds) if kind != "chapters"] == ["authors", "artists", "groups", "members"]


def test_redirect_differs(sites: Pair, tmp_path: Path) -> None:
    """The target is compared without the site, and is not followed."""
    for site, path in zip(sites, ("/reader/one/1/2/", "/reader/one/1/3/"), strict=True):
        site.answers["/api/v2/chapters/12/read"] = Reply(308, headers={"Location": site.url + path})
        site.answers["/api/v2/chapters/11/read"] = Reply(308, headers={"Location": f"{site.url}/reader/one/1/1/"})
    sites[1].answers["/api/v2/chapters/11/read"] = Reply(headers={"Content-Encoding": "gzip"})
    output = shown(sites, tmp_path)

    assert '/api/v2/chapters/12/read Location: "/reader/one/1/2/" → "/reader/one/1/3/"\n' in output
    assert "/api/v2/chapters/11/read: 308 → unusable\n" in output


def test_key_is_sent_to_both_sites(sites: Pair, tmp_path: Path) -> None:
    """Bookmarks and profile are compared; without a key, they are not requested."""
    for site in sites:
        site.answers["/api/v2/bookmarks"] = Replies([Reply(401), {"bookmarks": []}])
    (tmp_path / "key.txt").write_text("a key\n")
    assert compared(sites, tmp_path, "--key-file", str(tmp_path / "key.txt")).exit_code == 0
    sent = [headers.get("X-API-Key") for site in sites for path, headers in site.asked if path == "/api/v2/bookmarks"]
    assert sent == [None, "a key", None, "a key"]
    assert not any("X-API-Key" in headers for site in sites for path, headers in site.asked if "bookmarks" not in path)

    before = [len(site.asked) for site in sites]
    assert compared(sites, tmp_path).exit_code == 0
    assert "/api/v2/bookmarks" not in sites[0].paths[before[0] :]


def test_many_differences_fit_a_screen(sites: Pair, tmp_path: Path) -> None:
    """The rest is counted."""
    names = [f"Person {number} with a long name" for number in range(20)]
    for path in ("/api/v2/authors", "/api/v2/artists"):
        sites[0].answers[path] = {"results": [{"id": number, "name": name} for number, name in enumerate(names, 1)]}
    detail = sites[1].answers["/api/v2/series/one"]
    sites[1].answers["/api/v2/series/one"] = {name: f"{value}x" for name, value in detail.items()}
    result = compared(sites, tmp_path)

    assert len(result.output.splitlines()) <= 41
    assert "19 artists only on the first site: Person 0 with a long name, " in result.output
    assert " and 16 more\n" in result.output
    assert " more kinds of differences with --json\n" in result.output


def test_wrong_usage_is_exit_code_2(tmp_path: Path) -> None:
    """Without a request."""
    assert invoke("compare", "https://a.example").exit_code == 2
    assert invoke("compare", "https://a.example", "b.example").exit_code == 2
    assert invoke("compare", "https://a.example", "https://b.example", "--rate", "0").exit_code == 2


def test_cache_is_private(sites: Pair, tmp_path: Path) -> None:
    """It may contain responses that need an API key; git ignores it."""
    compared(sites, tmp_path)

    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files if path.name != ".lock"} <= {0o600}
    assert len([path for path in files if path.name == ".gitignore"]) == 2
