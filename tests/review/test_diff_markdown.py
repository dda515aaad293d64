"""A comparison as a comment: nothing of a catalog is more than text in it, and it is never too long."""

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

NASTY = [
    "@somebody and #12",
    "<img src=x onerror=alert(1)>",
    "</code></summary></details><script>",
    "``` ends here",
    "````````` ends here",
    "~~~ | [a](javascript:b) **bold** <!-- -->",
    "&lt;b&gt; \\` `x`",
]
# What may stand outside of fences: nothing that comes from a catalog, unless it is escaped in <code>.
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
    """The lines that are not between fences, which a line of as many backticks ends, and nothing else."""
    fence = ""
    for line in text.splitlines():
        if fence:
            if re.fullmatch(rf" {{0,3}}`{{{len(fence)},}}\s*", line):
                fence = ""
            assert not fence or fence not in line
        elif found := re.match(" {0,3}(`{3,})", line):
            fence = found[1]
        else:
            yield line
    assert not fence, "a fence is open at the end"


def is_harmless(text: str) -> bool:
    odd = [line for line in outside(text) if not OUTSIDE.fullmatch(line)]
    assert odd == []
    assert text.count("\r") == 0 and len(text) <= LONGEST
    return True


def comment(site: Site, run: Run, *options: str) -> str:
    """On what a build would change."""
    folders = (site.folder / "dist", site.folder / "catalog_src")
    result = run("diff", *folders, "--as-of", AS_OF, "--jobs", 1, "--format", "markdown", *options)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("nasty", NASTY)
@pytest.mark.parametrize("every", [(), ("--all",)])
def test_no_text_of_a_catalog_is_markup(site: Site, run: Run, nasty: str, every: tuple[str, ...]) -> None:
    """Mentions, tags, fences and tables in titles, names and categories are shown as they are."""
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
    """A release and itself, said to differ."""
    site.build()
    path = site.folder / "dist/current/manifest.json"
    with ReleaseView(path, "`<old>`") as old, ReleaseView(path, "@new") as new:
        yield BodyReader(Comparison(old, new, settings=["http.conf"]))


TEXTS = st.text(st.sampled_from("`~<>&@#|*\n\r\t\x00\u202e\u2028…a é"), max_size=12)


@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=5))
def test_whatever_a_body_holds_stays_between_its_fences(same: BodyReader, fields: list[tuple[str, str, str]]) -> None:
    """Bodies of another program may hold what no catalog can."""
    found = [thing(name, {name: old}, {name: new}) for name, old, new in fields]

    assert is_harmless(as_markdown.markdown(same, found))


def test_what_is_too_long_is_left_out_and_said(same: BodyReader) -> None:
    """The beginning stays whole; how much is missing is said at the end."""
    for width in range(1, 60, 3):
        found = [thing(f"s{one}", {f"f{one}_{n}": "old " * 20 for n in range(width)}, {}) for one in range(900)]
        text = as_markdown.markdown(same, found)
        shown = text.count("<details><summary><code>series")

        assert is_harmless(text)
        assert LONGEST - 6000 < len(text) <= LONGEST
        assert 0 < shown < 900
        assert f"\n… and {900 - shown} more parts, omitted because a comment has at most 65,536 characters.\n" in text


def test_the_shortest_comment_says_that_nothing_differs(site: Site, run: Run) -> None:
    """A head and one line."""
    site.build()
    out = site.folder / "dist"
    text = run("diff", out, out, "--format", "markdown").stdout

    assert text == f"### What changes for clients\n\n<p><code>{out}</code> → <code>{out}</code>: no differences</p>\n"


def test_a_comment_has_a_summary_a_table_and_the_rest_folded(site: Site, run: Run) -> None:
    """Who wants to know more opens it."""
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


def test_access_stands_first(site: Site, run: Run) -> None:
    """Whether somebody may still read something matters more than what it says."""
    site.build()
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(path.read_text() + "restricted: true\n")
    text = comment(site, run)

    assert is_harmless(text)
    assert text.index("<summary>access</summary>") < text.index("<summary>by URL</summary>")
    assert "! /api/v2/chapters/{id}: public → restricted\n" in text
