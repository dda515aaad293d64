"""What the configuration of a release depends on: the rules, the keys, and some bodies of the catalog as a whole."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..api.resources import ATOM, HTML, JSON, JSON_FEED, RSS, SERIES_INDEX_URL
from ..release.manifest import Published
from ..release.rules import Rules

# The page for paths that do not exist.
_MISSING_URL = "/404/"
# Bodies whose type nginx knows by the form of their URLs.
_PAGE_TYPES = (HTML, ATOM, RSS, JSON_FEED)
_SITEMAPS = "/sitemaps/"


@dataclass(frozen=True, slots=True)
class ConfigData:
    """Data of a release that the configuration depends on, besides the long maps."""

    rules: Rules
    # The account key of each API key by its digest; empty for a key without an account.
    keys: Mapping[str, str]
    # The file of the body that the shim searches. It is not sent.
    index_file: str
    # The number of lines of the longest of the long maps, and the length of their longest line.
    most_lines: int
    longest_line: int
    # URL and type of the bodies below /api that are not JSON.
    documents: Sequence[tuple[str, str]] = ()
    # URL and type of the bodies outside /api that have a location of their own: the type follows from the URL only.
    files: Sequence[tuple[str, str]] = ()
    # The file of the page for paths that do not exist.
    missing_page: str = ""


def of_bodies(
    rules: Rules, keys: Mapping[str, str], bodies: Sequence[Published], lines: Iterable[int], longest_line: int
) -> ConfigData:
    """The data of a release with these bodies of the catalog as a whole; `lines` are the numbers of each long map."""
    return ConfigData(
        rules=rules,
        keys=keys,
        index_file=next(body.file for body in bodies if body.url == SERIES_INDEX_URL),
        most_lines=max(lines),
        longest_line=longest_line,
        documents=[(body.url, body.type) for body in bodies if body.type != JSON and _is_in_api(body)],
        files=[(body.url, body.type) for body in bodies if _has_own_location(body)],
        missing_page=next((body.file for body in bodies if body.url == _MISSING_URL), ""),
    )


def _is_in_api(body: Published) -> bool:
    return body.url.startswith("/api/")


def _has_own_location(body: Published) -> bool:
    """Whether nginx knows the type of a body outside /api by its whole URL only."""
    return not (_is_in_api(body) or body.url == "/" or body.type in _PAGE_TYPES or body.url.startswith(_SITEMAPS))
