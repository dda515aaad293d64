"""OPDS 1.2, OPDS 2.0 and Divina manifests: valid, complete, and without anything that needs a key or a shop."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from lxml import etree

from generator.api.payloads.resources import ACQUISITION, DIVINA, NAVIGATION, OPDS
from generator.catalog.linking import NEWEST_IN_OPDS
from tests.support import koreader
from tests.support.feeds import READERS, FeedCatalog, all_resources, seconds
from tests.support.paths import DATA
from tests.support.tables import each

BASE = "https://comics.example"
START = "/opds/v1.2/catalog"
FEEDS = etree.RelaxNG(etree.parse(DATA / "opds-1.2.rng"))
RULES = json.loads((DATA / "opds-2.0.json").read_bytes())
OPEN_ACCESS = "http://opds-spec.org/acquisition/open-access"
ODD = '"It\'s" <b>&amp;</b> ]]> <!-- 🐈 قطة \u202eabc'
# All paths but the start, in a table of what a setting hides.
ALL = {"*"}
CATEGORIES = {"v1.2/categories", "v1.2/categories/drama"}
GROUPS = {"v1.2/groups", "v1.2/groups/5", "v1.2/groups/6"}
DIGEST = "0123456789abcdef"


class Served(dict[str, bytes]):
    """The bodies of OPDS by path, and their types."""

    def __init__(self, catalog: FeedCatalog) -> None:
        resources = [item for item in all_resources(catalog.read()) if item.url.startswith("/opds/")]
        assert all(isinstance(item.body.value, bytes) for item in resources)
        super().__init__((item.url, item.body.value) for item in resources)  # type: ignore[misc]
        self.types = {item.url: item.type for item in resources}
        self.dates = {item.url: item.body.last_modified for item in resources}
        assert len(self) == len(resources)

    def of(self, *types: str) -> Iterator[tuple[str, bytes]]:
        return ((url, body) for url, body in self.items() if self.types[url] in types)

    def json(self, path: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self[path])
        return value

    def get(self, url: str) -> bytes:  # type: ignore[override]
        return self[url.removeprefix(BASE)]

    def publications(self) -> dict[str, list[koreader.Item]]:
        """What KOReader reads from the start, by the list that it is in."""
        found: dict[str, list[koreader.Item]] = {}
        for url, item in koreader.publications(self.get, BASE + START):
            found.setdefault(url.removeprefix(f"{BASE}/opds/v1.2"), []).append(item)
        return found


def kinds(folder: Path) -> FeedCatalog:
    """Series of all kinds, with texts that are markup."""
    made = FeedCatalog(folder)
    made.site["apps"] = ["archives", "opds"]
    made.lists["authors.yaml"] = [{"id": 1, "name": ODD}, {"id": 2, "name": "Ben"}]
    made.lists["artists.yaml"] = [{"id": 1, "name": "Mira"}]
    made.lists["categories.yaml"] = [
        {"id": "drama", "name": '"It\'s" <b>&amp; 🐈'},
        {"id": "a/b", "name": "No path"},
        {"id": "idle", "name": "Idle"},
    ]
    made.lists["groups.yaml"] += [{"id": 6, "name": "Solo"}, {"id": 7, "name": "Idle"}]
    made.add(
        "moons",
        *({}, {"number": 2, "pages": ["1.JPG", "2.png"]}, {"number": 2, "groups": [6]}, {"number": 2, "volume": 1}),
        title=ODD,
        description=f"{ODD}\n\nTwo",
        authors=[ODD, "Ben"],
        artists=["Mira"],
        categories=["drama", "a/b"],
        language="pt-BR",
        direction="rtl",
        formerly=["moon", "lune"],
    )
    made.add(
        "formats",
        {"title": "WebP", "pages": ["1.webp", "2.webp"]},
        {"title": "Mixed", "pages": ["1.avif", "2.gif", "1.avif"]},
        {"title": "Unknown", "pages": ["1", "2.png"]},
        {"title": "Elsewhere", "pages": ["https://img.example/a/1.jpg?w=1&h=2"]},
        cover="cover.webp",
        kind="webtoon",
    )
    made.add("cover-elsewhere", {"pages": ["1.png"]}, cover="https://img.example/cover")
    made.add("empty", {"title": "Secret", "pages": []}, {"title": "Secret"})
    del made.series["empty"]["chapters"][1]["id"]
    made.add("in-shops", {"title": "Secret"}, licensed=True, title="Secret")
    made.add("members", {"title": "Secret"}, restricted=True, title="Secret")
    made.add("later", {"title": "Later"}, {"title": "Secret", "published": "2099-01-01"})
    return made


@pytest.fixture
def catalog(tmp_path: Path) -> FeedCatalog:
    """The series for a test that changes them."""
    return kinds(tmp_path)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Served:
    return Served(kinds(tmp_path_factory.mktemp("opds")))


def rule(name: str) -> Draft7Validator:
    return Draft7Validator({**RULES, "$ref": f"#/definitions/{name}"})


# Validity


def test_feeds_are_valid(served: Served) -> None:
    """By the schemas of Atom and OPDS 1.2; ids differ, and each document names its own path and type."""
    faults = {}
    for path, body in served.of(NAVIGATION, ACQUISITION):
        document = etree.fromstring(body)
        if not FEEDS.validate(document):
            faults[path] = str(FEEDS.error_log)
        entries = document.findall("{*}entry")
        assert len({entry.findtext("{*}id") for entry in entries}) == len(entries)
        own = [link for link in document.findall("{*}link") if link.get("rel") == "self"]
        assert [(link.get("href"), link.get("type")) for link in own] == [(path, served.types[path])]
    assert faults == {}
    assert len([*served.of(NAVIGATION)]) == 7 and len([*served.of(ACQUISITION)]) == 5


@each(
    ("path", "before", "after"),
    [
        ("new", ' pse:count="1"', ""),
        ("new", "{pageNumber}", "0"),
        ("series", 'rel="subsection"', 'rel="collection"'),
        ("catalog", "<updated>2", "<updated>x"),
    ],
)
def test_the_schema_sees_damage(served: Served, path: str, before: str, after: str) -> None:
    text = served[f"/opds/v1.2/{path}"].decode()
    assert before in text
    assert not FEEDS.validate(etree.fromstring(text.replace(before, after).encode()))


def test_json_is_valid(served: Served) -> None:
    """By the rules of OPDS 2.0 and of Readium manifests."""
    faults = {
        path: [
            fault.validator for fault in rule("manifest" if type == DIVINA else "feed").iter_errors(json.loads(body))
        ]
        for type in (OPDS, DIVINA)
        for path, body in served.of(type)
    }
    # A cover and a page in WebP, which OPDS does not count.
    assert {path: names for path, names in faults.items() if names} == {"/opds/v2/series/formats": ["contains"]}
    assert len([*served.of(OPDS)]) == 5 and len([*served.of(DIVINA)]) == 9


@each(
    ("path", "at", "key", "value"),
    [
        ("catalog", "navigation/0", "title", None),
        ("series/moons", "publications/0/images/0", "type", "image/webp"),
        ("series/moons", "publications/0/metadata", "readingProgression", "left"),
        ("chapters/1/manifest", "readingOrder/0", "width", 0),
    ],
)
def test_the_rules_see_damage(served: Served, path: str, at: str, key: str, value: object) -> None:
    content = served.json(f"/opds/v2/{path}")
    part: Any = content
    for step in at.split("/"):
        part = part[int(step) if step.isdigit() else step]
    part[key] = value
    if value is None:
        del part[key]
    assert [*rule("manifest" if "manifest" in path else "feed").iter_errors(content)]


# Content


def test_a_reader_comes_from_the_start_to_every_chapter_that_it_can_read(served: Served) -> None:
    """KOReader's parser reads the odd titles as they are. WebP cannot be streamed, and has no archive here."""
    found = served.publications()

    titles = {path: [item.text for item in items] for path, items in found.items()}
    numbers = ("Vol. 1, Ch. 2", "Ch. 2 [Solo]", "Ch. 2 [Night Shift]", "Ch. 1")
    expected = {
        "/series/moons": [f"{ODD} – {number} - {ODD}" for number in numbers],
        "/series/formats": ["Formats – Ch. 4: Elsewhere - Unknown Author"],
        "/series/cover-elsewhere": ["Cover-Elsewhere – Ch. 1 - Unknown Author"],
        "/series/later": ["Later – Ch. 1: Later - Unknown Author"],
    }
    assert {path: rows for path, rows in titles.items() if path != "/new"} == expected
    assert sorted(titles["/new"]) == sorted(title for rows in expected.values() for title in rows)
    assert titles["/new"][:3] == [*expected["/series/formats"], *expected["/series/moons"][:2]]
    streams = {found.url: found.pages for item in found["/series/moons"] for found in item.acquisitions}
    assert streams == {f"{BASE}/opds/v1.2/pages/{id}/{{pageNumber}}": 2 if id == 2 else 1 for id in (4, 3, 2, 1)}
    assert {item.image for item in found["/series/moons"]} == {f"{BASE}/media/series/moons/cover.jpg"}
    assert {item.image for item in (*found["/series/formats"], *found["/series/cover-elsewhere"])} == {""}


def test_nothing_that_needs_a_key_or_a_shop_is_told(served: Served) -> None:
    """Licensed, restricted and scheduled: neither bodies nor titles."""
    assert not any(b"Secret" in body for body in served.values())
    slugs = {path.split("/")[4] for path in served if path.startswith(("/opds/v1.2/series/", "/opds/v2/series/"))}
    assert slugs == {"moons", "formats", "cover-elsewhere", "later"}


def test_ids_and_dates_are_those_of_the_feeds(catalog: FeedCatalog, served: Served) -> None:
    """A renamed series keeps its first slug in ids; two chapters of one number have ids of their own."""
    resources = {item.url: item.body.value for item in all_resources(catalog.read())}
    feed = READERS["atom"](resources["/reader/moons.atom"])  # type: ignore[arg-type]
    expected = {(item.id, item.published, item.updated) for item in feed.items}

    entries = etree.fromstring(served["/opds/v1.2/series/moons"]).findall("{*}entry")
    names = ("id", "published", "updated")
    assert expected == {
        (entry.findtext("{*}id"), *(seconds(entry.findtext(f"{{*}}{name}")) for name in names[1:])) for entry in entries
    }
    publications = [publication["metadata"] for publication in served.json("/opds/v2/series/moons")["publications"]]
    assert expected == {
        (metadata["identifier"], seconds(metadata["published"]), seconds(metadata["modified"]))
        for metadata in publications
    }
    assert len(expected) == 4 and all("/reader/moon/" in id for id, *_ in expected)
    document = etree.fromstring(served["/opds/v1.2/series/moons"])
    assert document.findtext("{*}id") == f"{BASE}/opds/v1.2/series/moon"


def test_chapters_that_share_a_number_have_titles_of_their_own(catalog: FeedCatalog) -> None:
    """Programs name files after them. Ids are in equal ones, of which there are more if groups need a key."""
    version = {"number": 2, "published": "2026-02-01", "pages": ["1.png"], "id": 91}
    other, alone = version | {"id": 92}, version | {"id": 93, "groups": [5]}
    titled = version | {"id": 94, "title": "Draft"}
    catalog.series["moons"]["chapters"] += [version, other, alone, titled]
    titles = []
    for restricted in ([], ["/groups/{id}"]):
        catalog.site["restricted"] = restricted
        items = Served(catalog).publications()["/series/moons"]
        shown = [item.text.removesuffix(f" - {ODD}").removeprefix(f"{ODD} – Ch. 2") for item in items]
        titles.append([title for title in shown if not title.startswith(ODD)])
    ids = ["(id 93)", "(id 92)", "(id 91)"]
    assert titles == [
        [" [Solo]", " [Night Shift] (id 2)", ": Draft", f" [Night Shift] {ids[0]}", f" {ids[1]}", f" {ids[2]}"],
        [" (id 3)", " (id 2)", ": Draft", *(f" {id}" for id in ids)],
    ]


def test_archives_are_offered_for_download(catalog: FeedCatalog) -> None:
    """With their size, in both versions. With an archive, chapters in other formats are in OPDS 1.2 as well."""
    paths = {1: "moons/0/1", 11: "formats/0/1", 13: "formats/0/3"}
    catalog.lists["archives.yaml"] = {str(id): f"archives/{path}.cbz {id}00 {DIGEST}" for id, path in paths.items()}
    served = Served(catalog)

    found = {
        item.text: item.acquisitions
        for path, items in served.publications().items()
        if path != "/new"
        for item in items
    }

    cbz = "application/vnd.comicbook+zip"
    assert all(FEEDS.validate(etree.fromstring(body)) for _, body in served.of(ACQUISITION))
    assert [(one.type, one.url, one.pages) for one in found[f"{ODD} – Ch. 1 - {ODD}"]] == [
        (cbz, f"{BASE}/media/archives/moons/0/1.cbz", 0),
        ("image/png", f"{BASE}/opds/v1.2/pages/1/{{pageNumber}}", 1),
    ]
    assert [one.url for one in found["Formats – Ch. 1: WebP - Unknown Author"]] == [
        f"{BASE}/media/archives/formats/0/1.cbz"
    ]
    assert [one.type for one in found["Formats – Ch. 3: Unknown - Unknown Author"]] == [cbz]
    assert b' length="1300"' in served["/opds/v1.2/series/formats"]
    archive = {"rel": OPEN_ACCESS, "href": f"{BASE}/media/archives/moons/0/1.cbz", "type": cbz, "size": 100}
    assert archive in served.json("/opds/v2/chapters/1/manifest")["links"]
    assert archive in served.json("/opds/v2/series/moons")["publications"][-1]["links"]
    # A page of an unknown format has no type, which a manifest needs.
    assert "/opds/v2/chapters/13/manifest" not in served


def test_manifests_have_sizes_and_copies_of_pages(catalog: FeedCatalog) -> None:
    """No two entries are the same, also if a chapter shows a page twice. The height of a copy has the page's ratio."""
    catalog.lists["sizes.yaml"] = {"12": "800x1200 - 800x1200", "2": "800x1000 700x900"}
    catalog.lists["variants.yaml"] = {
        f"series/{path}": f"{widths} of 800, {DIGEST}"
        for path, widths in {"moons/0/2/1.JPG": "160 320", "moons/0/2/2.png": "320", "formats/0/2/2.gif": "160"}.items()
    }
    served = Served(catalog)
    assert [*rule("manifest").iter_errors(served.json("/opds/v2/chapters/2/manifest"))] == []
    media = f"{BASE}/media"

    def copy(path: str, width: int, **height: int) -> dict[str, object]:
        return {"href": f"{media}/w/{width}/series/{path}.webp", "type": "image/webp", "width": width, **height}

    manifest = served.json("/opds/v2/chapters/2/manifest")
    assert manifest["readingOrder"] == [
        {
            **{"href": f"{media}/series/moons/0/2/1.JPG", "type": "image/jpeg", "width": 800, "height": 1000},
            "alternate": [copy("moons/0/2/1.JPG", 160, height=200), copy("moons/0/2/1.JPG", 320, height=400)],
        },
        {
            **{"href": f"{media}/series/moons/0/2/2.png", "type": "image/png", "width": 700, "height": 900},
            # Measured before the image was replaced: its ratio is not known.
            "alternate": [copy("moons/0/2/2.png", 320)],
        },
    ]
    mixed = f"{media}/series/formats/0/2"
    assert served.json("/opds/v2/chapters/12/manifest")["readingOrder"] == [
        {"href": f"{mixed}/1.avif", "type": "image/avif", "width": 800, "height": 1200},
        {"href": f"{mixed}/2.gif", "type": "image/gif", "alternate": [copy("formats/0/2/2.gif", 160)]},
        {"href": f"{mixed}/1.avif", "type": "image/avif", "width": 800, "height": 1200, "title": "3"},
    ]
    # tests/data/golden_pages has a whole one.
    metadata = manifest["metadata"]
    assert [metadata[name] for name in ("language", "readingProgression", "numberOfPages")] == ["pt-BR", "rtl", 2]
    assert served.json("/opds/v2/chapters/14/manifest")["metadata"]["readingProgression"] == "ttb"


def test_publications_have_an_image_in_a_common_format_if_there_is_one(served: Served) -> None:
    """A page of the chapter stands in for a cover in another format."""
    images = {
        publication["metadata"]["title"]: [image["href"].rpartition("/")[2] for image in publication["images"]]
        for series in ("formats", "cover-elsewhere", "moons")
        for publication in served.json(f"/opds/v2/series/{series}")["publications"]
    }
    assert images == {
        f"{ODD} – Ch. 1": ["cover.jpg"],
        f"{ODD} – Ch. 2 [Night Shift]": ["cover.jpg"],
        f"{ODD} – Ch. 2 [Solo]": ["cover.jpg"],
        f"{ODD} – Vol. 1, Ch. 2": ["cover.jpg"],
        "Formats – Ch. 1: WebP": ["cover.webp"],
        "Formats – Ch. 2: Mixed": ["2.gif", "cover.webp"],
        "Formats – Ch. 4: Elsewhere": ["1.jpg?w=1&h=2", "cover.webp"],
        "Cover-Elsewhere – Ch. 1": ["1.png"],
    }


@pytest.mark.end_to_end
def test_lists_have_pages_of_fifty(tmp_path: Path) -> None:
    """550 series: each page leads to its neighbours. A series with many chapters has pages, too."""
    catalog = FeedCatalog(tmp_path)
    catalog.site["apps"] = ["opds"]
    catalog.lists["groups.yaml"] += [{"id": id, "name": f"Group {id}"} for id in range(6, 60)]
    catalog.lists["categories.yaml"] = [{"id": f"c{id:02}", "name": f"Category {id}"} for id in range(51)]
    for number in range(549):
        catalog.add(f"s{number:04}", {"id": number + 1, "published": "2026-01-01"})
    chapters = [{"id": 551 + number, "number": number} for number in range(101)]
    for chapter in chapters:
        chapter |= {"published": f"2026-02-01T00:{chapter['number'] % 60:02}:00Z", "modified": "2026-02-02"}  # type: ignore[operator]
    chapters[0]["groups"] = [*range(5, 60)]  # type: ignore[assignment]
    catalog.add("long", *chapters, categories=[f"c{id:02}" for id in range(51)])
    served = Served(catalog)

    found = served.publications()

    lists = {path: len(items) for path, items in found.items() if "long" in path or path == "/new"}
    assert lists == {"/new": 50, "/series/long": 50, "/page/2/series/long": 50, "/page/3/series/long": 1}
    assert len(found) == 550 + 3 and sum(map(len, found.values())) == 549 + 101 + NEWEST_IN_OPDS
    numbers = [item.text for page in ("", "/page/2", "/page/3") for item in found[f"{page}/series/long"]]
    assert len(set(numbers)) == 101
    pages = [path for path in served if path.endswith("/series") and path.startswith("/opds/v1.2")]
    assert pages == ["/opds/v1.2/series", *(f"/opds/v1.2/page/{number}/series" for number in range(2, 12))]
    for paths, relation in ((pages[:-1], "next"), (pages[1:], "previous")):
        linked = [
            link
            for path in paths
            for link in etree.fromstring(served[path]).findall("{*}link")
            if link.get("rel") == relation
        ]
        assert [link.get("href") for link in linked] == (pages[1:] if relation == "next" else pages[:-1])
    assert {"/opds/v1.2/page/2/categories", "/opds/v1.2/page/2/groups"} <= served.keys()
    catalogs = [path for path in served if path.endswith("/catalog") and path.startswith("/opds/v2")]
    links = {path: {link["rel"]: link["href"] for link in served.json(path)["links"]} for path in catalogs}
    assert len(catalogs) == 11
    assert [links[path].get("next") for path in catalogs] == [*catalogs[1:], None]
    assert [links[path].get("previous") for path in catalogs] == [None, *catalogs[:-1]]
    assert served.json(catalogs[10])["metadata"] | {"modified": ""} == {
        **{"title": "Paper Comics", "modified": "", "numberOfItems": 550, "itemsPerPage": 50, "currentPage": 11}
    }
    assert [*rule("feed").iter_errors(served.json("/opds/v2/page/3/series/long"))] == []


# Settings


@each(
    ("routes", "hidden"),
    [
        (["/chapters/{id}/pages"], ALL),
        (["/chapters/{id}"], ALL),
        (["/series/{slug}/chapters"], ALL),
        (["/series"], {"v1.2/series", *CATEGORIES, *GROUPS, "v2/catalog"}),
        (["/chapters"], {"v1.2/new"}),
        (["/categories"], {"v1.2/categories"}),
        (["/categories/{name}"], CATEGORIES),
        (["/series/{slug}"], {*CATEGORIES, "Mira", "drama", "Two"}),
        (["/groups"], {"v1.2/groups"}),
        (["/groups/{id}"], {*GROUPS, "Solo"}),
    ],
)
def test_restricted_routes_are_not_told_by_opds(
    catalog: FeedCatalog, served: Served, routes: list[str], hidden: set[str]
) -> None:
    """No API key is looked at below /opds; what a restricted route tells is missing, and nothing links to it."""
    catalog.site["restricted"] = routes
    left = Served(catalog)

    paths = served.keys() - {START} if hidden == ALL else {path for path in served if path[6:] in hidden}
    assert served.keys() - left.keys() == paths
    linked = {item.url.removeprefix(BASE) for _, body in left.of(NAVIGATION) for item in koreader.menu(body, BASE)[0]}
    assert linked <= left.keys()
    for path, _ in left.of(OPDS):
        links = [link for part in ("links", "navigation") for link in left.json(path).get(part, ())]
        assert {link["href"] for link in links} <= left.keys()
    assert not any(
        f">{word}<" in body.decode() or f'"{word}"' in body.decode() for word in hidden for body in left.values()
    )


def test_a_site_without_opds_has_none_of_it(catalog: FeedCatalog) -> None:
    for apps in ([], ["archives"]):
        catalog.site["apps"] = apps
        assert not Served(catalog)
        assert {(series.newest_in_opds, series.opds_counts) for series in catalog.read().series} == {((), (0, 0))}


def test_a_site_without_pages_links_to_none(catalog: FeedCatalog) -> None:
    catalog.site["pages"] = False
    assert all(b"text/html" not in body for body in Served(catalog).values())


def test_an_empty_catalog_has_a_start(tmp_path: Path) -> None:
    catalog = FeedCatalog(tmp_path)
    catalog.site["apps"] = ["opds"]
    served = Served(catalog)

    assert koreader.menu(served[START], BASE) == ([], "")
    assert all(FEEDS.validate(etree.fromstring(body)) for _, body in served.of(NAVIGATION, ACQUISITION))
    assert served.json("/opds/v2/catalog")["navigation"] == []


LISTS_OF_MOONS = {
    *("v1.2/new", "v1.2/series", "v1.2/series/moons", "v2/series/moons", "v1.2/categories/drama"),
    *("v1.2/groups/5", "v1.2/groups/6"),
}


@pytest.mark.parametrize(
    ("file", "number", "own"),
    [
        ("artists.yaml", 0, {f"v2/chapters/{id}/manifest" for id in (1, 2, 3, 4)}),
        ("groups.yaml", 1, {"v1.2/catalog", "v1.2/groups", "v2/chapters/3/manifest"}),
    ],
)
def test_lists_are_as_new_as_their_newest_part(catalog: FeedCatalog, file: str, number: int, own: set[str]) -> None:
    """A person or a group that is renamed makes the lists and chapters with its name newer, and no others."""
    dates = []
    for date in ("2030-06-01", "2030-06-02"):
        catalog.lists[file][number]["modified"] = date
        dates.append(Served(catalog).dates)
    newer = {path for path, date in dates[0].items() if date < dates[1][path] == seconds("2030-06-02T00:00:00Z")}

    assert newer == {f"/opds/{path}" for path in LISTS_OF_MOONS | own}
