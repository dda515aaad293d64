"""Every problem names the part of docs/catalog.md that says what would be right."""

import re

import pytest

from generator.catalog.layout import SITE
from generator.catalog.problems import doc_links
from generator.catalog.reader import LISTS, VIEWS
from tests.project.test_catalog_docs import HEADINGS, rows
from tests.support.documents import sections
from tests.support.paths import ROOT

ANCHORS = sections((ROOT / doc_links.PAGE).read_text(encoding="utf-8"))
FILES = [SITE, VIEWS, *LISTS, "series/a.yaml", "series/a/series.yaml", "series/a/chapters/1.yaml"]
# The record that stands at a path of a file, by its heading on the page.
RECORDS = {
    "`site.yaml`": ("site.yaml", ()),
    "`cache`": ("site.yaml", ("cache",)),
    "`unversioned`, `v1` and `v2` in `cache`": ("site.yaml", ("cache", "v1")),
    "`authors.yaml` and `artists.yaml`": ("authors.yaml", (0,)),
    "`categories.yaml`": ("categories.yaml", (0,)),
    "`groups.yaml`": ("groups.yaml", (0,)),
    "`members` of a group": ("groups.yaml", (0, "members", 1)),
    "`members.yaml`": ("members.yaml", (0,)),
    "`accounts.yaml`": ("accounts.yaml", (0,)),
    "`keys`": ("accounts.yaml", (0, "keys", 1)),
    "`keys.yaml`": ("keys.yaml", (0,)),
    "Series: `series/<slug>.yaml`": ("series/a.yaml", ()),
    "Chapters: `series/<slug>/chapters/*.yaml`": ("series/a.yaml", ("chapters", 2)),
}

AGES = ("`unversioned`, `v1` and `v2` in `cache`",)
# Links in rows that tell of something else than what a value has to look like.
BESIDE = ("when-something-changed", "licensed-and-restricted", "scheduling", "viewsyaml")
# Fields whose rows have no link to their kind of values.
UNLINKED = {"modified": "instants", "categories": "references", "bookmarks": "references"}


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_field_that_is_not_known_leads_to_the_table_of_those_that_are(heading: str) -> None:
    """The section of the record, whichever record it is in."""
    file, path = RECORDS[heading]
    found = doc_links.anchor(file, (*path, "titel"), of_key=True)

    assert all(f"| `{field}` |" in ANCHORS[found] for field in rows(heading))


@pytest.mark.parametrize(("heading", "field"), [(heading, field) for heading in HEADINGS for field in rows(heading)])
def test_a_value_leads_to_what_is_said_of_it(heading: str, field: str) -> None:
    """To the kind of values to which its row links; to a record inside that its row links; or to its row."""
    file, path = RECORDS[heading]
    found = doc_links.anchor(file, (*path, field))
    _, default, meaning, example = rows(heading)[field]
    links = [one for one in re.findall(r"\(#([\w-]+)\)", default + meaning + example) if one not in BESIDE]
    unlinked = UNLINKED.get(field, found) if heading not in AGES else found

    assert found == (links[0] if links else unlinked)
    assert found in ANCHORS
    assert links or field in UNLINKED or f"| `{field}` |" in ANCHORS[found]


@pytest.mark.parametrize("file", FILES)
def test_a_file_leads_to_a_section(file: str) -> None:
    """What is wrong with a file as a whole, or with a place that is nobody's, is explained too."""
    assert {doc_links.anchor(file, path) for path in ((), (0,), ("?",), ("?", 0, "?"))} <= ANCHORS.keys()


def test_fixed_anchors_exist() -> None:
    """What is wrong with YAML, with a key, or with the place of a file is explained."""
    assert {doc_links.LAYOUT, doc_links.YAML, doc_links.KEYS} <= ANCHORS.keys()
    assert doc_links.anchor("author.yaml", ()) == doc_links.LAYOUT
    assert doc_links.anchor("series/x.yml", ()) == doc_links.LAYOUT
    assert doc_links.anchor("series/a/chapters/1.yaml", ("number",)) == "chapter-numbers"
    assert doc_links.anchor("series/a/chapters/1.yaml", ("id",)) == "chapters-seriesslugchaptersyaml"
