"""Pages for readers: structure, links, visibility, and texts of a hostile catalog.

tests/responses/test_golden_pages.py has the exact pages of a usual catalog.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from lxml import html as lxml_html

from generator import encoding
from generator.api.page_routes import LISTED_VERSIONS, PAGES
from generator.api.pages import values
from generator.api.pages.context import PageContext
from generator.api.pages.site_files import SCRIPTS
from generator.api.pages.texts import SCRIPT_TEXTS, TEXTS, Texts
from generator.api.payloads.resources import HTML, JS, Resource
from generator.catalog.confined_folder import ConfinedFolder
from generator.catalog.entities import Catalog
from generator.catalog.site_settings import Site
from generator.catalog.theme_files import ThemeFiles
from tests.conftest import AS_OF, WRITTEN
from tests.support.feeds import all_resources
from tests.support.html_page import HtmlPage
from tests.support.linked_catalog import read_catalog
from tests.support.paths import ROOT

BASE = "https://comics.example"
ASSETS = ROOT / "generator/api/pages/assets"
Bodies = dict[str, Resource]


def rendered(catalog: Catalog) -> Bodies:
    """Every resource of a catalog by its URL."""
    return {resource.url: resource for resource in all_resources(catalog)}


def read(folder: Path) -> Bodies:
    for path in folder.rglob("*"):
        os.utime(path, (WRITTEN, WRITTEN))
    return rendered(read_catalog(ConfinedFolder(folder), AS_OF))


def example(folder: Path, settings: str = "") -> Bodies:
    """The example catalog with pages."""
    shutil.copytree(ROOT / "catalog_src", folder, dirs_exist_ok=True)
    site = folder / "site.yaml"
    text = re.sub(r"^(base_url|pages|title|restricted):.*\n", "", site.read_text(), flags=re.MULTILINE)
    site.write_text(f"{text}\nbase_url: {BASE}\npages: true\ntitle: Paper Comics\n{settings}\n")
    return read(folder)


def made(folder: Path, *, site: str = "", title: str = "Paper Comics", **files: object) -> Bodies:
    """A catalog of data: `series_moon` is the file series/moon.yaml, `groups` is groups.yaml."""
    (folder / "series").mkdir(parents=True)
    (folder / "site.yaml").write_text(f"base_url: {BASE}\npages: true\ntitle: {json.dumps(title)}\n{site}\n")
    for name, value in files.items():
        path = name.replace("series_", "series/", 1)
        (folder / f"{path}.yaml").write_text(json.dumps(value), encoding="utf-8")
    return read(folder)


def series_fields(chapters: int = 1, pages: int = 3, first_id: int = 1, **fields: object) -> dict[str, object]:
    return {
        "title": "Moon",
        "cover": "cover.jpg",
        "chapters": [
            {
                "id": first_id + number - 1,
                "number": number,
                "published": "2020-01-01T00:00:00Z",
                "title": f"Chapter title {number}",
                "pages": f"001.jpg .. {pages:03}.jpg",
            }
            for number in range(1, chapters + 1)
        ],
        **fields,
    }


def page(bodies: Bodies, url: str) -> HtmlPage:
    value = bodies[url].body.value
    assert isinstance(value, bytes)
    return HtmlPage(value.decode())


def html(bodies: Bodies) -> Iterator[tuple[str, HtmlPage]]:
    for url, resource in bodies.items():
        if resource.type == HTML and not url.startswith("/api/"):
            yield url, page(bodies, url)


@pytest.fixture(scope="module")
def bodies(tmp_path_factory: pytest.TempPathFactory) -> Bodies:
    return example(tmp_path_factory.mktemp("example"))


# Structure


def language(url: str) -> str:
    """The language of a page of the example."""
    own = {"/reader/un-ete-a-vapeur/": "fr", "/reader/mayonaka-no-tokei-neko/": "ja"}
    return next((tag for path, tag in own.items() if url.startswith(path)), "en")


def test_each_page_has_the_parts_that_every_page_needs(bodies: Bodies) -> None:
    """One title, heading and main part; a description and a canonical URL; no style or script in the markup."""
    pages, unlisted = dict(html(bodies)), set()
    assert len(pages) > 90

    for url, parsed in pages.items():
        assert [len(parsed.all(tag)) for tag in ("title", "h1", "main", "header", "footer")] == [1] * 5, url
        assert parsed.first("html").attributes["lang"] == language(url)
        assert parsed.first("a", class_="skip").attributes["href"] == "#content"
        assert parsed.first("main").attributes["id"] == "content"
        assert not parsed.all("style") and not parsed.comments
        # Firefox loads these ahead, and its console has an error for each: the policy permits none.
        assert not any(parsed.all("link", rel=rel) for rel in ("next", "prefetch")), url
        for element in parsed.elements:
            assert not any(name == "style" or name.startswith("on") for name in element.attributes), url
            if element.tag == "img":
                assert {"src", "alt", "width", "height"} <= set(element.attributes), url
            if element.tag == "script":
                kind = element.attributes.get("type")
                assert "src" in element.attributes or kind in ("application/ld+json", "application/json")
        ids = [element.attributes["id"] for element in parsed.elements if "id" in element.attributes]
        assert len(ids) == len(set(ids)), url
        if parsed.all("meta", name="robots"):
            unlisted.add(url)
        else:
            assert parsed.first("link", rel="canonical").attributes["href"] == BASE + url
            assert parsed.first("meta", name="description").attributes["content"]
            assert parsed.first("meta", property="og:url").attributes["content"] == BASE + url
    licensed = {f"/reader/the-ringing-orchard/{chapter}/" for chapter in ("1/1", "1/2", "2/3")}
    assert unlisted == {"/404/", "/shelf/", "/reader/saturn-please-forward/"} | licensed


def assert_links_lead_to_urls(bodies: Bodies) -> None:
    for url, parsed in html(bodies):
        for link in parsed.links():
            path = link.removeprefix(BASE).partition("#")[0]
            if not path.startswith(("/media/", "https://", "/api/v2/docs/")) and path:
                assert path in bodies, f"{url} links to {link}"


def test_each_link_of_a_page_leads_to_a_url_of_the_release(bodies: Bodies) -> None:
    assert_links_lead_to_urls(bodies)


def test_only_pages_of_an_explicit_series_have_a_notice(tmp_path: Path) -> None:
    """On the page of the series and on those of its chapters, in the language of the texts, with links that work."""
    numbers = {"explicit": 1, "suggestive": 11, "safe": 21}
    rated = {f"series_{rating}": series_fields(rating=rating, first_id=first) for rating, first in numbers.items()} | {
        "series_open": series_fields(first_id=31)
    }
    for language, close in (("en", "Show the series"), ("de", "Reihe anzeigen"), ("es", "Mostrar la serie")):
        bodies = made(tmp_path / language, site=f"language: {language}", **rated)
        noticed = {url: parsed for url, parsed in html(bodies) if parsed.all("section", id="notice")}

        assert set(noticed) == {"/reader/explicit/", "/reader/explicit/0/1/"}
        for parsed in noticed.values():
            links = [link for link in parsed.all("a", class_="button") if "section" in link.inside]
            assert [link.attributes["href"] for link in links[:2]] == ["#notice", "/"]
            assert links[0].text == close
            assert parsed.first("meta", name="rating").attributes["content"] == "adult"
            # Chats show such an image beside a link.
            assert not parsed.all("meta", property="og:image")
        assert not page(bodies, "/reader/suggestive/").all("meta", name="rating")
    # Details hide what the API tells with a key only; the notice stays.
    bodies = made(tmp_path / "hidden", site="restricted: ['/series/{slug}']", **rated)
    assert page(bodies, "/reader/explicit/").all("section", id="notice")
    assert TEXTS["explicit"] not in page(bodies, "/reader/explicit/").text.replace(TEXTS["notice"], "")


def test_scripts_insert_texts_as_texts(bodies: Bodies) -> None:
    scripts = [resource for url, resource in bodies.items() if resource.type == JS and url.startswith("/assets/")]
    assert len(scripts) > len(SCRIPTS)
    for script in scripts:
        source = script.body.value
        assert isinstance(source, bytes)
        assert not re.search(rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", source)


# Chapters that share a number


def test_versions_of_a_chapter_lead_to_each_other(tmp_path: Path) -> None:
    groups = [{"id": 1, "name": "Owls"}, {"id": 2, "name": "Larks"}]
    fields = {"number": 1, "published": "2020-01-01T00:00:00Z", "pages": ["1.jpg"]}
    chapters = [
        {**fields, "groups": [2]},
        {**fields, "id": 3, "groups": [1]},
        {**fields, "id": 5, "groups": []},
        {**fields, "id": 8, "groups": [2]},
        {**fields, "id": 9, "number": 2},
    ]
    bodies = made(tmp_path / "c", groups=groups, series_moon={**series_fields(), "chapters": chapters})

    standing, first = page(bodies, "/reader/moon/0/1/"), page(bodies, "/reader/moon/0/1/version-3/")
    paths = ["/reader/moon/0/1/version-3/", "/reader/moon/0/1/version-5/"]
    assert [link for link in standing.links() if "version" in link] == paths
    assert {"/reader/moon/0/1/", paths[1]} <= set(first.links())
    assert f"Owls, {TEXTS['no_group']}" in standing.text
    assert first.first("div", id="strip").attributes["data-chapter"] == paths[0]
    assert first.first("a", rel="next").attributes["href"] == "/reader/moon/0/2/"
    listed = [link for link in page(bodies, "/reader/moon/").links() if link.startswith("/reader/moon/0/1/")]
    # The button to start with, and each version with a URL, the newest first.
    assert listed == ["/reader/moon/0/1/", "/reader/moon/0/1/", paths[1], paths[0]]
    # A list leads to the version that it names, not to the one that its number stands for.
    lists = {"/": [paths[1], paths[0]], "/latest/": [paths[1], paths[0]], "/groups/1/": [paths[0]], "/groups/2/": []}
    for url, versions in lists.items():
        assert [link for link in page(bodies, url).links() if "version" in link] == versions, url


def test_a_page_lists_the_newest_chapters_of_a_number(tmp_path: Path) -> None:
    """Each of them has a page. If all pages listed all of them, 1,000 would be a million links."""
    fields = {"number": 1, "published": "2020-01-01T00:00:00Z", "pages": []}
    chapters = [{**fields, "id": number} for number in range(1, LISTED_VERSIONS + 11)]
    bodies = made(tmp_path / "c", series_moon={**series_fields(), "chapters": chapters})

    first = page(bodies, "/reader/moon/0/1/version-1/")
    listed = [link for link in first.links() if link.startswith("/reader/moon/0/1/version")]
    numbers = range(11, LISTED_VERSIONS + 11)
    assert listed == [f"/reader/moon/0/1/version-{number}/" for number in numbers[:-1]]
    assert "/reader/moon/0/1/" in first.links()
    # Equal names have the id of their chapter.
    assert ", ".join(f"{TEXTS['no_group']} (id {number})" for number in numbers) in first.text


def test_category_without_a_path_is_only_a_text(tmp_path: Path) -> None:
    """Its id has a slash, is too long for the name of a file, or is the file of another page in an export."""
    names = ["a/b", "長" * 100, "index.html"]
    bodies = made(
        tmp_path / "c",
        categories=[{"id": name, "name": f"N{number}"} for number, name in enumerate(names)],
        series_moon=series_fields(categories=names),
    )

    assert not [url for url in bodies if url.startswith("/categories/") and url != "/categories/"]
    for url in ("/categories/", "/reader/moon/"):
        parsed = page(bodies, url)
        assert "N0" in parsed.text and "N1" in parsed.text
        assert not [link for link in parsed.links() if link.startswith("/categories/") and link != "/categories/"]


def test_search_offers_all_categories(tmp_path: Path) -> None:
    names = {"one": "One", "a,b": "Two", "d,e": "Three, four"}
    categories = [{"id": id, "name": name} for id, name in names.items()]
    parsed = page(made(tmp_path / "c", categories=categories, series_moon=series_fields()), "/search/")
    boxes = parsed.all("input", type="checkbox")

    assert [box.attributes["value"] for box in boxes] == ["a,b", "d,e", "one"]


def test_chapter_with_a_blank_full_title_has_a_heading(tmp_path: Path) -> None:
    """The default form, also in feeds. The API has the title in the form of `chapter_title`."""
    fields = series_fields(chapter_title="{title}")
    fields["chapters"] = [{**chapter, "title": " "} for chapter in fields["chapters"]]  # type: ignore[attr-defined]
    bodies = made(tmp_path / "c", series_moon=fields)
    chapter = "/reader/moon/0/1/"

    for url in ("/reader/moon/", "/"):
        assert "Ch. 1" in [link.text for link in page(bodies, url).all("a", href=chapter)]
    assert page(bodies, chapter).first("h1").text == "Ch. 1"
    for feed, title in (("/reader/moon.atom", b"Ch. 1"), ("/releases.atom", "Moon – Ch. 1".encode())):
        assert b"<title>%s</title>" % title in bodies[feed].body.value  # type: ignore[operator]
    value = bodies["/api/v2/chapters/1"].body.value
    assert isinstance(value, dict) and value["full_title"].strip() == ""


def test_layout_is_that_of_the_series_its_kind_or_the_site(tmp_path: Path) -> None:
    """In this order. Without any of them, a chapter is a strip."""
    fields = {
        "own": series_fields(layout="double", kind="webtoon"),
        "webtoon": series_fields(first_id=2, kind="webtoon"),
        "manga": series_fields(first_id=3, kind="manga"),
    }
    bodies = made(tmp_path / "c", site="layout: paged", **{f"series_{name}": value for name, value in fields.items()})
    without = made(tmp_path / "without", series_moon=series_fields())
    layouts = [
        page(site, f"/reader/{slug}/0/1/").first("div", id="strip").attributes["data-layout"]
        for site, slug in ((bodies, "own"), (bodies, "webtoon"), (bodies, "manga"), (without, "moon"))
    ]

    assert layouts == ["double", "strip", "paged", "strip"]


def test_pages_of_a_series_have_its_language(tmp_path: Path) -> None:
    """What the site says there, such as the names of links, is marked with the language of its texts."""
    moon, sun = series_fields(language="ja"), series_fields(first_id=2)
    bodies = made(tmp_path / "c", site="language: de-AT", series_moon=moon, series_sun=sun)
    languages = {
        url: page(bodies, url).first("html").attributes["lang"]
        for url in ("/", "/reader/moon/", "/reader/moon/0/1/", "/reader/sun/", "/reader/sun/0/1/")
    }

    assert [*languages.values()] == ["de-AT", "ja", "ja", "de-AT", "de-AT"]
    parsed = page(bodies, "/reader/moon/0/1/")
    own = [parsed.first("header"), parsed.first("footer"), parsed.first("nav", id="bar")]
    assert [element.attributes["lang"] for element in own] == ["de-AT"] * 3


def test_texts_of_the_program_are_marked_as_their_language(tmp_path: Path) -> None:
    """On the pages of a series in another one: screen readers change their voice."""
    texts = {name: text if name in ("lang", "dir") else f"§{text}" for name, text in TEXTS.items()}
    fields = {"published": "2020-01-01T00:00:00Z", "pages": ["1.jpg"]}
    chapters = [
        {**fields, "id": 1, "number": 1, "volume": 2},
        {**fields, "id": 2, "number": 2, "groups": [1]},
        {**fields, "id": 3, "number": 2},
        {**fields, "id": 4, "number": 3, "pages": [], "final": True},
    ]
    moon = {**series_fields(language="ja", aliases=["Luna"]), "chapters": chapters}
    made(tmp_path / "c", groups=[{"id": 1, "name": "Owls"}], series_moon=moon)
    theme = ThemeFiles(Path("theme"), {"texts.yaml": json.dumps(texts)})
    bodies = rendered(replace(read_catalog(ConfinedFolder(tmp_path / "c"), AS_OF), theme=theme))
    shown: set[str] = set()
    for url, resource in bodies.items():
        if not (url.startswith("/reader/moon/") and isinstance(resource.body.value, bytes)):
            continue
        body = lxml_html.document_fromstring(resource.body.value.decode()).body
        for text in body.xpath(".//text()[contains(., '§')] | .//@*[contains(., '§')]"):
            place = text.getparent().getparent() if text.is_tail else text.getparent()
            assert place.xpath("string(ancestor-or-self::*[@lang][1]/@lang)") == "en", (url, text)
            shown.add(text.strip(" :,\n"))
    names = ("no_volume", "subscribe", "final", "versions", "no_pages", "also_known_as")
    assert {f"§{TEXTS[name]}" for name in names} < shown
    assert {"§Volume 2", "§Page 1", "§Cover of Moon"} < shown


def test_sizes_of_images_are_exact_where_they_are_known(tmp_path: Path) -> None:
    """An image of unknown size, and stale sizes, take the ratio of the site."""
    sizes = {"1": "784x1145 - 1568x1145", "2": "784x1145*2"}
    bodies = made(tmp_path / "c", site="page_ratio: 0.6", series_moon=series_fields(2), sizes=sizes)
    pages = [page(bodies, f"/reader/moon/0/{number}/") for number in (1, 2)]
    images = [[parsed.first("img", id=f"page-{number}").attributes for number in (1, 2, 3)] for parsed in pages]

    assert [[(image["width"], image["height"]) for image in strip] for strip in images] == [
        [("784", "1145"), ("600", "1000"), ("1568", "1145")],
        [("600", "1000")] * 3,
    ]


def test_chapters_offer_their_archives_with_the_size(tmp_path: Path) -> None:
    """Search engines do not follow the link, and a browser saves the file. A chapter without one has no link."""
    archives = {
        "1": "archives/moon/0/1.cbz 999001 0123456789abcdef",
        "2": "archives/moon/0/2.cbz 12345678 0123456789abcdef",
    }
    site = "apps: [archives]\nlanguage: de"
    bodies = made(tmp_path / "c", site=site, series_moon=series_fields(3), archives=archives)
    links = []
    for number in (1, 2, 3):
        followed = page(bodies, f"/reader/moon/0/{number}/").all("a", rel="nofollow")
        links.append([(one.attributes["href"], one.text) for one in followed if "download" in one.attributes])

    assert links == [
        [("/media/archives/moon/0/1.cbz", "Herunterladen (1000 kB)")],
        [("/media/archives/moon/0/2.cbz", "Herunterladen (12 MB)")],
        [],
    ]


def test_pages_offer_smaller_copies_of_images(tmp_path: Path) -> None:
    """A cover is one of the choices if no copy is wide enough for a list, and a page if it is wider than its copies."""
    digest = "0123456789abcdef"
    variants = {
        "series/moon/cover.jpg": f"160 320 of 400, {digest}",
        "series/moon/0/1/001.jpg": f"800 1200 of 1600, {digest}",
        "series/moon/0/1/002.jpg": f"800 of 800, {digest}",
        "series/moon/0/1/003.jpg": f"of 1600, {digest}",
        "series/sun/co%20ver.jpg": f"160 of 160, {digest}",
        "series/sun/co ver.jpg": f"160 320 480 of 800, {digest}",
    }
    sun = {"title": "Sun", "cover": "co ver.jpg", "chapters": []}
    bodies = made(
        tmp_path / "c",
        variants=variants,
        series_moon=series_fields(),
        series_sun={**sun, "licensed": True, "updated": "2020-01-01"},
    )
    sets = [image.attributes.get("srcset") for image in page(bodies, "/reader/moon/0/1/").all("img")]
    moon = "/media/w/160/series/moon/cover.jpg.webp 160w, /media/w/320/series/moon/cover.jpg.webp 320w"
    cover = f"{moon}, /media/series/moon/cover.jpg 400w"

    assert sets == [
        "/media/w/800/series/moon/0/1/001.jpg.webp 800w, /media/w/1200/series/moon/0/1/001.jpg.webp 1200w,"
        " /media/series/moon/0/1/001.jpg 1600w",
        "/media/w/800/series/moon/0/1/002.jpg.webp 800w",
        None,
        cover,
    ]
    assert [image.attributes["srcset"] for image in page(bodies, "/reader/moon/").all("img")] == [cover]
    library = [image.attributes for image in page(bodies, "/reader/").all("img")]
    assert [image["src"] for image in library] == ["/media/series/moon/cover.jpg", "/media/series/sun/co%20ver.jpg"]
    assert [image["srcset"].count("w,") for image in library] == [2, 2]
    assert library[1]["srcset"].endswith("/media/w/480/series/sun/co%20ver.jpg.webp 480w")
    assert page(bodies, "/latest/").first("img").attributes["srcset"] == cover


def test_the_last_chapter_says_whether_more_is_to_come(tmp_path: Path) -> None:
    chapters = [
        {"id": number, "number": number, "published": "2020-01-01", "pages": ["1.png"], "final": number == 2}
        for number in (1, 2)
    ]
    bodies = made(tmp_path / "c", series_moon=series_fields() | {"chapters": chapters})
    ends = [page(bodies, f"/reader/moon/0/{number}/").first("div", id="end").text for number in (1, 2)]

    assert TEXTS["next_chapter"] in ends[0] and "Ch. 2" in ends[0] and TEXTS["the_end"] not in ends[0]
    assert TEXTS["the_end"] in ends[1] and "Moon" in ends[1]


def test_empty_catalog_has_lists_that_say_so(tmp_path: Path) -> None:
    bodies = made(tmp_path / "c")

    for url in ("/", "/reader/", "/latest/", "/categories/", "/authors/", "/groups/"):
        assert TEXTS["empty_list"] in page(bodies, url).text, url


# Lists of several pages


def test_long_lists_have_pages(tmp_path: Path) -> None:
    files = {f"series_s{number:03}": series_fields(categories=["action"]) for number in range(100)}
    for number, fields in enumerate(files.values()):
        fields["title"] = f"Series {number:03}"
        fields["chapters"] = [{"number": 1, "published": "2020-01-01T00:00:00Z", "pages": ["1.jpg"], "id": number + 1}]
    bodies = made(tmp_path / "c", categories=[{"id": "action", "name": "Action"}], **files)

    for first, other in (("/reader/", "/library"), ("/library/ongoing/",) * 2, ("/categories/action/",) * 2):
        urls = [first, *(f"{other.rstrip('/')}/{number}/" for number in range(2, 4))]
        pages = [page(bodies, url) for url in urls]
        cards = [len(parsed.all("li", class_="card")) for parsed in pages]
        assert cards == [48, 48, 4]
        assert pages[0].first("a", rel="next").attributes["href"] == urls[1] and not pages[0].all("a", rel="prev")
        assert pages[1].first("a", rel="prev").attributes["href"] == first
        assert not pages[2].all("a", rel="next") and f"{other.rstrip('/')}/4/" not in bodies
        assert pages[2].first("a", aria_current="page").text == "3"
    loading = ["loading" in image.attributes for image in page(bodies, "/reader/").all("img")]
    assert loading == [False] * 6 + [True] * 42


# Hostile texts

MARKUP = "<script>alert(1)</script>\"'&amp;</title></script> \u202e\u2028{{ 7 * 7 }}{% x %}"
SCHEMES = ["javascript:alert(1)", "data:text/html,x", "//evil.example/", "HTTPS://x y", " https://evil.example"]


def hostile(folder: Path) -> Bodies:
    name = MARKUP.replace("/", "")
    series = series_fields(
        title=MARKUP,
        aliases=[MARKUP],
        description=f"{MARKUP}\n\n{MARKUP}\nline",
        authors=[1],
        artists=[1],
        categories=["x<b>"],
        chapter_title="{title}",
        cover="<img onerror='x'>.jpg",
    )
    chapters = series["chapters"]
    assert isinstance(chapters, list)
    chapters[0] |= {"title": MARKUP, "groups": [1], "pages": ['" onerror="alert(1).jpg', "<b>.jpg"]}
    fields = ("website", "discord", "twitter", "reddit", "irc")
    return made(
        folder,
        title=MARKUP,
        authors=[{"id": 1, "name": MARKUP, "aliases": [MARKUP]}],
        artists=[{"id": 1, "name": MARKUP}],
        categories=[{"id": "x<b>", "name": name[:50].strip(), "description": MARKUP}],
        members=[{"id": 1, "name": MARKUP}],
        groups=[
            {"id": 1, "name": MARKUP, "members": [{"member": 1, "role": MARKUP}]}
            | dict(zip(fields, SCHEMES, strict=True))
            | {"email": "javascript:alert(1)", "description": MARKUP}
        ],
        series_moon=series,
    )


def test_no_text_of_the_catalog_becomes_markup(tmp_path: Path) -> None:
    """Each page parses, has only the elements of its templates, and shows the texts as they are.

    Only addresses of the web become links.
    """
    bodies = hostile(tmp_path / "c")
    urls = dict(html(bodies))
    assert {"/", "/reader/", "/reader/moon/", "/reader/moon/0/1/", "/authors/1/", "/groups/1/"} <= set(urls)

    for url, parsed in urls.items():
        sources = [script.attributes.get("src") for script in parsed.all("script")]
        assert set(sources) <= {None, *(f"/assets/{name}.js" for name in SCRIPTS)}, url
        assert not parsed.all("b"), url
        assert not [name for element in parsed.elements for name in element.attributes if name.startswith("on")], url
        assert [link for link in parsed.links() if not re.match(r"/(?!/)|#|https://comics\.example/", link)] == [], url
        for script in [*parsed.all("script", type="application/ld+json"), *parsed.all("script", id="syncData")]:
            assert not re.search("[<>&\u2028\u2029]", script.text)
            json.loads(script.text)
    assert MARKUP in urls["/"].first("title").text
    assert MARKUP in urls["/reader/moon/"].first("h1").text
    assert json.loads(urls["/reader/moon/0/1/"].first("script", id="syncData").text)["name"] == MARKUP
    assert (
        json.loads(urls["/reader/moon/"].first("script", type="application/ld+json").text)["@graph"][0]["name"]
        == MARKUP
    )


def test_only_urls_of_the_web_are_links() -> None:
    for text in [*SCHEMES, "", "https://", "https://a\nb", 'https://a"b', "ftp://a"]:
        assert values.http_url(text) == ""
    for url in ("https://a.example/b?c#d", "http://a"):
        assert values.http_url(url) == url


def test_only_paths_of_this_site_are_shortened() -> None:
    """A path with two slashes at its start would be read as the name of a host."""
    urls = (f"{BASE}/a/b.png", f"{BASE}//other.example/b.png", f"{BASE}.example/b.png", "https://other.example/")

    assert [values.own_path(url, BASE) for url in urls] == ["/a/b.png", *urls[1:]]


def test_texts_are_shortened_at_a_word() -> None:
    assert values.shortened("a\n b") == "a b"
    assert values.shortened("word " * 60) == "word " * 39 + "word …"
    assert values.shortened("x" * 300) == "x" * 200 + " …"


# Scripts


def imported(name: str) -> set[str]:
    """The names of a script and of all that it imports."""
    text = (ASSETS / f"{name}.js").read_text(encoding="utf-8")
    return {name}.union(*(imported(other) for other in re.findall(r'from "\./(\w+)\.js"', text) if other != "site"))


def test_scripts_are_short_and_have_their_texts(bodies: Bodies) -> None:
    """Each has one subject. Those of a chapter take 15 kB in sum, as they are sent."""
    scripts = {path.stem: path.read_text(encoding="utf-8") for path in ASSETS.glob("*.js")}
    used = {name for text in scripts.values() for name in re.findall(r"\btexts\.(\w+)", text)}
    prefixes = {name for text in scripts.values() for name in re.findall(r"\btexts\[`(\w+_)\$", text)}
    given = json.loads(site_script(bodies).partition("texts = ")[2].rstrip(";\n"))

    assert {*SCRIPTS, "sw", "kept", "no-sw"} == scripts.keys()
    assert {name for name, text in scripts.items() if text.count("\n") >= 200} == set()
    assert used <= given.keys()
    assert {name for name in SCRIPT_TEXTS if not name.startswith(tuple(prefixes))} <= used
    sent = [*(scripts[name] for name in imported("chapter")), site_script(bodies)]
    assert sum(len(encoding.gzip(text.encode()) or text) for text in sent) < 15_600


def test_the_first_page_is_light(bodies: Bodies) -> None:
    """With its style, its scripts and the list of what is new, 30 kB are sent besides images."""
    scripts = {f"/assets/{name}.js" for name in (*imported("home"), "theme", "site")}
    urls = {"/", "/assets/style.css", "/assets/icon.svg", "/manifest.webmanifest", "/api/v2/series?sort=-latest_upload"}
    sent = [encoding.body(bodies[url].body.value) for url in urls | scripts if url in bodies]

    assert len(sent) >= len(urls | scripts) - 1
    assert sum(len(encoding.gzip(body) or body) for body in sent) < 30_000


def site_script(bodies: Bodies) -> str:
    value = bodies["/assets/site.js"].body.value
    assert isinstance(value, bytes)
    return value.decode()


def test_a_site_without_shelf(tmp_path: Path) -> None:
    """It has no page of it, no script that reads storage before a page is painted, and tells its scripts so."""
    bodies = made(tmp_path / "c", site="shelf: false", series_moon=series_fields())

    assert not {"/shelf/", "/manifest.webmanifest"} & bodies.keys()
    assert b"unregister" in bodies["/sw.js"].body.value  # type: ignore[operator]
    assert "export const shelf = false;" in site_script(bodies)
    for url, parsed in html(bodies):
        assert "/shelf/" not in parsed.links(), url
        assert not {"/assets/theme.js", "/assets/home.js"} & {*parsed.links()}, url


def test_the_page_about_apps(tmp_path: Path) -> None:
    """It has the addresses of the apps that the site has, and each page leads to it."""
    for apps, paths in (
        ("[archives, opds, komga]", ["/komga", "/opds/v1.2/catalog", "/opds/v2/catalog"]),
        ("[komga]", ["/komga"]),
        ("[archives]", None),
    ):
        folder = tmp_path / str(len(apps))
        bodies = made(folder, site=f"apps: {apps}\nlanguage: de", series_moon=series_fields())
        assert ("/apps/" in bodies) == (paths is not None)
        for url, parsed in html(bodies):
            assert ("/apps/" in parsed.links()) == (paths is not None), url
        if paths:
            text = bodies["/apps/"].body.value
            assert isinstance(text, bytes) and "Lies Paper Comics in einer App" in text.decode()
            assert re.findall(rf"<code>{BASE}(\S+)</code>", text.decode()) == paths


def test_the_worker_and_the_manifest_name_what_is_there(tmp_path: Path) -> None:
    """Each file that the worker stores is one of the site, and no host of a restricted series."""
    series = series_fields(restricted=True, cover="https://secret.example/cover.jpg")
    bodies = made(tmp_path / "c", series_moon=series)
    worker = bodies["/sw.js"].body.value
    manifest = bodies["/manifest.webmanifest"].body.value
    assert isinstance(worker, bytes) and isinstance(manifest, dict)
    files = json.loads(worker.partition(b"FILES = ")[2].partition(b";")[0])

    assert {*files} <= bodies.keys() and {f"/assets/{name}.js" for name in SCRIPTS} <= {*files}
    assert b"secret" not in worker
    assert [manifest[name] for name in ("name", "start_url", "display")] == ["Paper Comics", "/", "standalone"]
    assert {icon["src"] for icon in manifest["icons"]} <= bodies.keys()
    for _, parsed in html(bodies):
        assert parsed.first("link", rel="manifest").attributes["href"] == "/manifest.webmanifest"


# Sizes


def test_sizes_of_pages_and_files(tmp_path: Path, bodies: Bodies) -> None:
    """Bytes, and the share that is left after gzip."""
    groups = [{"id": 1, "name": "Third Breakfast Press"}]
    fields = series_fields(100, 30)
    chapters = fields["chapters"]
    assert isinstance(chapters, list)
    for chapter in chapters:
        chapter |= {"groups": [1], "title": "A title of the usual length of titles"}
    made_bodies = made(tmp_path / "c", groups=groups, series_moon=fields)

    def size(resource: Resource) -> tuple[int, float]:
        body = encoding.body(resource.body.value)
        return len(body), len(encoding.gzip(body) or body) / len(body)

    series, chapter = size(made_bodies["/reader/moon/"]), size(made_bodies["/reader/moon/0/50/"])
    assert series[0] < 30_000 and series[1] < 1 / 3
    assert chapter[0] < 15_000 and chapter[1] < 1 / 3
    assert size(bodies["/assets/style.css"])[0] < 10_000


def test_a_long_list_of_chapters_is_small_as_it_is_sent(tmp_path: Path) -> None:
    """500 chapters with different titles, dates and volumes take 12 kB."""
    fields = series_fields(500)
    words = ["lamp", "tide", "moth", "kettle", "comet", "orchard", "letter", "harbour", "gull", "winter", "key"]
    for number, chapter in enumerate(fields["chapters"]):  # type: ignore[arg-type, var-annotated]
        day = date(2015, 1, 1) + timedelta(days=7 * number)
        title = f"{words[number % 11]} and {words[number // 11 % 11]}"
        chapter |= {"volume": number // 10 + 1, "title": title, "published": f"{day}T12:00:00Z"}
    body = encoding.body(made(tmp_path / "c", series_moon=fields)["/reader/moon/"].body.value)

    assert len(encoding.gzip(body) or body) < 12_000


# Colours


def test_dark_is_the_same_by_choice_and_as_on_the_device(bodies: Bodies) -> None:
    """tests/pages/test_each_page.py checks the contrast."""
    style = encoding.body(bodies["/assets/style.css"].body.value).decode()
    blocks = re.findall(r":root(?::not\(\S+\)|\[\S+\])? \{(.*?)\}", style, re.S)
    light, dark, chosen = (re.findall(r"--([-a-z]+): (#\w+);", block) for block in blocks if "--paper" in block)

    assert light != dark == chosen


# Texts and tables


def test_texts_are_filled_once() -> None:
    text = Texts({"library": "Bibliothek"})

    assert text.library == "Bibliothek" and text.search == TEXTS["search"]
    assert text.fill("{a} and {b}: {c}", a="{b}", b=2) == "{b} and 2: {c}"
    assert text.fill("{", a=1) == "{"
    assert text.fill("{a", a=1) == "{a"
    assert text.fill("{{x}{a} {", a=1) == "{{x}1 {"
    assert [text.count("chapter", number) for number in (1, 2)] == ["1 chapter", "2 chapters"]


def test_every_text_is_used() -> None:
    """By a template, or by the code; those of the scripts: see above."""
    folder = ROOT / "generator/api/pages"
    sources = "".join(
        path.read_text() for path in folder.rglob("*") if path.suffix in (".html", ".py") and path.name != "texts.py"
    )
    texts = TEXTS.keys() - SCRIPT_TEXTS.keys()
    unused = [name for name in texts if not re.search(rf"\b{name}\b", sources) and not name.endswith(("_one", "_many"))]

    assert unused == []


def test_paths_of_links_are_those_of_the_table() -> None:
    paths = PageContext(Site(base_url=BASE)).paths
    templates = {route.path for route in PAGES}

    for path in (paths.home, paths.latest, paths.search, paths.categories, paths.authors, paths.artists, paths.groups):
        assert path in templates
    assert {f"{paths.releases}.atom", f"{paths.library_feed}.rss", paths.titles} <= templates


def test_pages_are_as_old_as_the_newest_thing_that_they_show(tmp_path: Path) -> None:
    series = series_fields(2, modified="2021-01-01T00:00:00Z")
    chapters = series["chapters"]
    assert isinstance(chapters, list)
    chapters[0] |= {"modified": "2021-05-05T00:00:00Z"}
    chapters[1] |= {"modified": "2022-02-02T00:00:00Z", "groups": [1]}
    groups = [{"id": 1, "name": "Owls", "modified": "2023-03-03T00:00:00Z"}]
    categories = [{"id": "opera", "name": "Opera", "modified": "2031-04-04T00:00:00Z"}]
    sun = series_fields(first_id=3, modified="2030-06-06T00:00:00Z")
    bodies = made(tmp_path / "c", groups=groups, categories=categories, series_moon=series, series_sun=sun)

    def modified(url: str) -> str:
        return values.time(bodies[url].body.last_modified)[-17:-7]

    assert modified("/reader/moon/0/2/") == modified("/reader/moon/") == modified("/groups/1/") == "2023-03-03"
    assert modified("/reader/moon/0/1/") == "2022-02-02"
    assert modified("/latest/") == modified("/library/ongoing/") == "2030-06-06"
    # They link to the categories, or have filters for them.
    assert modified("/") == modified("/reader/") == modified("/search/") == "2031-04-04"
