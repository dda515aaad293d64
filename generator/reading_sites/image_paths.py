"""Image URLs -> file names below the media root, where the layout is that of a catalog; other URLs are kept.

The original service wraps images in the URL of a CDN, and does not encode `#`, `?` and `%` in their paths.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from ..catalog import field_values, patterns

# A % that does not begin an encoded byte.
_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_IN_URL = "-._~:/?#@!$&'()*+,;=%[]"
_URL = re.compile(r"(https?)://([^/]+)(/.*)", re.DOTALL)
# The query of weserv has the URL; the paths of the others have the host.
_WESERV = re.compile(r"https?://images\.weserv\.nl/\?(?:.*&)?url=([^&]*).*", re.DOTALL)
_PHOTON = re.compile(r"https?://i[0-9]\.wp\.com/([^/]+)(/.*?)(?:\?(?:ssl|quality|fit)=[^/]*)?", re.DOTALL)
_OPTION = "[a-z]+=[^/,]*"
_STATICALLY = re.compile(
    rf"https?://cdn\.statically\.io/img/([^/]+)(?:/(?:{_OPTION}(?:,{_OPTION})*)?)?(/.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class SiteImages:
    """How the image URLs of a site are read."""

    # Scheme and host.
    origin: str
    is_original: bool
    # The URL of the media folder, "" if unknown.
    root: str = ""

    def url(self, stated: str) -> str:
        """Return the encoded URL of an image at the site itself."""
        return _encoded(unwrapped(stated, self.origin)) if self.is_original and stated else stated

    def pages(self, urls: Sequence[str], names: Sequence[str]) -> list[str]:
        """Return the URLs of pages. `names`, from version 1, show which % of the original service is a character."""
        if not self.is_original or len(urls) != len(names):
            return [self.url(url) for url in urls]
        return [_named(self.url(url), name) for url, name in zip(urls, names, strict=True)]


def unwrapped(url: str, origin: str) -> str:
    """Return the URL that a CDN fetches. Two CDNs name only its host: that of the site has the scheme of the site."""
    if match := _WESERV.fullmatch(url):
        scheme, host, path = _parts(unquote(match[1]))
        return f"{scheme}://{host}{quote(path)}"
    if match := _PHOTON.fullmatch(url) or _STATICALLY.fullmatch(url):
        scheme = origin.partition("://")[0] if origin.partition("://")[2] == match[1] else "https"
        return f"{scheme}://{match[1]}{match[2]}"
    return url


def _parts(url: str) -> tuple[str, str, str]:
    """Scheme, host and path; without a scheme, that of the CDN is used."""
    match = _URL.fullmatch(url if "://" in url else f"https://{url}")
    return (match[1], match[2], match[3]) if match else ("https", url, "")


def _encoded(url: str) -> str:
    """Return a URL whose path has raw characters with each segment percent-encoded."""
    match = _URL.fullmatch(url)
    if not match:
        return url
    names = (unquote(segment, errors="surrogateescape") for segment in match[3].split("/"))
    path = "/".join(quote(name, safe="", errors="surrogateescape") for name in names)
    return f"{match[1]}://{match[2]}{path}"


def _named(url: str, name: str) -> str:
    """Return a URL that ends with a file name, if it ends with the same name decoded once more."""
    folder, _, last = url.rpartition("/")
    return f"{folder}/{field_values.percent_encoded(name)}" if unquote(last) == unquote(name) else url


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
