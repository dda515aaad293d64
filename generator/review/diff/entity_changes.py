"""Group the URLs that differ by entity, and report each change at one entity only.

A new chapter appears in its series, in a volume and in a dozen lists. It is reported at its series; the lists are
affected. A change that another entity caused is removed, and the other entity is its cause. Examples:

1. The title of series `paper-moons` changes. The bodies of its author 9 list the series with the title, so the field
   `series[slug=paper-moons].title` of author 9 changes, too. The path refers to a series that is reported, so the
   change is removed from author 9, whose cause is `series paper-moons`.
2. Author 9 is renamed from "Ines" to "Ines Halloway". In each of her series, the field `authors[1]` changes from the
   old name to the new one. Its values equal those of the renaming, so the change is removed from the series, whose
   cause is `author 9`.
3. The number of a chapter changes from 4 to 5. The fields `full_title` and `url` of the chapter change, too. Both are
   derived from the field `number` beside them, so only the change of `number` is reported.
"""

from collections.abc import Iterator, Mapping, Sequence

from .compare import RETIMED
from .entities import (
    ACCOUNT,
    CATEGORY,
    FEEDS,
    LISTS,
    PAGES,
    SERIES,
    SITE,
    BodyReader,
    EntityChange,
    EntityName,
    entity_view,
    sources,
)
from .json_diff import ADDED, CHANGED, REMOVED, JsonChange, Path, json_changes
from .release_view import ReleaseView

_ORDER = (SERIES, "chapter", "author", "artist", "group", "member", "category", ACCOUNT, SITE, LISTS, PAGES, FEEDS)


def entity_changes(reader: BodyReader) -> list[EntityChange]:
    """Return each entity with a URL that differs: what changed in it, and which other entities caused the rest.

    Series come first, then people and groups, the site, and the lists.

    Example: an author of the series `paper-moons` and `tides` is renamed, and `tides` gets a chapter. URLs of both
    series, of the author, of lists and of pages differ. The result:

    - `series paper-moons` has no changes of its own, and the cause `author 9`: only her name differs in it.
    - `series tides` has one change, the added chapter, and the cause `author 9`, too.
    - `author 9` has one change, that of `name`, and no cause.
    - `lists` has no changes; its causes are `author 9` and `series tides`.
    - `pages tides` has the cause `series tides`; `pages paper-moons` has that of its series, `author 9`.
    """
    entities: dict[EntityName, EntityChange] = {}
    for difference in reader.comparison.differences:
        if difference.kind != RETIMED:
            name = reader.entity(difference)
            entities.setdefault(name, EntityChange(name, [])).differences.append(difference)
    for entity in entities.values():
        _compare_entity(entity, reader)
    remove_caused_changes(entities, reader)
    # Lists, pages and feeds show other entities, so their causes are the reported ones.
    reported = sorted(
        name
        for name, entity in entities.items()
        if entity.is_reported and name.kind != LISTS and not entity.is_rendered
    )
    for name, entity in entities.items():
        series = entities.get(EntityName(SERIES, name.name)) if entity.is_rendered else None
        if series:
            entity.causes = [series.name] if series.is_reported else series.causes
        elif name.kind == LISTS or entity.is_rendered:
            entity.causes = reported
        if name.kind == LISTS and not reported:
            _use_first_readable_body(entity, reader)
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


# Causes

_CATEGORIES = "/api/v1/categories"
# Fields that are derived from the fields beside them.
_DERIVED_FROM = {
    "full_title": {"number", "volume", "published", "date"},
    "url": {"number", "volume"},
    "pages_root": {"number", "volume"},
    "completed": {"status"},
}
# The fields of a series that contain names of other entities.
_NAME_FIELDS = {"author": "authors", "artist": "artists", CATEGORY: "categories"}
_MEMBER_FIELDS = ("name", "twitter", "discord")

# The old name, the new name, and the renamed entity.
_Rename = tuple[str, str, EntityName]


def remove_caused_changes(entities: Mapping[EntityName, EntityChange], reader: BodyReader) -> None:
    """Keep only the own changes of each entity, and set the causes of the removed ones."""
    reported = {name for name, entity in entities.items() if _has_own_changes(entity)}
    renames = list(_renames(entities, reader))
    for entity in entities.values():
        by_path = {change.path: change for change in entity.changes}
        causes: set[EntityName] = set()
        own = []
        for change in entity.changes:
            names = _causing_entities(entity, change, reported) or _causing_renames(entity, change, renames)
            causes.update(names)
            if not names and not _is_derived(change, by_path):
                own.append(change)
        entity.changes, entity.causes = own, sorted(causes)


def _has_own_changes(entity: EntityChange) -> bool:
    if entity.kind != CHANGED or entity.access_differences:
        return True
    return any(_referred_entity(entity, change) is None for change in entity.changes)


def _causing_entities(entity: EntityChange, change: JsonChange, reported: set[EntityName]) -> list[EntityName]:
    """The reported entities that a change refers to (example 1)."""
    other = _referred_entity(entity, change)
    if other is None or other in reported:
        return [other] if other else []
    return sorted(name for name in reported if name.kind == other.kind and not other.name)


def _referred_entity(entity: EntityChange, change: JsonChange) -> EntityName | None:
    """The other entity that a field describes. Its name is empty if the path does not contain it."""
    match entity.name.kind, *change.path:
        case "author" | "artist" | "group", "series", step, *_:
            return EntityName(SERIES, _identity(step))
        case "group", "members", step, field, *_ if field in _MEMBER_FIELDS:
            return EntityName("member", _identity(step))
        case "member", "groups", *_:
            return EntityName("group")
        case "series", "chapters", _, "groups", step, _:
            return EntityName("group", _identity(step))
        case "series", "categories", step, _:
            return EntityName("category", _identity(step))
    return None


def _identity(step: str) -> str:
    """The value of an identity in a path: 4 of [id=4]."""
    return step.strip("[]").partition("=")[2]


def _is_derived(change: JsonChange, by_path: Mapping[Path, JsonChange]) -> bool:
    """Whether the field is derived from changed fields beside it (example 3)."""
    if change.kind != CHANGED or not change.path:
        return False
    *parent, field = change.path
    titles = (by_path.get(path) for path in (("title",), (*parent, "title"))) if field == "full_title" else ()
    if any(title and _explains(title, change) for title in titles):
        return True
    return any((*parent, name) in by_path for name in _DERIVED_FROM.get(field, ()))


def _explains(title: JsonChange, full_title: JsonChange) -> bool:
    """Whether a changed title is the only difference of the full title, or is missing on one side."""
    old, new = str(title.old or ""), str(title.new or "")
    return not (old and new) or str(full_title.old).replace(old, new) == full_title.new


def _renames(entities: Mapping[EntityName, EntityChange], reader: BodyReader) -> Iterator[_Rename]:
    """Changed names and base URLs, which other entities contain, too."""
    yield reader.comparison.old.base_url or "", reader.comparison.new.base_url or "", EntityName(SITE)
    for name, entity in entities.items():
        for change in entity.changes:
            if change.path == ("name",) and change.kind == CHANGED:
                yield change.old, change.new, name
    # The name of a category is part of its URL, so a renamed category looks like another entity.
    if categories := reader.comparison.by_url.get(_CATEGORIES):
        for change in reader.details(categories):
            if change.path[1:] == ("name",):
                yield change.old, change.new, EntityName(CATEGORY, change.new)


def _causing_renames(entity: EntityChange, change: JsonChange, renames: Sequence[_Rename]) -> list[EntityName]:
    """The renamed entities whose names a field contains, if the name is the only difference (example 2)."""
    if change.kind != CHANGED or not (isinstance(change.old, str) and isinstance(change.new, str)):
        return []
    names = []
    for old, new, name in renames:
        if name.kind == SITE:
            is_cause = change.old.startswith(old) and change.new == new + change.old.removeprefix(old)
        else:
            is_cause = _holds_name(name.kind, change.path) and (change.old, change.new) == (old, new)
        names += [name] if is_cause and name != entity.name else []
    return names


def _holds_name(kind: str, path: Path) -> bool:
    """Whether a field of a series is the name of an entity. v2 names the groups of chapters."""
    if kind == "group":
        return len(path) == 4 and path[0] == "chapters" and path[2] == "groups"
    return path[:1] == (_NAME_FIELDS.get(kind),)
