"""The Markdown comment: catalog texts are never markup, and its length is limited."""

import html
import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.review.diff import as_markdown
from generator.review.diff.as_markdown import LONGEST
from generator.review.diff.compare import Comparison
from generator.review.diff.entity_changes import BodyReader, EntityChange
from generator.review.diff.entity_views import EntityName
from generator.review.diff.json_diff import json_changes
from generator.review.diff.release_view import ReleaseView
from tests.commands.test_cli import Run
from tests.conftest import AS_OF, Site
from tests.support import tree_snapshot
from tests.support.runs import sample

NASTY = [
    "@somebody and #12",
    "<img src=x onerror=alert(1)>",
    "</code></summary></details><script>",
    "``` ends here",
    "````````` ends here",
    "~~~ | [a](javascript:b) **bold** <!-- -->",
    "&lt;b&gt; \\` `x`",
]
# Lines that may be outside fences. Catalog texts are escaped in <code>.
CODE = r"<code>(?:[^<>&]|&(?:lt|gt|amp|quot|#x27);)*</code>"
OUTSIDE = re.compile(
    "|".join(
        (
            "",
            "### What changes for clients",
            rf"<p>{CODE} → {CODE}: [-a-z0-9, ]+</p>",
            rf"<details><summary>(?:[-A-Za-z ]+|{CODE})</summary>",
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


@pytest.mark.parametrize("nasty", sample([*NASTY], 4))
@pytest.mark.parametrize("every", [(), ("--all",)])
def test_catalog_texts_are_not_markup(site: Site, run: Run, nasty: str, every: tuple[str, ...]) -> None:
    """Mentions, tags, fences and tables in titles, names and categories have no effect."""
    site.build()
    quoted = nasty.replace("'", "''")
    site.write("series/new.yaml", f"title: '{quoted}'\ncover: c.png\n")
    site.write("series/second.yaml", f"title: '{quoted}'\ndescription: |\n  {nasty}\n  ```\n  {nasty}\ncover: c.png\n")
    category = quoted.replace("/", "").replace(",", "")
    site.write("categories.yaml", f"- {{id: b, name: '{category}', description: '{quoted}'}}\n")
    text = comment(site, run, *every)

    assert is_harmless(text)
    assert html.unescape(text).count(nasty[:8].replace('"', '\\"')) >= 2


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


@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=5))
def test_body_contents_cannot_close_their_fence(same: BodyReader, fields: list[tuple[str, str, str]]) -> None:
    """Bodies of other programs may contain texts that no catalog can."""
    entities = [thing(name, {name: old}, {name: new}) for name, old, new in fields]

    assert is_harmless(as_markdown.markdown(same, entities))


@pytest.mark.bounds
def test_a_long_comment_is_cut_with_a_note(same: BodyReader) -> None:
    """The first sections are complete, and the note counts the omitted ones."""
    for width in range(1, 60, 3):
        entities = [thing(f"s{one}", {f"f{one}_{n}": "old " * 20 for n in range(width)}, {}) for one in range(900)]
        text = as_markdown.markdown(same, entities)
        shown = text.count("<details><summary><code>series")

        assert is_harmless(text)
        assert LONGEST - 6000 < len(text) <= LONGEST
        assert 0 < shown < 900
        assert f"\n… and {900 - shown} more parts, omitted because a comment has at most 65,536 characters.\n" in text


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

    assert is_harmless(text)
    assert titles == [
        "settings",
        "different max-age",
        "by URL",
        "<code>series first changed</code>",
        "<code>series third added: &quot;third&quot;</code>",
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
