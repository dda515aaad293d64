"""When a composed body last changed: when the newest of its parts did."""

from collections.abc import Iterable

from ...catalog.entities import Catalog
from ..resources import Body, JoinedBodies


def newest(parts: Iterable[Body], *moments: int) -> int:
    return max((*moments, *(part.last_modified for part in parts)))


def array(parts: Iterable[Body], catalog: Catalog) -> Body:
    """An array. An empty one shows nothing that could have changed; it is as old as the site."""
    found = list(parts)
    modified = newest(found) if found else catalog.site_modified
    return Body([part.value for part in found], modified)


def joined_bodies(urls: Iterable[str]) -> Body:
    """An array of bodies that have URLs of their own; since when it is so is known by whoever puts it together."""
    return Body(JoinedBodies(tuple(urls)), 0)
