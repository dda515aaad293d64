"""Sitemaps, robots.txt and the OpenSearch description: valid, complete, and without hidden pages."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from generator import encoding
from generator.api.feeds import sitemaps
from generator.api.payloads.resources import HTML
from generator.catalog.entities import Catalog
from tests.conftest import AS_OF
from tests.support.feeds import FeedCatalog, all_resources, bodies
from tests.support.linked_catalog import read_catalog

NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
BASE = "https://comics.example"
W3C_DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


@pytest.fixture
def site(tmp_path: Path) -> FeedCatalog:
    """Open, licensed, restricted and scheduled series."""
    catalog = FeedCatalog(tmp_path)
    catalog.add(
        "paper-moons",
        *({}, {"number": 1.5, "volume": 2}, {"title": "Tomorrow", "published": "2099-01-01"}),
        {"number": 1, "published": "2026-02-01", "modified": "2026-02-01"},
    )
    catalog.add("in-shops", {}, licensed=True)
    catalog.add("members", {}, restricted=True)
    catalog.add("tomorrow", {"published": "2099-01-01"})
    return catalog


def entries(body: bytes, root: str, child: str) -> dict[str, str]:
    """URL and date of each entry of a file that follows the protocol."""
    document = ElementTree.fromstring(body)
    assert document.tag == NAMESPACE + root and len(body) <= 50_000_000
    assert {element.tag for element in document} == {NAMESPACE + child} and len(document) <= 50_000
    made: dict[str, str] = {}
    for element in document:
        names = [part.tag.removeprefix(NAMESPACE) for part in element]
        assert names in (["loc"], ["loc", "lastmod"])
        url, date = element[0].text or "", element[-1].text or ""
        assert url.startswith("https://") and len(url) < 2048 and url not in made
        assert names == ["loc"] or re.fullmatch(W3C_DATE, date)
        made[url] = date if len(names) == 2 else ""
    return made


def listed(made: dict[str, bytes]) -> dict[str, str]:
    """The pages of all sitemaps that robots.txt leads to."""
    urls: dict[str, str] = {}
    for line in made["/robots.txt"].decode().splitlines():
        if line.startswith("Sitemap: "):
            index = entries(made[line.removeprefix(f"Sitemap: {BASE}")], "sitemapindex", "sitemap")
            for url in index:
                urls |= entries(made[url.removeprefix(BASE)], "urlset", "url")
    return urls


def pages(catalog: Catalog) -> set[str]:
    """The URLs of all pages of readers but those that search engines must not list."""
    pages = (resource for resource in all_resources(catalog) if resource.type == HTML)
    return {
        BASE + page.url
        for page in pages
        if not page.url.startswith("/api/") and b'name="robots" content="noindex"' not in encoding.body(page.body.value)
    }


def test_sitemaps_have_every_page(site: FeedCatalog) -> None:
    """Those of chapters that share a number, too: each is its own canonical URL."""
    catalog = site.read()
    made = bodies(catalog)
    urls = listed(made)
    assert urls.keys() == pages(catalog)
    assert not [url for url in urls if re.search("tomorrow/0/|in-shops/0/|members/0/", url)]
    assert "/sitemaps/series/members.xml" not in made
    assert any("/version-" in url for url in urls)
    assert urls[f"{BASE}/reader/paper-moons/2/1.5/"] == "2026-02-02T00:10:00Z"
    assert urls[f"{BASE}/reader/paper-moons/"] == "2026-02-02T00:10:00Z"
    assert urls[f"{BASE}/reader/members/"] == "2026-01-02T03:04:05Z"


@pytest.mark.parametrize(
    ("route", "gone"),
    [
        ("/series", {"paper-moons/</loc>", "/sitemaps/series/", "paper-moons/0/1/"}),
        ("/series/{slug}/chapters", {"/sitemaps/series/", "paper-moons/0/1/"}),
        ("/chapters/{id}", {"/sitemaps/series/", "paper-moons/0/1/"}),
        ("/members", set()),
    ],
)
def test_sitemaps_hide_what_a_restricted_route_hides(site: FeedCatalog, route: str, gone: set[str]) -> None:
    site.site["restricted"] = [route]
    made = bodies(site.read())
    text = b"".join(body for url, body in made.items() if "sitemap" in url).decode()
    parts = {"paper-moons/</loc>", "/sitemaps/series/", "paper-moons/0/1/"}
    assert {part for part in parts if part not in text} == gone


def test_files_are_split_at_the_limits_of_the_protocol() -> None:
    """50,000 entries, or 50 MB."""
    many = [f"<loc>https://comics.example/{number}</loc>" for number in range(100_001)]
    assert [len(part) for part in sitemaps.split(many)] == [50_000, 50_000, 1]
    long = [f"<loc>https://comics.example/{'a' * 2000}{number}</loc>" for number in range(30_000)]
    parts = list(sitemaps.split(long))
    assert [entry for part in parts for entry in part] == long and len(parts) == 2
    for part in parts:
        file = sitemaps.SitemapFile(part, 0)
        body = sitemaps.index(None, file).value  # type: ignore[arg-type]
        assert isinstance(body, bytes) and len(body) <= 50_000_000
    assert list(sitemaps.split([])) == []


def test_more_indexes_are_named_in_robots_txt(site: FeedCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps.split, "__defaults__", (2, sitemaps.MOST_BYTES))
    catalog = site.read()
    made = bodies(catalog)
    assert made["/robots.txt"].decode().count("Sitemap: ") >= 2
    assert "/sitemaps/index-2.xml" in made and "/sitemaps/2.xml" in made
    assert listed(made).keys() >= {url for url in pages(catalog) if url.count("/") <= 5}


def test_robots_txt_leaves_archives_out(tmp_path: Path) -> None:
    """Their images are in the pages. The file cannot speak of another host."""
    rules = []
    for name, media in (("own", "/m/"), ("same", "https://comics.example/x/"), ("other", "https://i.example/m/")):
        (tmp_path / name).mkdir()
        settings = f"base_url: https://comics.example\npages: true\nmedia: {media}\napps: [archives]\n"
        (tmp_path / name / "site.yaml").write_text(settings)
        text = bodies(read_catalog(tmp_path / name, AS_OF))["/robots.txt"].decode()
        rules.append([line for line in text.splitlines() if line.startswith("Disallow")])

    assert rules == [["Disallow: /m/archives/"], ["Disallow: /x/archives/"], []]


def test_opensearch_description(site: FeedCatalog) -> None:
    site.site["title"] = 'A & B "Comics" <of many words>'
    made = bodies(site.read())["/opensearch.xml"]
    description = ElementTree.fromstring(made)
    namespace = "{http://a9.com/-/spec/opensearch/1.1/}"
    values = {element.tag.removeprefix(namespace): element for element in description}
    assert description.tag == f"{namespace}OpenSearchDescription"
    assert values["ShortName"].text == 'A & B "Comics" <'
    assert len(values["Description"].text or "") <= 1024
    assert values["Url"].attrib["template"] == f"{BASE}/search/?title={{searchTerms}}"


def test_no_search_without_lists(site: FeedCatalog) -> None:
    site.site["restricted"] = ["/series"]
    assert "/opensearch.xml" not in bodies(site.read())
