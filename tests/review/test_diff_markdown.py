"""The Markdown comment: catalog texts are never markup, and its length is limited."""

import html
import json
import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.errors import escaped
from generator.review.diff import entities, lines
from generator.review.diff.compare import Comparison, ReleaseView
from generator.review.diff.entities import BodyReader, EntityChange, EntityName
from generator.review.diff.json_diff import json_changes
from generator.review.diff.lines import LONGEST
from tests.commands.test_cli import Run
from tests.conftest import AS_OF, Site
from tests.review.test_report_details import chapter, series
from tests.support import tree_snapshot

# No body of two megabytes, and no fsync.
pytestmark = pytest.mark.usefixtures("without_sync_and_docs")

NASTY = [
    "@somebody and #12",
    "<img src=x onerror=alert(1)>",
    "</code></summary></details><script>",
    "``` ends here",
    "````````` ends here",
    "~~~ | [a](javascript:b) **bold** <!-- -->",
    "&lt;b&gt; \\` `x`",
]
# Lines that may be outside fences. Catalog texts are escaped in <code>, also in links.
CODE = r"<code>(?:[^<>&]|&(?:lt|gt|amp|quot|#x27);)*</code>"
LINK = rf'<a href="https?://[-A-Za-z0-9._~:/]+">{CODE}</a>'
OUTSIDE = re.compile(
    "|".join(
        (
            "",
            "### What changes for clients",
            rf"<p>{CODE} → {CODE}: [-a-z0-9, ]+</p>",
            rf"<details><summary>(?:[-A-Za-z ]+|{CODE}(?:: {LINK})?)</summary>",
            rf"<p>{LINK}(?:, {LINK})*(?:, …)?</p>",
            "</details>",
            r"\|[-:| ]+\||\| \| added \| changed \| removed \| different max-age \|",
            r"\| `/[-a-z0-9/{}.]*` (?:\| [0-9]* )+\|",
            "… and [0-9,]+ more parts?, omitted because a comment has at most 65,536 characters.",
            "one side is only a manifest, so [a-z, ]+.",
        )
    )
)


def outside(text: str) -> Iterator[str]:
    """The lines outside code fences. A fence is closed by a line with as many backticks."""
    fence = ""
    for line in text.splitlines():
        if fence:
            if re.fullmatch(rf" {{0,3}}`{{{len(fence)},}}\s*", line):
                fence = ""
            assert not fence or fence not in line
        elif fence_match := re.match(" {0,3}(`{3,})", line):
            fence = fence_match[1]
        else:
            yield line
    assert not fence, "a fence is open at the end"


def is_harmless(text: str) -> bool:
    odd = [line for line in outside(text) if not OUTSIDE.fullmatch(line)]
    assert odd == []
    assert text.count("\r") == 0 and len(text) <= LONGEST
    return True


def comment(site: Site, run: Run, *options: str) -> str:
    """The comment about what a build would change."""
    folders = (site.folder / "dist", site.folder / "catalog_src")
    result = run("diff", *folders, "--as-of", AS_OF, "--jobs", 1, "--format", "markdown", *options)
    assert result.exit_code == 0, result.output
    return result.stdout


def thing(name: str, old: object, new: object) -> EntityChange:
    return EntityChange(EntityName("series", name), [], changes=list(json_changes(old, new)))


@pytest.fixture
def same(site: Site) -> Iterator[BodyReader]:
    """A release and itself, marked as different."""
    site.build()
    path = site.folder / "dist/current/manifest.json"
    with ReleaseView(path, "`<old>`") as old, ReleaseView(path, "@new") as new:
        yield BodyReader(Comparison(old, new, settings=["http.conf"]))


TEXTS = st.text(st.sampled_from("`~<>&@#|*\n\r\t\x00\u202e\u2028…a é"), max_size=12)


@settings(derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=5))
def test_body_contents_cannot_close_their_fence(same: BodyReader, fields: list[tuple[str, str, str]]) -> None:
    """Bodies of other programs may contain texts that no catalog can."""
    entities = [thing(name, {name: old}, {name: new}) for name, old, new in fields]

    assert is_harmless(lines.markdown(same, entities))


def test_a_long_comment_is_cut_with_a_note(same: BodyReader) -> None:
    """The first sections are complete, and the note counts the omitted ones."""
    for width, count in ((1, 900), (59, 90)):
        entities = [thing(f"s{one}", {f"f{one}_{n}": "old " * 20 for n in range(width)}, {}) for one in range(count)]
        text = lines.markdown(same, entities)
        shown = text.count("<details><summary><code>series")

        assert is_harmless(text)
        assert LONGEST - 6000 < len(text) <= LONGEST
        assert 0 < shown < count
        assert f"\n… and {count - shown} more parts, omitted because a comment has at most 65,536 characters.\n" in text


def test_the_comment_without_differences(site: Site, run: Run) -> None:
    """A heading and one line."""
    site.build()
    out = site.folder / "dist"
    text = run("diff", out, out, "--format", "markdown").stdout

    assert text == f"### What changes for clients\n\n<p><code>{out}</code> → <code>{out}</code>: no differences</p>\n"


def test_a_comment_has_a_summary_and_collapsed_sections(site: Site, run: Run) -> None:
    """The table of URLs is one of the sections."""
    tree_snapshot.first_version(site)
    old = site.build().release
    tree_snapshot.second_version(site)
    site.write("site.yaml", "base_url: https://minimal.example\ncache: {index: 60, errors: 5}\n")
    site.build()
    text = run("diff", site.folder / f"dist/releases/{old}", site.folder / "dist", "--format", "markdown").stdout
    titles = re.findall("<details><summary>(.*)</summary>", text)
    reader = "https://minimal.example/reader"

    assert is_harmless(text)
    assert titles == [
        "settings",
        "different max-age",
        "by URL",
        f'<code>series first changed</code>: <a href="{reader}/first/"><code>First again</code></a>',
        f'<code>series third added</code>: <a href="{reader}/third/"><code>third</code></a>',
        "also affected",
    ]
    assert "| `/api/series/{slug}` | 1 | 1 |  |  |\n" in text
    assert "| `/` |  |  |  | 1 |\n" in text


def test_the_access_section_comes_first(site: Site, run: Run) -> None:
    """Changed access matters more than changed fields."""
    site.build()
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(path.read_text() + "restricted: true\n")
    text = comment(site, run)

    assert is_harmless(text)
    assert text.index("<summary>access</summary>") < text.index("<summary>by URL</summary>")
    assert "! /api/v2/chapters/{id}: public → restricted\n" in text


# Links to pages


def links(text: str) -> dict[str, str]:
    """The titles of linked pages by URL."""
    return {url: html.unescape(title) for url, title in re.findall('<a href="([^"]+)"><code>(.*?)</code></a>', text)}


def test_titles_link_to_pages(site: Site, run: Run) -> None:
    """The URL is that of the API: series and chapters, changed and added ones, with and without an id."""
    two = {"title": "Two", "volume": 3}
    series(site, "first", chapter(1, title="One", id=1), chapter(2.5, **two), chapter(4))
    site.build()
    changed = chapter(1, title="Uno", id=1), chapter(2.5, **two, final="true"), chapter(5, title="New"), chapter(4)
    series(site, "first", *changed)
    series(site, "third", chapter(7, volume=2), title="Third")
    (site.folder / "catalog_src/series/second.yaml").unlink()
    text = comment(site, run)
    reader = "https://minimal.example/reader"

    assert is_harmless(text)
    assert links(text) == {
        f"{reader}/first/": "First",
        f"{reader}/first/0/1/": "Ch. 1: Uno",
        f"{reader}/first/3/2.5/": "Vol. 3, Ch. 2.5: Two",
        f"{reader}/first/0/5/": "Ch. 5: New",
        f"{reader}/third/": "Third",
        f"{reader}/third/2/7/": "Vol. 2, Ch. 7",
    }
    assert "<details><summary><code>series second removed: &quot;Second&quot;</code></summary>" in text


def test_a_link_has_the_settings_of_the_new_release(site: Site, run: Run) -> None:
    """Another host and another path of the reader. /api/v2 has paths, the older versions have URLs."""
    site.build()
    site.write("site.yaml", "base_url: http://localhost:81\nreader: /read/\n")
    series(site, "first", chapter(2, title="Two"), title="New")
    urls = links(comment(site, run))

    assert urls == {
        "http://localhost:81/read/first/": "New",
        "http://localhost:81/read/first/0/2/": "Ch. 2: Two",
        "http://localhost:81/read/second/": "Second",
    }


def test_a_restricted_series_links_to_its_page_only(site: Site, run: Run) -> None:
    """Its chapters need an API key; --private shows them."""
    series(site, "first", chapter(1, title="One", id=1), restricted="true")
    site.build()
    series(site, "first", chapter(1, title="Secret", id=1), restricted="true")

    assert links(comment(site, run)) == {"https://minimal.example/reader/first/": "First"}
    assert list(links(comment(site, run, "--private")).values()) == ["First", "Ch. 1: Secret"]


def test_a_series_without_a_public_body_has_no_link(site: Site, run: Run) -> None:
    """For example a restricted series whose chapters have no id: no API version has it."""
    site.build()
    series(site, "first", chapter(1), restricted="true")

    assert links(comment(site, run)) == {}


def test_hostile_texts_are_not_markup(site: Site, run: Run) -> None:
    """In titles, descriptions and names, of changed series and new ones. A link leads to the page."""
    titles = [*NASTY, "[a](https://evil.example)", "\u202eright to left\u202c", "</a>\u2028<p>"]
    for number in range(1, len(titles)):
        series(site, f"s{number}", chapter(2))
    site.build()
    categories = []
    for number, nasty in enumerate(titles):
        quoted, category = (text.replace("'", "''") for text in (nasty, re.sub("[/,]", "", nasty)))
        title, lines = (json.dumps(text, ensure_ascii=False) for text in (nasty, f"{nasty}\n```\n{nasty}\n"))
        series(site, f"s{number}", chapter(2, title=title), title=f"'{quoted}'", description=lines)
        categories.append(f"- {{id: c{number}, name: '{category}', description: '{quoted}'}}\n")
    site.write("categories.yaml", "".join(categories))
    text = comment(site, run)
    reader = "https://minimal.example/reader"

    assert is_harmless(text)
    assert is_harmless(comment(site, run, "--all"))
    assert [nasty for nasty in NASTY if html.unescape(text).count(nasty[:8]) < 2] == []
    assert links(text) == {
        url: shown
        for number, nasty in enumerate(titles)
        for url, shown in (
            (f"{reader}/s{number}/", escaped(nasty)),
            (f"{reader}/s{number}/0/2/", f"Ch. 2: {escaped(nasty)}"),
        )
    }


def test_long_titles_and_long_lists_of_links_are_cut(site: Site, run: Run) -> None:
    """Ten chapters of each series; a title has at most 80 characters."""
    (site.folder / "catalog_src/series/first.yaml").unlink()
    site.build()
    series(site, "first", *(chapter(number, title="t" * 99) for number in range(1, 13)))
    text = comment(site, run)
    titles = list(links(text).values())

    assert is_harmless(text)
    assert titles == ["First", *(f"Ch. {number}: {'t' * 99}"[:79] + "…" for number in range(1, 11))]
    assert "</a>, …</p>" in text


def test_a_group_of_similar_series_links_to_the_first_one(site: Site, run: Run) -> None:
    """More than fifty series with similar changes are one section."""
    for number in range(51):
        series(site, f"many-{number:02}", chapter(1))
    site.build()
    for number in range(51):
        series(site, f"many-{number:02}", chapter(1, title="New"), title=f"Renamed {number}")
    text = comment(site, run)

    assert is_harmless(text)
    assert "<code>series many-00, many-01, many-02 and 48 more changed in a similar way; the first:</code>" in text
    assert links(text) == {
        "https://minimal.example/reader/many-00/": "Renamed 0",
        "https://minimal.example/reader/many-00/0/1/": "Ch. 1: New",
    }


@pytest.mark.parametrize("url", ["javascript:alert(1)", "/reader/<b>/", "/a b/", None, 7])
def test_an_unexpected_url_gets_no_link(same: BodyReader, url: object) -> None:
    """A body whose URL is not one that a build makes."""
    assert entities.page_url(same.comparison.new, {"url": url}) == ""
    assert entities.page_url(same.comparison.new, {"url": "/a/"}) == "https://minimal.example/a/"
    assert entities.page_url(same.comparison.new, {}) == ""


def test_a_chapter_with_an_unexpected_url_gets_no_link(same: BodyReader, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other chapters of the series have theirs."""
    chapters = [{"url": "javascript:alert(1)", "number": 1}, {"url": "/a/", "number": 2}]
    monkeypatch.setattr(entities, "entity_views", lambda reader, entity: ({}, {"chapters": chapters}))
    added = EntityChange(EntityName("series", "first"), [], kind="added")

    links = list(entities.chapter_links(same, added))

    assert links == [entities.PageLink("Chapter 2", "https://minimal.example/a/")]
