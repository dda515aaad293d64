"""Addresses of images -> names of files below one root, where they lie as ours do; else they stay addresses."""

import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote, unquote

from ...catalog import field_values
from ...catalog.records import FILE_OR_URL, PATH_OR_URL

# What an address may hold as it is; a % begins what is encoded already.
_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_IN_URL = "-._~:/?#@!$&'()*+,;=%[]"


def root(found: Iterable[tuple[str, str]]) -> str:
    """Below which address most images lie in the folder where a catalog would look for them; none if none does."""
    roots: Counter[str] = Counter()
    for address, folder in found:
        before, _, name = address.rpartition(f"/{folder}")
        if before and name and "/" not in name and re.fullmatch(PATH_OR_URL, f"{before}/"):
            roots[f"{before}/"] += 1
    return min(roots, key=lambda one: (-roots[one], one), default="")


def image(address: str, root: str, folder: str) -> str:
    """The name of a file in a folder below the root, or the address, encoded where it was not."""
    name = unquote(address.removeprefix(root + folder))
    if root and address == root + folder + field_values.percent_encoded(name) and re.fullmatch(FILE_OR_URL, name):
        return name if not field_values.is_url(name) else address
    return quote(_LONE_PERCENT.sub("%25", address), safe=_IN_URL)
