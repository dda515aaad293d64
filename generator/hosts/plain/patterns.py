r"""Paths of a release in the rules of hosts: few rules for many paths, and patterns that several hosts need.

The patterns have no look-ahead, and `$` instead of `\z`: Go knows neither.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

from ...api import policies
from ...api.payloads import errors
from ...release.rules import Rules

# Few rules for many paths: `/api/series/*` instead of each path below

V = TypeVar("V")


def path_rules(values: Mapping[str, V]) -> dict[str, V]:
    """Rules that give each path its value: a path itself, or the end `/*` for all paths below.

    No two rules have a path in common, so their order does not matter.
    """
    # The value of all paths below a folder; no value if they differ.
    below: dict[str, V | None] = {}
    for path, value in values.items():
        for folder in _folders(path):
            if below.setdefault(folder, value) != value:
                below[folder] = None
    return {_rule(path, below): value for path, value in values.items()}


def _rule(path: str, below: Mapping[str, object]) -> str:
    """The rule of the highest folder with one value, or the path."""
    folder = next((folder for folder in _folders(path) if below[folder] is not None), None)
    return path if folder is None else f"{folder}/*"


def _folders(path: str) -> Iterator[str]:
    """The folders around a path, from the highest to the lowest; that of all paths is empty."""
    position = path.find("/")
    while position >= 0:
        yield path[:position]
        position = path.find("/", position + 1)


# Numbers in canonical form: 0, 10 and, for chapters, 10.5; not 01, 1.0 or 1e3.
INTEGER = r"(?:0|[1-9]\d*)"
NUMBER = rf"{INTEGER}(?:\.\d*[1-9])?"
_NUMBERED = r"^/api/(?:(?:v1/)?(?:authors|artists)/{0}|v1/groups/{0}|(?:v1/)?series/[^/]+/{0}(?:/{1})?)$"
# Paths that have a number, and those where it is in canonical form: a missing one of the others is a 400.
WITH_NUMBERS = _NUMBERED.format("[^/]+", "[^/]+")
CANONICAL_NUMBERS = _NUMBERED.format(INTEGER, NUMBER)
# The name of a parameter with an escaped lowercase letter or `_`, and the equals sign: %73tatus= is status=.
ESCAPED_NAME = r"[^&=]*%(?:5[Ff]|6[1-9A-Fa-f]|7[0-9Aa])[^&=]*="
# Segments of a path that a redirect and its body in JSON can repeat as they are. \x22 is a quotation mark, which would
# end the pattern in a configuration.
SEGMENTS = r"(?:/+[^/?\s\x22<>\\]+)*"
# The routes that need an API key on every site.
_ACCOUNTS = ("/bookmarks", "/profile")
# The folders of series in the API.
_WITH_SLUG = ("/api/series/", "/api/v1/series/", "/api/v2/series/", "/api/v2/cubari/")


def locked_paths(rules: Rules) -> str:
    """The paths of routes that need an API key."""
    routes = (re.sub(r"\{\w+\}", "[^/]+", route) for route in (*_ACCOUNTS, *rules.restricted))
    return rf"^/api/v2(?:{'|'.join(routes)})$"


def image_pages(rules: Rules) -> str:
    """The path of a chapter's page, and the number of an image below it; empty without pages."""
    if not rules.pages:
        return ""
    return rf"^({re.escape(rules.reader)}[-\w]+/\d+/[\d.]+(?:/version-\d+)?)/[1-9]\d{{0,3}}$"


def rule_values(rules: Rules) -> dict[str, object]:
    """The values that the templates of each host with rules need."""
    return {
        "rules": rules,
        "policies": policies,
        "errors": errors,
        # An alternative of a pattern for each app.
        "apps": "".join(f"|{app}" for app in rules.apps),
        "archives": old_archives(rules),
        "paths_with_302": paths_with_302(rules),
        "image_pages": image_pages(rules),
        "locked": locked_paths(rules),
        "integer": INTEGER,
        "number": NUMBER,
        "with_numbers": WITH_NUMBERS,
        "canonical_numbers": CANONICAL_NUMBERS,
        "escaped_name": ESCAPED_NAME,
    }


def old_archives(rules: Rules) -> str:
    """A pattern of the paths that archives had in the old service; empty if none redirects."""
    return rf"{re.escape(rules.reader)}[-\w]+/\d+/[\d.]+\.cbz" if rules.archives else ""


def paths_with_302(rules: Rules) -> str:
    """A pattern of the paths that may redirect with 302; empty if none does."""
    patterns = [*(f"/{app}/" for app in rules.apps), old_archives(rules)]
    return f"^(?:{'|'.join(filter(None, patterns))})" if rules.sends_302 else ""


def app_slugs(rules: Rules) -> Iterator[tuple[str, str]]:
    """A pattern of the paths with each old slug in apps, and the path with the present slug."""
    for old, present in rules.redirected_paths_in_apps().items():
        yield re.escape(old).replace("/", "/+"), present


def paths_with_slugs(rules: Rules) -> Iterator[tuple[str, tuple[str, str], bool]]:
    """Each folder with an old slug: the folder, the old and the present slug, and whether it has pages."""
    folders = [(folder, False) for folder in _WITH_SLUG] + [(rules.reader, True)] * rules.pages
    for old, present in sorted(rules.redirects.items()):
        for folder, is_page in folders:
            yield folder, (old, present), is_page
