"""Links to docs/catalog.md: the section that explains a field of a catalog file."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..yaml.positions import YamlPath

PAGE = "docs/catalog.md"
LAYOUT = "how-the-files-are-laid-out"
YAML = "how-yaml-is-read"
KEYS = "keys"
_SERIES = "series-seriesslugyaml"
_CHAPTERS = "chapters-seriesslugchaptersyaml"
_CACHE = "cache"
_AGES = "unversioned-v1-and-v2-in-cache"

# Sections of files.
_FILES = {
    "site.yaml": "siteyaml",
    "authors.yaml": "authorsyaml-and-artistsyaml",
    "artists.yaml": "authorsyaml-and-artistsyaml",
    "categories.yaml": "categoriesyaml",
    "groups.yaml": "groupsyaml",
    "members.yaml": "membersyaml",
    "accounts.yaml": "accountsyaml",
    "keys.yaml": "keysyaml",
    "views.yaml": "viewsyaml",
    "sizes.yaml": "sizesyaml",
    "variants.yaml": "variantsyaml",
    "archives.yaml": "archivesyaml",
}
# Sections of records inside other records.
_BELOW = {
    ("siteyaml", "cache"): _CACHE,
    (_CACHE, "unversioned"): _AGES,
    (_CACHE, "v1"): _AGES,
    (_CACHE, "v2"): _AGES,
    ("groupsyaml", "members"): "members-of-a-group",
    ("accountsyaml", "keys"): KEYS,
    (_SERIES, "links"): "links-of-a-series",
    (_SERIES, "chapters"): _CHAPTERS,
}
# Sections of values that several files have.
_VALUES = {
    "published": "instants",
    "modified": "instants",
    "number": "chapter-numbers",
    "cover": "images",
    "logo": "images",
    "avatar": "images",
    "pages": "pages",
    "authors": "references",
    "artists": "references",
    "groups": "references",
    "member": "references",
    "categories": "references",
    "bookmarks": "references",
}


def anchor(file: str, path: "YamlPath", *, of_key: bool = False) -> str:
    """Return the anchor of the section about a path in a file; with `of_key`, about the record around the field."""
    section = _FILES.get(file, LAYOUT)
    if path and file.startswith("series/"):
        section = _CHAPTERS if "/chapters/" in file else _SERIES
    names = [step for step in path if isinstance(step, str)]
    for name in names:
        section = _BELOW.get((section, name), section)
    if of_key or not names or section in (_FILES["site.yaml"], _CACHE, _AGES):
        return section
    return _VALUES.get(names[-1], section)
