"""Every problem links to the section of docs/catalog.md that explains the field."""

import re

from generator.catalog.layout import SITE
from generator.catalog.problems import doc_links
from generator.catalog.reader import ARCHIVES, LISTS, SIZES, VARIANTS, VIEWS
from tests.project.test_catalog_docs import HEADINGS, ROWS, rows
from tests.support.documents import sections
from tests.support.paths import ROOT

ANCHORS = sections((ROOT / doc_links.PAGE).read_text(encoding="utf-8"))
SERIES = ("series/a.yaml", "series/a/series.yaml", "series/a/chapters/1.yaml")
FILES = [SITE, VIEWS, SIZES, VARIANTS, ARCHIVES, *LISTS, *SERIES]
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
    "`links` of a series": ("series/a.yaml", ("links",)),
    "Chapters: `series/<slug>/chapters/*.yaml`": ("series/a.yaml", ("chapters", 2)),
}

AGES = ("`unversioned`, `v1` and `v2` in `cache`",)
# Links in rows that tell of something else than what a value has to look like.
BESIDE = ("when-something-changed", "licensed-and-restricted", "scheduling", "viewsyaml")
# Fields whose rows have no link to their kind of values.
UNLINKED = {"modified": "instants", "categories": "references", "bookmarks": "references"}


def test_unknown_field_links_to_the_table_of_fields() -> None:
    """The section is that of the record, at any depth."""
    for heading in HEADINGS:
        file, path = RECORDS[heading]
        anchor = doc_links.anchor(file, (*path, "titel"), of_key=True)

        assert all(f"| `{field}` |" in ANCHORS[anchor] for field in rows(heading))


def test_value_links_to_its_explanation() -> None:
    """The section of the kind of value, of the inner record, or of the row."""
    for heading, field in ROWS:
        file, path = RECORDS[heading]
        anchor = doc_links.anchor(file, (*path, field))
        _, default, meaning, example = rows(heading)[field]
        links = [link for link in re.findall(r"\(#([\w-]+)\)", default + meaning + example) if link not in BESIDE]
        unlinked = UNLINKED.get(field, anchor) if heading not in AGES else anchor
        assert anchor == (links[0] if links else unlinked), (heading, field)
        assert anchor in ANCHORS
        assert links or field in UNLINKED or f"| `{field}` |" in ANCHORS[anchor], (heading, field)


def test_file_links_to_a_section() -> None:
    """A problem of a whole file, or at an unknown path, has a link."""
    for file in FILES:
        assert {doc_links.anchor(file, path) for path in ((), (0,), ("?",), ("?", 0, "?"))} <= ANCHORS.keys()


def test_fixed_anchors_exist() -> None:
    """The sections about YAML, keys and the layout exist."""
    assert {doc_links.LAYOUT, doc_links.YAML, doc_links.KEYS} <= ANCHORS.keys()
    assert doc_links.anchor("author.yaml", ()) == doc_links.LAYOUT
    assert doc_links.anchor("series/x.yml", ()) == doc_links.LAYOUT
    assert doc_links.anchor("series/a/chapters/1.yaml", ("number",)) == "chapter-numbers"
    assert doc_links.anchor("series/a/chapters/1.yaml", ("id",)) == "chapters-seriesslugchaptersyaml"
