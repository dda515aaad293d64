"""Image URLs -> file names below the media root, where the layout is that of a catalog; other URLs are kept."""

import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote, unquote

from ...catalog import field_values, patterns

# A % that does not begin an encoded byte.
_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_IN_URL = "-._~:/?#@!$&'()*+,;=%[]"


def root(images: Iterable[tuple[str, str]]) -> str:
    """Return the most frequent root of (URL, folder below the root) pairs; "" if no URL contains its folder."""
    roots: Counter[str] = Counter()
    for url, folder in images:
        before, _, name = url.rpartition(f"/{folder}")
        if before and name and "/" not in name and re.fullmatch(patterns.PATH_OR_URL, f"{before}/"):
            roots[f"{before}/"] += 1
    return min(roots, key=lambda root: (-roots[root], root), default="")


def image(url: str, root: str, folder: str) -> str:
    """Return the file name of an image in a folder below the root; otherwise its URL, percent-encoded."""
    name = unquote(url.removeprefix(root + folder))
    if root and url == root + folder + field_values.percent_encoded(name) and re.fullmatch(patterns.FILE_OR_URL, name):
        return name if not field_values.is_url(name) else url
    return quote(_LONE_PERCENT.sub("%25", url), safe=_IN_URL)
