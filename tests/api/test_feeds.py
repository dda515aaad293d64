"""Feeds: valid in each format, read by two parsers, with stable ids, and without hidden or hostile content."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import atoma
import feedparser
import pytest
from lxml import etree

from generator.api.feeds.formats import xml_text
from generator.api.feeds.payloads import MOST_CHAPTERS, MOST_ENTRIES
from tests.conftest import AS_OF
from tests.support.feeds import READERS, FeedCatalog, ParsedFeed, bodies
from tests.support.html_page import HtmlPage
from tests.support.paths import DATA
from tests.support.tables import each

BASE = "https://comics.example"
SCHEMA = etree.RelaxNG(etree.parse(DATA / "atom.rng"))
HOSTILE = "\"'><script>alert(1)</script>]]>&amp; \ufffe\uffff <!--"
KEYS_OF_JSON_FEED = {"version", "title", "home_page_url", "feed_url", "description", "language", "authors", "items"}
KEYS_OF_JSON_ITEM = {"id", "url", "title", "content_html", "image", "date_published", "date_modified", "tags"}
RFC_822 = r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000"


def kinds(folder: Path) -> FeedCatalog:
    """Series of all kinds, and texts that are markup."""
    made = FeedCatalog(folder)
    made.lists["groups.yaml"] += [{"id": 6, "name": HOSTILE}, {"id": 7, "name": "Idle", "modified": "2025-01-01"}]
    made.lists["categories.yaml"] = [{"id": "drama", "name": HOSTILE.replace("/", "")}]
    made.add("moons", {}, {"number": 2}, {"number": 2, "groups": [6]}, description="One\n\nTwo", title="Paper Moons")
    made.add(
        "hostile",
        {"title": HOSTILE, "groups": [6]},
        title=HOSTILE,
        description=f"{HOSTILE}\n<b>bold</b>",
        categories=["drama"],
        cover="\"><img src=x onerror='alert(1)'>.jpg",
    )
    made.add("in-shops", {"title": "Secret"}, licensed=True, description="In shops")
    made.add("members", {"title": "Secret"}, restricted=True)
    made.add("tomorrow", {"title": "Secret", "published": "2099-01-01"})
    made.add("later", {}, {"title": "Secret", "published": "2099-01-01"})
    return made


@pytest.fixture
def catalog(tmp_path: Path) -> FeedCatalog:
    """The series for a test that changes them."""
    return kinds(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The bodies of the series as they are."""
    return bodies(kinds(tmp_path_factory.mktemp("feeds")).read())


def parsed(made: dict[str, bytes], path: str) -> ParsedFeed:
    return READERS[path.rpartition(".")[2]](made[path])


def feeds(made: dict[str, bytes]) -> Iterator[tuple[str, str, ParsedFeed]]:
    """Path without format, format and content of each feed."""
    for path, body in made.items():
        name, _, format = path.rpartition(".")
        if format in READERS and not path.startswith(("/api", "/search", "/index")):
            yield name, format, READERS[format](body)


def feed(catalog: FeedCatalog, path: str, as_of: int = AS_OF) -> ParsedFeed:
    return parsed(bodies(catalog.read(as_of)), path)


# Validity


def test_atom_feeds_are_valid(made: dict[str, bytes]) -> None:
    """By the schema of RFC 4287, and by the rules in its text."""
    checked = 0
    for path, body in made.items():
        if path.endswith(".atom"):
            document = etree.fromstring(body)
            assert SCHEMA.validate(document), SCHEMA.error_log
            feed = parsed(made, path)
            ids = [item.id for item in feed.items]
            assert len(set(ids)) == len(ids)
            assert all(re.match("https?://", url) for item in feed.items for url in (item.id, item.url))
            assert feed.own == BASE + path
            checked += 1
    assert checked == 10


def test_feeds_state_language_and_rating_of_a_series(catalog: FeedCatalog, made: dict[str, bytes]) -> None:
    """In each format as it has them. Without them, feeds stay as they were; a route with a key keeps the rating."""
    plain = made["/library.atom"]
    catalog.site["language"] = "de-AT"
    catalog.add("rated", {}, rating="explicit", language="pt-BR")
    catalog.add("mild", {}, rating="suggestive")
    changed = bodies(catalog.read())
    media, atom = "{http://search.yahoo.com/mrss/}rating", "{http://www.w3.org/2005/Atom}"
    language = "{http://www.w3.org/XML/1998/namespace}lang"
    told = {}
    for path in ("/library", "/releases", "/reader/rated"):
        document = etree.fromstring(changed[f"{path}.atom"])
        assert document.find(f"{atom}subtitle").attrib[language] == "en"
        entries = document.findall(f"{atom}entry")
        (channel,) = etree.fromstring(changed[f"{path}.rss"])
        feed = json.loads(changed[f"{path}.json"])
        for slug in ("rated", "mild") if path != "/reader/rated" else ("rated",):
            (entry,) = (entry for entry in entries if f"/{slug}/" in entry.findtext(f"{atom}id"))
            (item,) = (item for item in channel.findall("item") if f"/{slug}/" in item.findtext("guid"))
            (value,) = (item for item in feed["items"] if f"/{slug}/" in item["id"])
            told[path, slug] = (
                (document.attrib[language], entry.attrib[language], entry.findtext(media)),
                (channel.findtext("language"), item.findtext(media)),
                (feed["language"], value["language"], value["_flatpanel"]),
            )
        assert SCHEMA.validate(etree.fromstring(changed[f"{path}.atom"])), SCHEMA.error_log
    catalog.site["restricted"] = ["/series/{slug}"]
    hidden = bodies(catalog.read())

    rated = (("de-AT", "pt-BR", "adult"), ("de-AT", "adult"), ("de-AT", "pt-BR", {"rating": "explicit"}))
    mild = (("de-AT", "de-AT", "nonadult"), ("de-AT", "nonadult"), ("de-AT", "de-AT", {"rating": "suggestive"}))
    own = (("pt-BR", "pt-BR", "adult"), ("pt-BR", "adult"), ("pt-BR", "pt-BR", {"rating": "explicit"}))
    assert told == {
        ("/library", "rated"): rated,
        ("/library", "mild"): mild,
        ("/releases", "rated"): rated,
        ("/releases", "mild"): mild,
        ("/reader/rated", "rated"): own,
    }
    assert not any(word in plain for word in (b"media:", b"<entry xml:lang", b"<subtitle xml:lang"))
    assert [path for path, body in hidden.items() if b"adult" in body and path.endswith((".atom", ".rss"))] == []


@each(
    ("before", "after"),
    [("<id>", "<ID>"), ("<updated>2", "<updated>x"), ('href="', 'hreflang="'), ("<title>", "<p>x</p><title>")],
)
def test_the_schema_sees_damage(made: dict[str, bytes], before: str, after: str) -> None:
    body = made["/releases.atom"].decode()
    damaged = body.replace(before, after).replace("</id>", "</ID>") if after == "<ID>" else body.replace(before, after)
    assert damaged != body and not SCHEMA.validate(etree.fromstring(damaged.encode()))


def test_rss_feeds_follow_the_rules(made: dict[str, bytes]) -> None:
    """Of RSS 2.0, and of the RSS Advisory Board's profile."""
    feeds = {path: body for path, body in made.items() if path.endswith(".rss")}
    for path, body in feeds.items():
        (channel,) = etree.fromstring(body)
        assert {"title", "link", "description", "language", "lastBuildDate", "ttl"} <= {str(one.tag) for one in channel}
        own = channel.find("{http://www.w3.org/2005/Atom}link")
        assert own is not None and dict(own.attrib) == {
            "href": BASE + path,
            "rel": "self",
            "type": "application/rss+xml",
        }
        assert re.fullmatch(RFC_822, channel.findtext("lastBuildDate"))
        assert int(channel.findtext("ttl")) >= 1
        ids = [item.findtext("guid") for item in channel.findall("item")]
        assert len(set(ids)) == len(ids)
        for item in channel.findall("item"):
            assert [part.tag for part in item][:5] == ["title", "link", "description", "pubDate", "guid"]
            assert re.fullmatch(RFC_822, item.findtext("pubDate"))
            is_link = item.findtext("guid") == item.findtext("link")
            assert item.find("guid").attrib["isPermaLink"] == str(is_link).lower()
    assert len(feeds) == 10


def test_json_feeds_follow_the_rules(made: dict[str, bytes]) -> None:
    """Of JSON Feed 1.1: required keys, texts, and dates of RFC 3339."""
    paths = [path for path in made if path.endswith(".json") and f"{path[:-5]}.atom" in made]
    for path in paths:
        value = json.loads(made[path])
        assert value.keys() == KEYS_OF_JSON_FEED and value["feed_url"] == BASE + path
        assert value["authors"] == [{"name": "Paper Comics", "url": f"{BASE}/"}]
        for item in value["items"]:
            assert item.keys() == KEYS_OF_JSON_ITEM - (set() if "image" in item else {"image"})
            assert ("image" in item) != path.startswith("/reader/")
            assert all(isinstance(text, str) for name, text in item.items() if name != "tags")
    assert len(paths) == 10


# Of atoma, from Python 3.12 on.
@pytest.mark.filterwarnings("ignore:Testing an element's truth value:DeprecationWarning")
def test_two_parsers_read_the_same(made: dict[str, bytes]) -> None:
    """feedparser, which is lenient, and atoma, which is strict, read what this project's readers of tests read."""
    for path, body in made.items():
        if path.endswith((".atom", ".rss")):
            is_atom = path.endswith(".atom")
            expected = READERS["atom" if is_atom else "rss"](body)
            ids = [(item.id, item.url) for item in expected.items]
            lenient = feedparser.parse(body)
            assert not lenient.bozo
            assert (lenient.feed.title, lenient.feed.link) == (expected.title, expected.home)
            assert [(entry.id, entry.link) for entry in lenient.entries] == ids
            if is_atom:
                strict = atoma.parse_atom_bytes(body)
                assert [(entry.id_, entry.links[0].href) for entry in strict.entries] == ids
                assert strict.title.value == expected.title
            else:
                channel = atoma.parse_rss_bytes(body)
                assert [(item.guid, item.link) for item in channel.items] == ids
                assert channel.title == expected.title


# Hostile texts


def tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    """The elements of HTML with their attributes."""
    return [(element.tag, element.attributes) for element in HtmlPage(html).elements]


def test_no_text_becomes_markup(made: dict[str, bytes]) -> None:
    """Content has a link, with a cover unless the whole feed is of one series, and paragraphs."""
    items = [(path, item) for path, _, feed in feeds(made) for item in feed.items]
    assert any("<script>" in item.title for _, item in items)
    for path, item in items:
        shown = tags(item.html)
        if path.startswith("/reader/"):
            assert shown == [("p", {}), ("a", {"href": item.url})]
            continue
        assert [tag for tag, _ in shown[:3]] == ["p", "a", "img"] and {tag for tag, _ in shown[3:]} <= {"p"}
        assert set(shown[1][1]) == {"href"} and set(shown[2][1]) == {"src", "alt"}
        assert (shown[1][1]["href"] or "").startswith(f"{BASE}/")
        assert (shown[2][1]["src"] or "").startswith(f"{BASE}/media/")


def test_hostile_titles_arrive_unchanged(made: dict[str, bytes]) -> None:
    """But for two characters that XML has not."""
    assert HOSTILE in READERS["json"](made["/reader/hostile.json"]).title
    text = HOSTILE.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
    for format in ("atom", "rss"):
        assert text in READERS[format](made[f"/reader/hostile.{format}"]).title


def test_control_characters_are_replaced_in_xml() -> None:
    """A catalog has none, but one of them makes a whole feed unreadable."""
    text = "".join(map(chr, range(0x20))) + "\x7f\ud7ff\ue000\U0001f600"
    element = etree.fromstring(f"<a>{xml_text(text)}</a>")
    assert element.text == re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f]", "\ufffd", text)


# Ids


def test_a_rename_changes_no_id(catalog: FeedCatalog, made: dict[str, bytes]) -> None:
    """Twice: the ids keep the oldest slug, and the links have the present one."""

    def ids(made: dict[str, bytes], path: str) -> list[str]:
        return [item.id for item in parsed(made, path).items]

    before = {path: ids(made, path) for path in ("/reader/moons.atom", "/releases.atom", "/library.atom")}
    for slug, formerly in (("suns", ["moons"]), ("stars", ["moons", "suns"])):
        series = next(catalog.series.pop(old) for old in ("moons", "suns") if old in catalog.series)
        catalog.series[slug] = {**series, "formerly": formerly}
        after = bodies(catalog.read())
        own = parsed(after, f"/reader/{slug}.atom")
        assert [item.id for item in own.items] == before["/reader/moons.atom"]
        assert {item.url.split("/")[4] for item in own.items} == {slug}
        assert own.id == parsed(made, "/reader/moons.atom").id
        for path in ("/releases.atom", "/library.atom"):
            assert sorted(ids(after, path)) == sorted(before[path])


def test_chapters_of_a_shared_number_have_their_own_ids(made: dict[str, bytes]) -> None:
    """The first one keeps the id that it had before there was another: subscribers would see it as new."""
    ids = [item.id for item in parsed(made, "/reader/moons.atom").items]
    root = f"{BASE}/reader/moons/0"
    assert ids == [f"{root}/1/", f"{root}/2/", f"{root}/2/#3"]


def test_a_version_that_is_published_later_changes_no_id(catalog: FeedCatalog) -> None:
    """Its id in the catalog may be lower: it was scheduled, or was on another site before."""
    first, second = ({"number": 1, "id": id, "published": f"2026-0{month}-01"} for id, month in ((9, 3), (8, 4)))
    catalog.series.clear()
    for chapters in ([first], [second, first]):
        catalog.add("moons", *chapters)
        ids = [item.id for item in feed(catalog, "/reader/moons.atom").items]
        assert f"{BASE}/reader/moons/0/1/" in ids
        assert ids[:-1] == [f"{BASE}/reader/moons/0/1/#8"] * (len(chapters) - 1)


@each(
    ("path", "hidden", "links"),
    [
        ("/reader/moons", "", ["/0/1/", "/0/2/version-2/", "/0/2/"]),
        ("/groups/5", "", ["/0/2/version-2/", "/0/1/"]),
        ("/groups/6", "", ["/0/2/"]),
        ("/releases", "", ["/0/2/", "/0/2/version-2/", "/0/1/"]),
        # Only the page of the number is left: others tell how many chapters there are.
        ("/releases", "/series/{slug}/chapters", ["/0/2/", "/0/2/", "/0/1/"]),
        ("/releases", "/chapters/{id}", ["/", "/", "/"]),
    ],
)
def test_an_entry_leads_to_its_own_version(catalog: FeedCatalog, path: str, hidden: str, links: list[str]) -> None:
    """Chapters that share a number have pages of their own, but the highest id, which has that of the number."""
    catalog.site["restricted"] = [hidden] if hidden else []
    made = bodies(catalog.read())
    root = f"{BASE}/reader/moons"
    for format in READERS:
        items = parsed(made, f"{path}.{format}").items
        assert [item.url.removeprefix(root) for item in items if item.url.startswith(f"{root}/")] == links


def test_a_chapter_without_a_url_has_no_entry(catalog: FeedCatalog) -> None:
    """One without an id, whose number another chapter has: two entries would have one id."""
    catalog.add("twice", {"title": "A"}, {"title": "B", "number": 1}, {"number": 2})
    for chapter in catalog.series["twice"]["chapters"][:2]:
        del chapter["id"]
    made = bodies(catalog.read())
    for path in ("/reader/twice.atom", "/releases.atom", "/groups/5.atom"):
        titles = [item.title for item in parsed(made, path).items if "/twice/" in item.id]
        # In a feed of several series, a title tells the series.
        assert sorted(titles) == (["Ch. 1: B", "Ch. 2"] if "/twice." in path else ["Twice – Ch. 1: B", "Twice – Ch. 2"])


# Content


OF_GROUPS = {"/groups/5", "/groups/6", "/groups/7"}


@each(
    ("route", "gone"),
    [
        ("/series", {"/library"}),
        ("/chapters", {"/releases", *OF_GROUPS}),
        ("/groups/{id}", OF_GROUPS),
        # As on the page of the group: which chapters it published.
        ("/series/{slug}/chapters", OF_GROUPS),
        ("/members", set()),
    ],
)
def test_restricted_routes_hide_feeds(catalog: FeedCatalog, made: dict[str, bytes], route: str, gone: set[str]) -> None:
    catalog.site["restricted"] = [route]
    left = {path for path, _, _ in feeds(bodies(catalog.read()))}
    assert {path for path, _, _ in feeds(made)} - left == gone


@pytest.mark.parametrize("route", ["/series/{slug}", "/cubari/{slug}"])
def test_the_library_hides_details(catalog: FeedCatalog, route: str) -> None:
    """Nor does it tell which categories a series has, whose names other routes tell."""
    catalog.site["restricted"] = [route]
    for item in feed(catalog, "/library.atom").items:
        assert item.tags == () and tags(item.html)[3:] == []


@pytest.mark.parametrize("kind", ["restricted", "licensed"])
def test_the_library_does_not_tell_when_hidden_chapters_were_published(catalog: FeedCatalog, kind: str) -> None:
    """Not the first one; the list of /api/v2 has the last."""
    catalog.site["hide_licensed"] = True
    catalog.add("hidden", {}, {"number": 2}, **{kind: True})
    body = bodies(catalog.read())["/library.json"]
    (item,) = [item for item in json.loads(body)["items"] if item["title"] == "Hidden"]

    assert item["date_published"] == "2026-02-02T00:00:00Z"


def test_an_empty_feed_does_not_change(catalog: FeedCatalog, made: dict[str, bytes]) -> None:
    """Whenever it is built."""
    later = bodies(catalog.read(AS_OF + 86_400))
    for path in ("/reader/in-shops", "/reader/members", "/groups/7"):
        assert parsed(made, f"{path}.atom").items == []
        assert all(made[f"{path}.{format}"] == later[f"{path}.{format}"] for format in READERS)


def test_a_site_without_series_has_valid_feeds(tmp_path: Path) -> None:
    made = bodies(FeedCatalog(tmp_path).read())
    for path in ("/releases.atom", "/library.atom"):
        assert SCHEMA.validate(etree.fromstring(made[path]))


def test_feeds_have_the_newest_entries(catalog: FeedCatalog) -> None:
    """100 chapters of a series, in reading order; 30 of the site."""
    chapters = [
        {"number": number, "published": f"20{number // 12 + 10:02}-{number % 12 + 1:02}-01"} for number in range(1, 150)
    ]
    catalog.add("long", *[{**chapter, "modified": chapter["published"]} for chapter in chapters])
    made = bodies(catalog.read())
    own = parsed(made, "/reader/long.atom").items
    assert [item.url.split("/")[-2] for item in own] == [str(number) for number in range(150 - MOST_CHAPTERS, 150)]
    newest = parsed(made, "/releases.atom").items
    assert len(newest) == MOST_ENTRIES
    assert [item.published for item in newest] == sorted((item.published for item in newest), reverse=True)


@each(
    ("fields", "title"),
    [
        ({"title": "C"}, "C – Ch. 1"),
        ({"title": "Moons", "chapter_title": "Moons {number}"}, "Moons 1"),
        ({"title": "月", "chapter_title": "月第{number}話"}, "月第1話"),
    ],
)
def test_a_title_has_that_of_the_series_once(tmp_path: Path, fields: dict[str, str], title: str) -> None:
    catalog = FeedCatalog(tmp_path)
    catalog.add("moons", {}, **fields)
    assert [item.title for item in feed(catalog, "/releases.atom").items] == [title]


def test_a_scheduled_chapter_becomes_an_entry(catalog: FeedCatalog) -> None:
    catalog.series["later"]["chapters"][1]["published"] = "2026-12-01"
    due = 1_796_083_200
    assert [len(feed(catalog, "/reader/later.atom", at).items) for at in (due - 1, due)] == [1, 2]
