"""The last-modified time of a composed body is that of its newest part."""

from collections.abc import Iterable

from ...catalog.entities import Catalog
from ..resources import Body, JoinedBodies


def newest(parts: Iterable[Body], *times: int) -> int:
    return max([*times, *[part.last_modified for part in parts]])


def array(parts: Iterable[Body], catalog: Catalog) -> Body:
    """An array of bodies. An empty one has the date of the site, since it has no part that could change."""
    bodies = list(parts)
    modified = newest(bodies) if bodies else catalog.site_modified
    return Body([body.value for body in bodies], modified)


def joined_bodies(urls: Iterable[str]) -> Body:
    """An array of bodies that have URLs of their own. Its date is computed when it is written."""
    return Body(JoinedBodies(tuple(urls)), 0)
