"""The feeds of an imported catalog equal those of the original service, but for named reasons."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from generator.catalog.confined_folder import ConfinedFolder
from tests.support import runs
from tests.support.feeds import READERS, Item, ParsedFeed, bodies
from tests.support.import_project import project, recorded_database
from tests.support.linked_catalog import read_catalog
from tests.support.real_service import AFTER_EDIT, RECORDED_AT, USUAL, RealService, lines

MORE = "30 entries instead of the 10 that the original site had set: a site may publish a whole volume in an hour"
DIGITS = "all digits of a number; the original service had six, and such a URL found nothing"
SHARED = "ids and links of chapters that share a number differ"
RENAMED = "ids begin with the oldest slug, so the next change of a slug changes none"
PLAIN_TITLE = "a title is text: `&` and `<` are not escaped twice, and an import makes one line of it"
WITH_SERIES = "a title in a feed of several series begins with that of its series"
NO_SERIES = "a series without a published chapter, or licensed and without a date, has no page and no feed"
NO_DATE = "a feed without entries is as old as its series or group; in the original, as the request"
ORDER = "the catalog has no date of the creation of a series: the library has the first publication instead"
DATABASES = {USUAL: "v0.9.6/db.sqlite3", AFTER_EDIT: "v0.9.6/after-edit.sqlite3"}
STATES = {USUAL: "before", AFTER_EDIT: "after"}


@pytest.fixture(scope="module", params=[USUAL, AFTER_EDIT] if runs.everything else [AFTER_EDIT])
def setting(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def made(setting: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The bodies of the catalog that an import of the recorded database writes."""
    folder = tmp_path_factory.mktemp("feeds")
    imported = project(folder / "project", RealService(USUAL, "v0.9.6"))
    assert imported.import_database(recorded_database(folder, DATABASES[setting])).exit_code == 0
    site = imported.catalog / "site.yaml"
    site.write_text("base_url: https://saltshelf.example\ntitle: Salt Shelf\npages: true\n")
    return bodies(read_catalog(ConfinedFolder(Path(imported.catalog)), RECORDED_AT))


def recorded(setting: str) -> Iterator[tuple[str, str, ParsedFeed]]:
    """The path, the format and the content of each recorded feed that anonymous readers load."""
    for line in lines("v0.9.6", "feeds"):
        is_feed = re.fullmatch(r"(/releases|/library|/reader/[^/]+|/groups/\d+)\.(atom|rss)", line["target"])
        if is_feed and (line["state"], line["method"], line["status"]) == (STATES[setting], "GET", 200):
            # The original's /library.rss is Atom.
            format = "atom" if line["target"] == "/library.rss" else is_feed[2]
            yield line["target"], format, READERS[format](line["body"].encode())


def shortened(url: str) -> str:
    """A URL of a chapter with the six digits of the original."""
    return re.sub(r"/(\d+\.\d+)/", lambda match: f"/{float(match[1]):g}/", url)


def item_reasons(ours: Item, theirs: Item) -> Iterator[str]:
    """Why an entry differs: its id, its link, its title or its dates."""
    url = re.sub(r"version-\d+/$", "", ours.url)
    if url != theirs.url:
        assert shortened(url) == theirs.url
        yield DIGITS
    id = shortened(ours.id)
    if "#" in id or url != ours.url:
        id = id.partition("#")[0]
        yield SHARED
    if "/eel-diaries/" in id:
        id = id.replace("/eel-diaries/", "/lantern-eel-diaries/")
        yield RENAMED
    assert id == theirs.id
    if ours.title != theirs.title and url == theirs.url:
        escaped = ours.title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        assert escaped == theirs.title.replace("\t", " ")
        yield PLAIN_TITLE


def feed_reasons(path: str, ours: ParsedFeed, theirs: ParsedFeed) -> Iterator[str]:
    """Why a feed differs. Every other difference fails."""
    assert (ours.title, ours.subtitle, ours.home) == (theirs.title, theirs.subtitle, theirs.home)
    assert ours.own == f"https://saltshelf.example{path}"
    if ours.id not in (theirs.id, ""):
        assert (ours.id, theirs.id) == (
            "https://saltshelf.example/reader/eel-diaries/",
            "https://saltshelf.example/reader/lantern-eel-diaries/",
        )
        yield RENAMED
    if ours.updated != theirs.updated:
        assert not theirs.items and theirs.updated > RECORDED_AT - 7 * 86400
        yield NO_DATE
    if len(ours.items) != len(theirs.items):
        assert not path.startswith("/reader/") and len(theirs.items) == 10 < len(ours.items) <= 30
        yield MORE
    for our_item, their_item in zip(ours.items, theirs.items, strict=False):
        if not path.startswith("/reader/"):
            (name,) = re.findall(r"<p>([^<]+)</p>\Z", our_item.html)
            title = our_item.title.removeprefix(f"{unescape(name)} – ")
            assert title.startswith(unescape(name)) or title != our_item.title
            if title != our_item.title:
                yield WITH_SERIES
            our_item = replace(our_item, title=title)
        assert (our_item.published, our_item.updated, our_item.tags, our_item.enclosures) == (
            *(their_item.published, their_item.updated, their_item.tags, their_item.enclosures),
        )
        yield from item_reasons(our_item, their_item)


def library_reasons(made: dict[str, bytes], ours: ParsedFeed, theirs: ParsedFeed) -> Iterator[str]:
    """Why the libraries differ: other series, in another order."""
    assert (ours.title, ours.subtitle, ours.home) == (theirs.title, theirs.subtitle, theirs.home)
    by_url = {item.url: item for item in ours.items}
    yield MORE
    yield ORDER
    assert [item.published for item in ours.items] == sorted((item.published for item in ours.items), reverse=True)
    for item in theirs.items:
        if item.url in by_url:
            same_date = replace(item, published=by_url[item.url].published)
            # RSS has no date of an update, and no enclosure.
            assert by_url[item.url].updated in (same_date.updated, 0)
            assert by_url[item.url].enclosures in (same_date.enclosures, ())
            assert (by_url[item.url].title, by_url[item.url].tags) == (same_date.title, same_date.tags)
            yield from item_reasons(by_url[item.url], same_date)
        else:
            assert f"{item.url.removeprefix('https://saltshelf.example').removesuffix('/')}.atom" not in made
            yield NO_SERIES


def test_recorded_feeds_differ_for_few_reasons(setting: str, made: dict[str, bytes]) -> None:
    """Each recorded feed is compared in its format, entry by entry."""
    reasons: Counter[str] = Counter()
    compared = 0
    for path, format, theirs in recorded(setting):
        if path not in made:
            assert b"noindex" in made.get(path.partition(".")[0] + "/", b"noindex"), path
            reasons[NO_SERIES] += 1
            continue
        compared += 1
        ours = READERS[path.rpartition(".")[2]](made[path])
        is_library = path.startswith("/library.")
        reasons.update(library_reasons(made, ours, theirs) if is_library else feed_reasons(path, ours, theirs))
        assert format == path.rpartition(".")[2] or is_library
    print(setting, compared, *reasons.items(), sep="\n  ")

    assert compared >= 40
    expected = {MORE, DIGITS, SHARED, RENAMED, PLAIN_TITLE, WITH_SERIES, NO_SERIES, NO_DATE, ORDER}
    assert set(reasons) == expected


def test_json_feeds_equal_atom_feeds(made: dict[str, bytes]) -> None:
    """Formats of one feed have the same entries."""
    for path in [path for path in made if path.endswith(".atom")]:
        atom = READERS["atom"](made[path])
        json = READERS["json"](made[path.replace(".atom", ".json")])
        rss = READERS["rss"](made[path.replace(".atom", ".rss")])
        assert json.items == [replace(item, enclosures=()) for item in atom.items]
        assert rss.items == [replace(item, enclosures=(), updated=0) for item in atom.items]
        assert (json.title, json.home) == (rss.title, rss.home) == (atom.title, atom.home)
