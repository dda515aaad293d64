"""`diff`: each changed entity is reported once, and the entities that it affects are counted."""

import json
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from generator.review.diff.entities import entity_of_url
from generator.review.diff.json_diff import json_changes
from generator.review.diff.lines import lines
from tests.commands.test_cli import Run
from tests.conftest import AS_OF, copy_of

Diff = Callable[..., Any]
Edit = tuple[str, str, str]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a test site that is built once."""

    @cache
    def dist(name: str) -> Path:
        site = copy_of(name, tmp_path_factory.mktemp(name))
        site.build()
        return site.folder / "dist"

    return dist


@pytest.fixture
def diff(tmp_path: Path, run: Run, built: Callable[[str], Path]) -> Diff:
    """Compare a test site with an edited catalog: the parsed JSON, or the text with OLD and NEW in place of folders."""

    numbers = count(1)

    def compare(name: str, *edits: Edit, options: tuple[object, ...] = ("--format", "json")) -> Any:
        new = copy_of(name, tmp_path / str(next(numbers)))
        for file, before, after in edits:
            path = new.folder / "catalog_src" / file
            text = path.read_text() if path.exists() else ""
            assert text.count(before) == 1 or not before
            new.write(file, text.replace(before, after) if before else text + after)
        folders = [built(name), new.folder / "catalog_src"]
        result = run("diff", *folders, "--as-of", AS_OF, "--jobs", 1, *options)
        assert result.exit_code == 0, result.output
        if "json" in options:
            return json.loads(result.stdout)
        text = result.stdout
        for folder, side in zip(folders, ("OLD", "NEW"), strict=True):
            text = text.replace(str(folder), side)
        return text

    return compare


def own_changes(facts: Any) -> dict[str, list[tuple[Any, ...]]]:
    """The changes of each entity that has changes of its own."""
    return {
        f"{entity['kind']} {entity['name']}".rstrip(): [
            (change["path"], change["change"], change.get("old"), change.get("new")) for change in entity["changes"]
        ]
        for entity in facts["things"]
        if entity["changes"] or not entity["because"]
    }


def causes(facts: Any) -> dict[str, list[str]]:
    return {f"{one['kind']} {one['name']}".rstrip(): one["because"] for one in facts["things"] if one["because"]}


FIRST = "series/first.yaml"


def test_text_output_of_a_changed_title(diff: Diff) -> None:
    """A dozen bodies contain the title of a chapter. Its series shows it, with the number; the lists are affected."""
    text = diff("minimal", (FIRST, "title: One", "title: Two"), options=())

    assert text == (
        "OLD → NEW: 18 changed, 37 unchanged\n"
        "\n"
        "series first changed\n"
        '  ! chapters[volume=1, number=1].title: "One" → "Two"\n'
        "    11 URLs\n"
        "\n"
        "also affected\n"
        "  lists (7 URLs, caused by series first)\n"
    )


LONG = "series/long-road/series.yaml"
LOCKED = "https://media.everything.example/img/series/members-only/1/1"
CATEGORIES, GROUPS, SITE, ACCOUNTS = "categories.yaml", "groups.yaml", "site.yaml", "accounts.yaml"
MOVING = (
    "  - {id: 1107, volume: 1, number: 100, title: V1 C100, published: 2025-02-03T00:00:00Z, "
    "modified: 2025-02-03T00:00:00Z, pages: [1.jpg]}\n"
)
CASES: list[tuple[str, list[Edit], dict[str, Any], dict[str, list[str]]]] = [
    # The example of `entity_changes`.
    (
        "everything",
        [
            ("authors.yaml", "id: 3\n  name: Mira Okafor", "id: 3\n  name: Mira O."),
            (LONG, "Okafor, 10", "O., 10"),
            ("series/finished.yaml", "authors: [Mira Okafor]", "authors: [3]"),
            ("series/finished.yaml", "chapters:\n", f"chapters:\n{MOVING.replace('1107', '99107')}"),
        ],
        {"author 3": [("name", "changed", "Mira Okafor", "Mira O.")], "series finished": []},
        {
            "series finished": ["author 3"],
            "series long-road": ["author 3"],
            "lists": ["author 3", "series finished"],
        },
    ),
    # A renamed category has another URL.
    (
        "everything",
        [(CATEGORIES, "name: The Eighties", "name: The 1980s")],
        {"category The Eighties": [], "category The 1980s": []},
        {"series long-road": ["category The 1980s"]},
    ),
    (
        "everything",
        [(CATEGORIES, "Things happen.", "Things occur.")],
        {"category Action": [("description", "changed", "Things happen.\n\tFast.\n", "Things occur.\n\tFast.\n")]},
        {},
    ),
    # Chapters contain the name of their group. A group contains the names of its members, and their roles are its own.
    (
        "everything",
        [(GROUPS, "name: Third Breakfast Press", "name: Fourth"), (LONG, "[Third Breakfast Press, 5]", "[20, 5]")],
        {"group 20": [("name", "changed", "Third Breakfast Press", "Fourth")]},
        {"series long-road": ["group 20"]},
    ),
    (
        "everything",
        [("members.yaml", "twitter: wren_after_dark", "twitter: wren")],
        {"member 2": [("twitter", "changed", "wren_after_dark", "wren")]},
        {"group 5": ["member 2"]},
    ),
    (
        "everything",
        [(GROUPS, "role: Translator", "role: Letterer")],
        {"group 5": [("members[id=2].roles[0]", "changed", "Translator", "Letterer")]},
        {"member 2": ["group 5"]},
    ),
    # Fields that are derived from a number are not reported.
    (
        "everything",
        [("series/canceled.yaml", "volume: 1\n    number: 1", "volume: 1\n    number: 2")],
        {"series canceled": [("chapters[id=1101].number", "changed", "1", "2")]},
        {},
    ),
    # A new title template changes each chapter.
    (
        "everything",
        [("series/paused.yaml", "status: hiatus", "status: hiatus\nchapter_title: '{number}'")],
        {
            "series paused": [
                ("chapters[volume=1, number=100].full_title", "changed", "Vol. 1, Ch. 100: V1 C100", "100"),
                ("chapters[volume=2, number=3].full_title", "changed", "Vol. 2, Ch. 3: V2 C3", "3"),
                ("chapters[volume=2, number=20.5].full_title", "changed", "Vol. 2, Ch. 20.5: V2 C20.5", "20.5"),
            ]
        },
        {},
    ),
    # Nearly all bodies contain the base URL, and its change is reported once.
    (
        "minimal",
        [(SITE, "minimal.example", "other.example")],
        {"site": []},
        {"series first": ["site"], "series second": ["site"]},
    ),
    # A title template may contain the titles of series and chapter.
    (
        "everything",
        [("series/canceled.yaml", "title: Cut Short", "title: Cut"), ("series/canceled.yaml", "Same number, no", "No")],
        {
            "series canceled": [
                ("title", "changed", "Cut Short", "Cut"),
                ("chapters[number=1].title", "changed", "Same number, no volume", "No volume"),
                (
                    "chapters[number=1].full_title",
                    "changed",
                    "[2025-02-03] Cut Short v?c1 «Same number, no volume» Same number, no volume",
                    "[2025-02-03] Cut v?c1 «No volume» No volume",
                ),
            ]
        },
        {"lists": ["series canceled"]},
    ),
    (
        "minimal",
        [(FIRST, "    title: One\n", "")],
        {"series first": [("chapters[volume=1, number=1].title", "changed", "One", "")]},
        {},
    ),
    # Two API versions write a date differently, and its change is reported once.
    (
        "minimal",
        [(FIRST, "published: 2026-02-02T10:00:00Z", "published: 2026-02-01T10:00:00Z")],
        {
            "series first": [
                ("updated", "changed", "2026-02-02T10:00:00Z", "2026-02-01T10:00:00Z"),
                (
                    "chapters[volume=1, number=1].published",
                    "changed",
                    "2026-02-02T10:00:00Z",
                    "2026-02-01T10:00:00Z",
                ),
            ]
        },
        {},
    ),
    # A change that belongs to no entity is reported at the lists.
    (
        "everything",
        [(CATEGORIES, "id: 80s", "id: 80t"), (LONG, "80s", "80t")],
        {
            "lists": [
                ("[id=80s]", "removed", {"id": "80s", "name": "The Eighties", "description": ""}, None),
                ("[id=80t]", "added", None, {"id": "80t", "name": "The Eighties", "description": ""}),
            ]
        },
        {},
    ),
    # v1 has no body with the pages of a restricted chapter.
    (
        "everything",
        [("series/members-only.yaml", "pages: [1.jpg]", "pages: [2.jpg]")],
        {
            "series members-only": [
                ("chapters[volume=1, number=1].pages_list[0]", "changed", f"{LOCKED}/1.jpg", f"{LOCKED}/2.jpg")
            ]
        },
        {},
    ),
    # Only v2 has a restricted series, with the names of groups alone. v1 does not show all chapters of a group.
    (
        "everything",
        [(GROUPS, "name: Locked Room", "name: Open Room"), ("series/members-only.yaml", "[Locked Room", "[7")],
        {"group 7": [("name", "changed", "Locked Room", "Open Room")]},
        {"series members-only": ["group 7"]},
    ),
    (
        "imported",
        [(GROUPS, "Night Shift", "Late Shift")],
        {"group 1": [("name", "changed", "Night Shift", "Late Shift")]},
        {"series versions": ["group 1"], "lists": ["group 1"]},
    ),
    # URLs of accounts have percent-encoded usernames.
    (
        "everything",
        [(ACCOUNTS, "username: lamp_lighter", "username: Åse@mail.example")],
        {"account lamp_lighter": [], "account Åse@mail.example": []},
        {},
    ),
    # A chapter that moves to another series.
    (
        "everything",
        [
            ("series/paused.yaml", MOVING, ""),
            ("series/another-same-title.yaml", "chapters:\n", f"chapters:\n{MOVING}"),
        ],
        {"series paused": [], "series another-same-title": []},
        {},
    ),
]


@pytest.mark.parametrize(("name", "edits", "expected", "follows"), CASES)
def test_each_change_is_reported_at_its_entity(
    diff: Diff, name: str, edits: list[Edit], expected: dict[str, Any], follows: dict[str, list[str]]
) -> None:
    """Other entities that show the change name it as their cause."""
    facts = diff(name, *edits, options=("--format", "json", "--private"))
    reasons = causes(facts)
    actual = own_changes(facts)

    assert actual.keys() == expected.keys()
    assert {entity: changes for entity, changes in actual.items() if expected[entity]} == {
        entity: changes for entity, changes in expected.items() if changes
    }
    assert {entity: reasons[entity] for entity in follows} == follows


def test_restricted_content_is_hidden_without_private(diff: Diff) -> None:
    """The output shows that a restricted body changed, but neither content nor account."""
    edits = [
        ("series/members-only.yaml", "title: Behind a key", "title: Behind the key"),
        (ACCOUNTS, "first_name: Noor", "first_name: Nour"),
    ]
    closed = diff("everything", *edits)
    text = diff("everything", *edits, options=("--all",))
    opened = diff("everything", *edits, options=("--format", "json", "--private"))

    assert {"series members-only": [], "account": []}.items() <= own_changes(closed).items()
    assert [one["urls"] for one in closed["things"] if one["kind"] == "account"] == [["/api/v2/profile#…"]]
    assert not [secret for secret in ("ehind the", "Nour", "lamp") if secret in f"{json.dumps(closed)} {text}"]
    assert own_changes(opened)["account lamp_lighter"] == [("first_name", "changed", "Noor", "Nour")]
    assert own_changes(opened)["series members-only"] == [
        ("chapters[volume=1, number=1].title", "changed", "Behind a key", "Behind the key")
    ]


def test_things_of_apps_and_accounts_have_their_own_names(diff: Diff) -> None:
    """Not that of the host in a redirect, nor an old slug. The results of restricted series belong to no account."""
    file, slug = "series/moons.yaml", "folding-moons"
    edits = (file, "cover:", "restricted: true\ncover:"), (file, f"[{slug}]", f"[{slug}, suns]")
    facts = diff("pages", *edits, options=("--format", "json", "--private"))

    assert {one["name"] for one in facts["things"] if one["kind"] in ("komga", "opds")} == {"", "moons"}
    urls = ("/api/v2/pages#locked", "/api/v2/series#index", "/api/v2/bookmarks#index")
    assert [str(entity_of_url(url, "")) for url in urls] == ["lists", "lists", "account index"]


def test_changed_access_is_shown(diff: Diff) -> None:
    """Public, restricted and licensed, in each direction."""
    text = diff(
        "everything",
        ("series/another-same-title.yaml", "title: Same Title", "title: Same Title\nrestricted: true"),
        ("series/paused.yaml", "status: hiatus", "status: hiatus\nlicensed: true"),
        ("series/licensed.yaml", "licensed: true", "licensed: false"),
        ("series/members-only.yaml", "restricted: true", "restricted: false"),
        options=(),
    )

    assert "series another-same-title changed\n" in text
    assert "    13 URLs: 6 removed, 7 changed\n" in text
    for access in (
        "public → restricted",
        "308 → restricted",
        "public → 451 (3 URLs)",
        "308 → 451 (3 URLs)",
        "451 → public",
        "451 → 308",
    ):
        assert f": {access}\n" in text
    assert "  ! /api/v2/chapters/{id}: restricted → public\n" in text
    assert "  author 3, 4 (4 URLs, caused by series members-only)\n" in text


def test_newly_restricted_lists_are_reported(diff: Diff) -> None:
    """The restriction of a list is a change of its own."""
    text = diff(
        "everything", (SITE, "restricted: [/members, ", "restricted: [/series, /groups, /members, "), options=()
    )

    assert "\nlists changed\n" in text
    assert "\n  ! /api/v2/series: public → restricted (34 URLs)\n" in text
    assert "\n  ! /api/v2/groups: public → restricted\n" in text


def test_a_licensed_chapter_is_named_by_id(diff: Diff) -> None:
    """The gate of a licensed chapter does not contain its series.

    API versions without licences show the chapter at its series.
    """
    chapter = "  - {id: 1120, volume: 1, number: 2, published: 2025-04-01, modified: 2025-04-01, pages: [1.jpg]}\n"
    facts = diff("everything", ("series/licensed.yaml", "", chapter))

    assert own_changes(facts)["chapter 1120"] == []
    assert ("chapters[volume=1, number=2]", "added") in [change[:2] for change in own_changes(facts)["series licensed"]]


VERSIONS = "series/versions.yaml"
VIEWS = ("chapters[id=75].views", "changed", 5, 0)
OLD_PAGE, NEW_PAGE = "https://images.example/71/2.png", "https://images.example/71/3.png"
FOURTH = """\
  - {id: %s, number: %s, title: Again, published: 2026-02-13, modified: 2026-02-13, groups: [%s], pages: [z.png]}
"""


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        # A title of each version: one that v1 hides, and one that it shows.
        ((VERSIONS, "Twice by night", "Two"), [("chapters[id=71].title", "changed", "Twice by night", "Two")]),
        ((VERSIONS, "Twice by day", "Two"), [("chapters[id=75].title", "changed", "Twice by day", "Two")]),
        ((VERSIONS, "b2.png", "b3.png"), [("chapters[id=75].pages_list[1]", "changed", "b2.png", "b3.png")]),
        ((VERSIONS, "71/2.png", "71/3.png"), [("chapters[id=71].pages_list[1]", "changed", OLD_PAGE, NEW_PAGE)]),
        ((VERSIONS, "views: 5", "final: true"), [VIEWS, ("chapters[id=75].final", "changed", False, True)]),
        ((VERSIONS, "views: 3", "views: 4"), [("chapters[id=71].views", "changed", 3, 4)]),
    ],
)
def test_change_of_a_version_is_reported_at_its_id(diff: Diff, edit: Edit, expected: list[tuple[Any, ...]]) -> None:
    """Chapters that share a number are told apart by their ids."""
    changes = own_changes(diff("imported", edit))["series versions"]

    assert [change for change in changes if change[0].startswith("chapters")] == expected


@pytest.mark.end_to_end
@pytest.mark.parametrize(("chapter", "number"), [(69, 3), (90, 3), (69, 1), (90, 1)])
@pytest.mark.parametrize("group", ["Night Shift", ""])
def test_new_version_changes_no_other(diff: Diff, chapter: int, number: int, group: str) -> None:
    """Also if the new one has the highest id, so that v1 no longer shows the chapter that it had."""
    changes = own_changes(diff("imported", (VERSIONS, "", FOURTH % (chapter, number, group))))["series versions"]

    assert [change[:2] for change in changes if change[0].startswith("chapters")] == [
        (f"chapters[id={chapter}]", "added")
    ]


def test_a_changed_redirect_target_is_shown(diff: Diff) -> None:
    """A new reader URL changes the Location of every chapter."""
    base = "https://minimal.example"
    text = diff("minimal", (SITE, base, f"{base}\nreader: /read/"), options=("--all",))

    assert f'  ! Location: "{base}/reader/first/1/1/" → "{base}/read/first/1/1/"\n' in text


def test_max_age_and_settings_are_not_changes_of_a_body(diff: Diff) -> None:
    """Each has a section of its own."""
    edits = [(SITE, "people: 11", "people: 10"), (SITE, "errors: 7", "errors: 8")]
    edits += [("keys.yaml", "name: bot, account: bare, ", "name: bot, ")]
    text, facts = diff("everything", *edits, options=()), diff("everything", *edits)

    assert "\ndifferent max-age\n  ! 11 s → 10 s: 10 URLs, such as /api/artists\n" in text
    assert "\nsettings\n  ! failures.conf\n  ! http.conf\n  ! keys.map\n" in text
    assert facts["settings"] == ["failures.conf", "http.conf", "keys.map"]
    assert (facts["things"], facts["counts"]["retimed"]) == ([], 10)
    assert {"url": "/api/authors", "change": "retimed", "max_age": {"old": 11, "new": 10}} in facts["urls"]


def test_a_changed_catalog_is_no_changed_setting(diff: Diff) -> None:
    """http.conf names the search index, whose file changes with every title."""
    facts = diff("minimal", (FIRST, "title: First", "title: 1st"))

    assert facts["settings"] == []
    assert any(one["url"] == "/api/v2/series#index" for one in facts["urls"])


def test_a_series_missing_from_one_api_version_is_not_removed(diff: Diff) -> None:
    """Without an id, the chapter disappears from v2 and is unchanged in v1."""
    facts = diff("minimal", (FIRST, "  - id: 1\n    number: 1", "  - number: 1"))
    (series,) = (one for one in facts["things"] if one["kind"] == "series")

    assert (series["name"], series["change"], series["changes"]) == ("first", "changed", [])
    assert {one["change"] for one in facts["urls"] if one["url"] in series["urls"]} == {"removed"}


def test_long_texts_are_cut_around_the_first_difference() -> None:
    """Control characters are escaped."""
    old, new = ({"text": f"{'word ' * 30}{end}"} for end in ("old end\x9b", "new end" + " on" * 40))
    texts = list(lines([*json_changes(old, new), *json_changes({}, {"text": "\u202e"}), *json_changes([], "x")]))

    assert texts == [
        f'! text: "…word word word word old end\\x9b" → "…word word word word new end{" on" * 16} o…',
        '+ text: "\\u202e"',
        '! (whole body): [] → "x"',
    ]


def test_large_bodies_are_compared_by_etag(diff: Diff, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsed values need ten times the memory of a body."""
    monkeypatch.setattr("generator.review.diff.compare.LARGEST", 10)

    assert own_changes(diff("minimal", (FIRST, "title: One", "title: Two")))["series first"] == []


def test_all_shows_the_changed_fields_of_every_url(diff: Diff) -> None:
    """In text and in JSON."""
    edit = (FIRST, "title: One", "title: Two")
    text = diff("minimal", edit, options=("--all",))
    urls = {one["url"]: one["changes"] for one in diff("minimal", edit, options=("--format", "json", "--all"))["urls"]}
    change = {"path": '[slug=first].volumes["1"]["1"].title', "change": "changed", "old": "One", "new": "Two"}

    assert '\n! /api/series/first/1/1\n  ! title: "One" → "Two"\n\n' in text
    assert urls["/api/series"] == [change]
    assert urls["/api/v2/chapters?date_format=timestamp"][0]["path"] == "results[volume=1, number=1.0].title"


def test_many_similar_entities_are_grouped(diff: Diff) -> None:
    """More than 50 series with the same changed fields have one headline."""
    many = [
        (f"series/s{number}.yaml", "", f"title: S{number}\ncover: c.png\nmodified: 2026-01-01T00:00:00Z\n")
        for number in range(51)
    ]
    text = diff("minimal", *many, options=())

    assert "\nseries s0, s1, s10 and 48 more added in a similar way; the first:\n    2 URLs\n\n" in text
    assert text.count("\nseries s") == 1


def test_a_change_in_one_body_only_is_shown_with_its_url(diff: Diff) -> None:
    """When a chapter was modified: all other bodies are unchanged."""
    text = diff("minimal", (FIRST, "modified: 2026-02-02T10:00:00Z", "modified: 2026-02-03T10:00:00Z"), options=())

    assert '\n  in /api/v2/cubari/first:\n  ! chapters["1"].last_updated: "1770026400" → "1770112800"\n' in text


def test_json_contains_changed_access(diff: Diff) -> None:
    """By URL."""
    facts = diff("minimal", (FIRST, "title: First", "title: First\nlicensed: true"))

    assert {"url": "/api/v2/chapters/1", "change": "changed", "access": {"old": "public", "new": "451"}} in facts[
        "urls"
    ]


def test_similar_changes_of_list_items_are_grouped(diff: Diff) -> None:
    """The first one is shown, the others are counted."""
    text = diff("everything", (LONG, "chapters:", "chapter_title: '{number}!'\nchapters:"), options=())

    assert "].full_title: " in text
    assert text.count("full_title") == 1 and ", and 7 similar changes\n" in text
