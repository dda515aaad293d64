"""Where docs/catalog.md says what would be right, for every place of every file of a catalog."""

from ..yaml.positions import YamlPath

PAGE = "docs/catalog.md"
LAYOUT = "how-the-files-are-laid-out"
YAML = "how-yaml-is-read"
KEYS = "keys"
_SERIES = "series-seriesslugyaml"
_CHAPTERS = "chapters-seriesslugchaptersyaml"
_CACHE = "cache"
_AGES = "unversioned-v1-and-v2-in-cache"

# What stands in a file has a section, and what stands below some of its fields has one of its own.
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
}
_BELOW = {
    ("siteyaml", "cache"): _CACHE,
    (_CACHE, "unversioned"): _AGES,
    (_CACHE, "v1"): _AGES,
    (_CACHE, "v2"): _AGES,
    ("groupsyaml", "members"): "members-of-a-group",
    ("accountsyaml", "keys"): KEYS,
    (_SERIES, "chapters"): _CHAPTERS,
}
# Values that several kinds of files have are explained once.
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


def anchor(file: str, path: YamlPath, *, of_key: bool = False) -> str:
    """The anchor for what stands at a path of a file; `of_key` asks for the record around a field."""
    section = _FILES.get(file, LAYOUT)
    if path and file.startswith("series/"):
        section = _CHAPTERS if "/chapters/" in file else _SERIES
    names = [step for step in path if isinstance(step, str)]
    for name in names:
        section = _BELOW.get((section, name), section)
    if of_key or not names or section in (_CACHE, _AGES):
        return section
    return _VALUES.get(names[-1], section)
