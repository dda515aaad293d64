"""Group the URLs that differ by entity, and report each change at one entity only.

A new chapter appears in its series, in a volume and in a dozen lists. It is reported at its series; the lists are
affected.
"""

from .causes import remove_caused_changes
from .compare import RETIMED
from .entity_views import ACCOUNT, FEEDS, LISTS, PAGES, SERIES, SITE, EntityName, entity_view, sources
from .json_diff import ADDED, REMOVED, json_changes
from .model import BodyReader, EntityChange
from .release_view import ReleaseView

_ORDER = (SERIES, "chapter", "author", "artist", "group", "member", "category", ACCOUNT, SITE, LISTS, PAGES, FEEDS)


def entity_changes(reader: BodyReader) -> list[EntityChange]:
    """Every changed entity once: series first, then people and groups, the site, and the lists."""
    entities: dict[EntityName, EntityChange] = {}
    for difference in reader.comparison.differences:
        if difference.kind != RETIMED:
            name = reader.entity(difference)
            entities.setdefault(name, EntityChange(name, [])).differences.append(difference)
    for entity in entities.values():
        _compare_entity(entity, reader)
    remove_caused_changes(entities, reader)
    reported = sorted(
        name
        for name, entity in entities.items()
        if entity.is_reported and entity.name.kind != LISTS and not entity.is_rendered
    )
    for entity in entities.values():
        if entity.is_rendered:
            series = entities.get(EntityName(SERIES, entity.name.name))
            entity.causes = reported if not series else [series.name] if series.is_reported else series.causes
    if lists := entities.get(EntityName(LISTS)):
        lists.causes = reported
        if not lists.causes:
            _use_first_readable_body(lists, reader)
    return sorted(entities.values(), key=lambda entity: (_ORDER.index(entity.name.kind), _natural(entity.name.name)))


def _natural(name: str) -> tuple[int, str]:
    """A sort key by number for ids, and by text for other names."""
    return (int(name), "") if name.isdecimal() else (0, name)


def _compare_entity(entity: EntityChange, reader: BodyReader) -> None:
    """Set whether the entity was added, removed or changed, and its changed fields."""
    kinds, slug = {difference.kind for difference in entity.differences}, entity.differences[0].slug
    old, new = reader.comparison.old, reader.comparison.new
    for kind, without, release in ((ADDED, old, new), (REMOVED, new, old)):
        if kinds == {kind} and not without.responses(slug).keys() & set(sources(entity.name)):
            entity.kind = kind
            entity.title = _title(entity, release, reader)
            return
    if entity.name.kind != LISTS and not entity.is_rendered:
        before, after = (entity_view(entity.name, load) for load in reader.loaders())
        entity.changes = list(json_changes(before, after))
        if not entity.changes:
            _use_first_readable_body(entity, reader)


def _use_first_readable_body(entity: EntityChange, reader: BodyReader) -> None:
    """Take the changes of the first body with a visible difference."""
    for difference in entity.differences:
        if changes := reader.details(difference):
            entity.changes, entity.body_url = changes, difference.url
            return


def _title(entity: EntityChange, release: ReleaseView, reader: BodyReader) -> str:
    responses = release.responses(entity.differences[0].slug)
    fields = entity_view(entity.name, lambda url: reader.value(release, responses.get(url)))
    return str(fields.get("title") or fields.get("name") or "")
