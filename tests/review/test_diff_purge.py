"""`diff --purge`, compared with the responses of two real servers."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import permutations, product
from pathlib import Path

import pytest

from generator.api.payloads.series_list import ORDERS
from generator.api.payloads.v2 import DATE_FORMATS
from tests.commands.test_cli import Run, outcome
from tests.conftest import AS_OF, Site, copy_of, serving
from tests.support import nginx_client
from tests.support.runs import everything

BASE = "https://everything.example:8443"
CHAPTER = "  - {id: 1200, number: 5, published: 2026-03-02, pages: [x]}\n"
EDITS = (
    # A new chapter, a changed title, a removed series, a new and a removed licence,
    # a new and a removed restriction, and other values of max-age.
    ("series/long-road/series.yaml", "chapters:\n", f"chapters:\n{CHAPTER}"),
    ("series/paused.yaml", "title: V1 C100", "title: V1 hundred"),
    ("series/canceled.yaml", "status: canceled", "status: canceled\nlicensed: true"),
    ("series/licensed.yaml", "licensed: true", "licensed: false"),
    ("series/another-same-title.yaml", "title: Same Title", "title: Same Title\nrestricted: true"),
    ("series/members-only.yaml", "restricted: true", "restricted: false"),
    ("site.yaml", "people: 11", "people: 10"),
    ("site.yaml", "index: 31", "index: 32"),
    ("accounts.yaml", "first_name: Noor", "first_name: Nour"),
)  # fmt: skip


# The title that sorts last, and restricted URLs.
SMALL = (
    ("series/licensed.yaml", "title: bought elsewhere", "title: bought here"),
    ("series/members-only.yaml", "title: Behind a key", "title: Behind the key"),
)


def edited(folder: Path, edits: Sequence[tuple[str, str, str]]) -> tuple[Site, Site]:
    """A site, and the same site after some edits."""
    old, new = (copy_of("everything", folder / name) for name in ("old", "new"))
    for file, before, after in edits:
        path = new.folder / "catalog_src" / file
        assert path.read_text().count(before) == 1
        path.write_text(path.read_text().replace(before, after))
    return old, new


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, Site]:
    """Built once, since the tests only read them."""
    old, new = edited(tmp_path_factory.mktemp("both"), EDITS)
    (new.folder / "catalog_src/series/finished.yaml").unlink()
    old.build()
    new.build()
    return old, new


def urls(*sites: Site) -> set[str]:
    """URLs that a client may request, in many forms."""
    urls = {url.partition("?")[0] for form in sites for url in form.manifest.resources if "#" not in url}
    slugs = {url.split("/")[4] for url in urls if url.startswith("/api/v2/series/")}
    chapters = {url.split("/")[4] for url in urls if url.startswith("/api/v2/chapters/")}
    urls |= {f"/api/v2/chapters/{form}/read" for form in chapters}
    urls |= {f"/api/v2/chapters/{form}/pages?track=true" for form in chapters}
    dates = [f"date_format={form}" for form in DATE_FORMATS]
    urls |= {f"/api/v2/chapters?{form}" for form in dates}
    for slug in slugs:
        urls |= {f"/api/v2/series/{slug}/chapters?{form}" for form in dates} | {f"/api/v2/chapters?series={slug}"}
        for form in dates:
            urls |= {f"/api/v2/chapters?{'&'.join(order)}" for order in permutations((f"series={slug}", form))}
        for volume, number in product(("0", "1", "2", "10"), ("1", "2", "5", "10.5", "12", "100")):
            asked = f"/api/v2/pages?series={slug}&volume={volume}&number={number}"
            urls |= {asked, f"{asked}&track=true"}
    sorts = [f"{sign}{name}" for name in ORDERS for sign in ("", "-")]
    for sort, page in product(sorts, range(1, 7)):
        urls |= {f"/api/v2/series?sort={sort}&page={page}", f"/api/v2/series?page={page}&sort={sort}"}
        urls |= {f"/api/v2/series?sort={sort}", f"/api/v2/series?page={page}"}
    return urls | {slashed(form) for form in urls if form != "/"}


def slashed(url: str) -> str:
    path, mark, query = url.partition("?")
    return f"{path}/{mark}{query}"


def cacheable(answer: nginx_client.Answer) -> tuple[object, ...]:
    """The part of a response that a shared cache may store, without its Date."""
    if "public" not in (answer["cache-control"] or ""):
        return ()
    return answer.status, answer.body, answer["cache-control"], answer["location"]


@pytest.mark.parametrize("edits", [EDITS, SMALL] if everything else [EDITS])
def test_purging_updates_a_shared_cache(tmp_path: Path, run: Run, edits: Sequence[tuple[str, str, str]]) -> None:
    """The list has every cacheable URL with different responses of the two servers, and no other URL."""
    both = old, new = edited(tmp_path, edits)
    if edits == EDITS:
        (new.folder / "catalog_src/series/finished.yaml").unlink()
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(one)) for one in both]
        asked = urls(*both)
        before, after = ({url: cacheable(server.ask(url)) for url in asked} for server in servers)
    stale = {url for url in asked if before[url] and before[url] != after[url]}
    result = run("diff", old.folder / "dist", new.folder / "dist", "--purge", "--format", "json")
    purge = json.loads(result.stdout)
    purged = {one.removeprefix(BASE) for one in purge["urls"]}

    locked = [f"/api/v2/pages{slash}?series=another-same-title&" for slash in ("", "/") if edits == EDITS]
    assert {one for one in stale - purged if not one.startswith(tuple(locked))} == set()
    assert {one for one in purged & asked if one not in stale} == set()
    assert {one for one in purged if one not in asked and "pages?" not in one and "pages/?" not in one} == set()
    assert purge["prefixes"] == [f"{BASE}{one}" for one in ("/api/v2/series?", "/api/v2/series/?", *locked)]
    assert len(stale) > (300 if edits == EDITS else 30)


def test_a_series_that_stays_restricted_has_no_prefix_of_numbers(tmp_path: Path, run: Run) -> None:
    """No cache has a list of its pages."""
    folders = [site.folder / "catalog_src" for site in edited(tmp_path, SMALL)]
    result = run("diff", *folders, "--as-of", AS_OF, "--jobs", 1, "--purge", "--json")

    assert json.loads(result.stdout)["prefixes"] == [f"{BASE}/api/v2/series?", f"{BASE}/api/v2/series/?"]


def test_redirects_are_purged(site: Site, tmp_path: Path, run: Run) -> None:
    """A new or removed redirect, with every path below it; an unchanged one is not.

    The feeds of a series are beside its page. Apps request images below the path of a series, and further pages.
    """
    text = (site.folder / "catalog_src/series/first.yaml").read_text()
    new = copy_of("minimal", tmp_path / "new")
    for made, slug in ((site, "removed"), (new, "added")):
        made.write("series/first.yaml", f"formerly: [same, {slug}]\n{text}")
        made.write("site.yaml", "base_url: https://minimal.example\npages: true\napps: [komga, opds]\n")
        made.build()
    purge = json.loads(run("diff", site.folder / "dist", new.folder / "dist", "--purge", "--format", "json").stdout)

    series = ("/api/series", "/api/v1/series", "/api/v2/cubari", "/api/v2/series", "/komga/api/v1/series")
    ends = dict.fromkeys((*series, "/komga/series", "/opds/v1.2/series", "/opds/v2/series"), "/?") | {"/reader": "/?."}
    moved = [(f"https://minimal.example{path}/{slug}", path) for path in ends for slug in ("added", "removed")]
    assert {f"{url}{end}" for url, _ in moved for end in ("", "/")} <= set(purge["urls"])
    others = ("/api/v2/series?", "/api/v2/series/?", "/opds/v1.2/page/", "/opds/v2/page/", "/reader/first/1/1/")
    assert set(purge["prefixes"]) == {f"{url}{mark}" for url, path in moved for mark in ends[path]} | {
        f"https://minimal.example{path}" for path in others
    }
    assert not [form for form in (*purge["urls"], *purge["prefixes"]) if "same" in form]


def test_purge_prints_one_url_on_each_line(both: tuple[Site, Site], run: Run) -> None:
    """Prefixes and changed settings are printed on standard error."""
    folders = [one.folder / "catalog_src" for one in both]
    code, out, error = outcome(run("diff", *folders, "--as-of", AS_OF, "--jobs", 1, "--purge"))
    lines = out.splitlines()

    assert code == 0
    assert lines == sorted(set(lines)) and f"{BASE}/api/series/finished" in lines
    assert f"purge all URLs that begin with {BASE}/api/v2/series?, too: they cannot all be listed\n" in error
    assert error.endswith("http.conf changed too: headers and errors may differ; purge the whole site\n")


def test_purge_without_differences_prints_nothing(both: tuple[Site, Site], run: Run) -> None:
    """Not even an empty line."""
    catalog = both[0].folder / "catalog_src"

    assert run("diff", catalog, catalog, "--as-of", AS_OF, "--jobs", 1, "--purge").stdout == ""


def test_base_url_replaces_the_host_of_purged_urls(both: tuple[Site, Site], run: Run) -> None:
    """A CDN may use another host name."""
    folders = [site.folder / "dist" for site in both]
    result = run("diff", *folders, "--purge", "--base-url", "https://cdn.example/")

    assert result.stdout == run("diff", *folders, "--purge").stdout.replace(BASE, "https://cdn.example")
    assert "https://cdn.example/api/series/finished/" in result.stdout.splitlines()


def test_a_manifest_alone_names_the_urls_to_purge(both: tuple[Site, Site], run: Run, tmp_path: Path) -> None:
    """It has the site's URL and the deprecated URLs of pages."""
    copy = tmp_path / "last.json"
    copy.write_bytes((both[0].folder / "dist/current/manifest.json").read_bytes())
    alone = run("diff", copy, both[1].folder / "dist", "--purge")
    whole = run("diff", both[0].folder / "dist", both[1].folder / "dist", "--purge")

    assert alone.stdout == whole.stdout
    assert f"{BASE}/api/v2/pages?series=long-road&volume=0&number=5" in alone.stdout.splitlines()
    assert "one side is only a manifest, so settings were not compared\n" in alone.stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--purge", "--format", "markdown"], "--purge prints text or JSON, so it cannot be combined with --format"),
        (["--json", "--format", "markdown"], "--json means --format json, so it cannot be combined with --format"),
        (["--purge", "--all"], "--purge prints URLs only, so it cannot be combined with --all or --private"),
        (["--purge", "--private"], "--purge prints URLs only, so it cannot be combined with --all or --private"),
        (["--base-url", "https://cdn.example"], "--base-url needs --purge"),
        (["--purge", "--base-url", "cdn.example"], "should be a URL like https://cdn.example"),
        (["--purge", "--base-url", "https://cdn.example/a b"], "should be a URL like https://cdn.example"),
    ],
)
def test_contradicting_options_are_refused(options: list[str], problem: str, run: Run) -> None:
    """Exit code 2, before anything is compared."""
    result = run("diff", *options)

    assert result.exit_code == 2
    assert problem in " ".join(result.stderr.replace("│", " ").split())
