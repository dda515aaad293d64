"""Merge a catalog, kind after kind: find the entry that each record of the site is, and then merge both.

An entry of a list is found by its id, a series by its slug or the ids of its chapters, a chapter by its id or number,
and an account by its name or key. At the end, references to renamed entries are respelled.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import count as count_from
from typing import Any

from ..catalog import field_values
from ..catalog.layout import SITE
from ..catalog.reader import Entry, SeriesEntry
from ..catalog.records import Account, Chapter
from ..errors import FlatpanelError, counted
from ..reading_sites.lenient import Fields
from . import renamed_here, unavailable
from .last_imports import lost_paths
from .merge import ACCOUNTS, FILES, KEYS, FieldChange, Merge, Plan, Removal, States, chapters_of, quoted
from .records import PERSONAL_DATA, ImportedAccounts, key, only_in_v2


def merged(merge: Merge) -> Plan:
    """Merge all kinds, and return the plan. References are spelled last: all names have to be known."""
    plan, sources, imported = merge.plan, merge.sources, merge.imported
    lost = lost_paths(imported, merge.last)
    if sources.site is None:
        plan.site = imported.site
    elif imported.site and not lost:
        last = merge.last_of("site").get("site")
        merge.record(States("site", "site", SITE, last, imported.site, Entry(sources.site, SITE, ())))
    for kind in FILES:
        _merge_list(merge, kind)
    SeriesMerge(merge).merge_all(imported.slugs_in_catalog(unavailable.series(lost)))
    if imported.accounts:
        AccountMerge(merge, imported.accounts).merge_all()
    plan.names = {kind: _names(merge, kind) for kind in FILES}
    plan.changes += list(_renamed_references(merge))
    return plan


# The lists of people, categories, groups and members


def _merge_list(merge: Merge, kind: str) -> None:
    here = {entry.record.id: entry for entry in merge.sources.lists[FILES[kind]]}
    last, site = merge.last_of(kind), merge.imported.lists.get(kind, {})
    words = {str(word).casefold(): id for id, entry in here.items() for word in (id, entry.record.name)}
    for id in (*site, *sorted(here.keys() - site.keys(), key=str)):
        states = States(kind, str(id), f"{kind} {id}", last.get(str(id)), site.get(id), here.get(id))
        if kind == "categories" and states.site and not states.here:
            # Filters match ids and names and ignore case.
            other = words.get(states.site["name"].casefold()) or words.get(id.casefold())
            if other:
                sentence = f"its name or id is that of the category {other} of the catalog, which is used"
                merge.notes.add(sentence, states.label)
                for series in merge.imported.series.values():
                    if id in series.get("categories", ()):
                        series["categories"] = sorted({*series["categories"], other} - {id})
                continue
        elif kind != "categories" and states.site and states.here and states.last is None:
            names = states.here.record.name, states.site["name"]
            if names[0] != names[1]:
                here_name, there = (quoted("name", name) for name in names)
                merge.other_people[kind, id] = f"{states.label}: {here_name} here, {there} there"
        if added := merge.record(states):
            merge.plan.lists.setdefault(kind, []).append(added)


# Series and their chapters


class SeriesMerge:
    """Merges one series after the other with its chapters, whose ids are unique in the catalog."""

    def __init__(self, merge: Merge) -> None:
        self.merge, self.plan, self.notes, self.imported = merge, merge.plan, merge.notes, merge.imported
        self.here = {series.slug: series for series in merge.sources.series}
        self.last = merge.last_of("series")
        self.plan.moves |= self._moves()
        if self.plan.moves:
            renamed_here.move_in_memory(self.plan.moves, merge.last)
            self.last = merge.last_of("series")
        self.by_new_slug = {self.plan.moves.get(slug, slug): series for slug, series in self.here.items()}
        entries = [(slug, entry) for slug, series in self.here.items() for entry in series.chapters]
        # Of all chapters of the catalog.
        self.ids = {entry.record.id for _, entry in entries if entry.record.id}
        # Chapters with an id in series that the site does not have.
        self._holders = {
            entry.record.id: entry
            for slug, entry in entries
            if entry.record.id and slug not in self.imported.series and slug not in self.plan.moves
        }

    def _moves(self) -> dict[str, str]:
        """Return the new slug of each series whose chapter ids the site has under another slug only."""
        owners = {
            entry.record.id: (slug, entry.record.published)
            for slug, series in self.here.items()
            for entry in series.chapters
            if entry.record.id and (slug in self.last or not self.merge.last)
        }
        on_site = self.imported.chapters
        unchanged = {slug for slug in on_site if slug in self.here and self._is_same(slug)}
        moves: dict[str, str] = {}
        for slug in on_site:
            if slug not in unchanged:
                shared = [(owners[chapter["id"]], chapter) for chapter in on_site[slug] if chapter.get("id") in owners]
                # Without the last import, an id alone may be that of another chapter.
                old_slugs = Counter(
                    old
                    for (old, published), chapter in shared
                    if self.merge.last or field_values.instant(chapter["published"]) == published
                )
                # Single chapters move, too: to a series that is the same, or from one.
                old = next((old for old, _ in old_slugs.most_common() if old not in moves.keys() | unchanged), None)
                moves |= {old: slug} if old else {}
        for old, slug in moves.items():
            if slug in self.here and slug not in moves:
                raise FlatpanelError(
                    f"{slug}: the site has chapters of {old} under this slug, and none of this series; nothing was "
                    f"written. Import again later, or give the series {old} this slug and the series {slug} another"
                )
        return moves

    def _is_same(self, slug: str) -> bool:
        """Whether the series that has a slug on the site is the one that has it here."""
        here, there = self.here[slug], self.imported.series[slug]
        ids = {entry.record.id for entry in here.chapters if entry.record.id}
        return not ids.isdisjoint(chapter.get("id") for chapter in self.imported.chapters[slug]) or (
            # Its chapters are hidden, or were uploaded again.
            there.get("title") == self.last.get(slug, {}).get("title", here.entry.record.title)
        )

    def merge_all(self, unavailable: set[str]) -> None:
        """Merge all series, except those of which a response is unavailable now."""
        lower_case = {slug.lower(): slug for slug in self.here if slug not in self.plan.moves}
        only_old = self.imported.slugs_in_catalog(self.imported.only_old)
        for slug, record in self.imported.series.items():
            series = self.by_new_slug.get(slug)
            if series and slug in unavailable:
                continue
            if slug in only_old:
                record |= only_in_v2(self.last.get(slug, {}), record)
            other = lower_case.get(slug.lower(), slug)
            if other != slug and series is None and slug not in self.last:
                self.notes.add(f"differs from {other} only in case; skipped", slug)
                continue
            states = States("series", slug, slug, self.last.get(slug), record, series.entry if series else None)
            if added := self.merge.record(states):
                chapters = self.imported.chapters[slug]
                self.plan.series[slug] = added, [self._with_free_id(chapter, slug) for chapter in chapters]
            elif series:
                self._add_old_slug(series, slug, record)
                self._merge_chapters(slug, series, self.imported.chapters[slug])
        for slug in sorted(unavailable & self.here.keys()):
            self.notes.add("a response of the last import is not available now; kept as it is", slug)
        gone = self.last.keys() & self.here.keys() - unavailable - self.plan.moves.keys() - self.imported.series.keys()
        for slug in sorted(gone):
            self._gone(self.here[slug])
        self._release_old_slugs()

    def _add_old_slug(self, here: SeriesEntry, slug: str, record: Fields) -> None:
        if here.slug != slug:
            old_slugs = dict.fromkeys((*here.entry.record.formerly, here.slug, *record.get("formerly", ())))
            # An old slug that differs only in letter case finds the series anyway.
            used = {other.lower() for other in self.by_new_slug.keys() | self.imported.series.keys()}
            formerly = [old for old in old_slugs if old.lower() not in used]
            if formerly != here.entry.record.formerly:
                value = formerly or None
                self.plan.changes.append(FieldChange(here.entry.file, here.entry.path, "formerly", value))
            self.notes.add(f"has the slug {slug} now; its file is renamed", here.slug)

    def _release_old_slugs(self) -> None:
        """Remove the old slugs of series that another series of the site has now."""
        used = {slug.lower() for slug in (*self.plan.series, *self.plan.moves.values())}
        planned = {change.file for change in self.plan.changes if change.name == "formerly"}
        planned |= {removal.file for removal in self.plan.removals if not removal.path}
        for slug, series in self.here.items():
            entry, formerly = series.entry, series.entry.record.formerly
            kept = [old for old in formerly if old.lower() not in used]
            if kept != formerly and entry.file not in planned:
                self.plan.changes.append(FieldChange(entry.file, entry.path, "formerly", kept or None))
                lost = ", ".join(old for old in formerly if old not in kept)
                self.notes.add(f"the site has another series with its old slug {lost}; removed from formerly", slug)

    def _gone(self, series: SeriesEntry) -> None:
        """Remove or note a series with all of its files."""
        last, slug = self.merge.last_of(chapters_of(series.slug)), series.slug
        is_edited = self.merge.is_edited(series.entry.record, self.last[slug]) or any(
            self.merge.is_edited(entry.record, last.get(_name_in(last, entry.record))) for entry in series.chapters
        )
        files = sorted({entry.file for entry in (series.entry, *series.chapters)})
        self.merge.gone(f"series {slug}", [Removal(file) for file in files], is_edited=is_edited)

    def _merge_chapters(self, slug: str, series: SeriesEntry, chapters: list[Fields]) -> None:
        """Merge the chapters of the series that has this slug on the site."""
        kind = chapters_of(slug)
        last = self.merge.last_of(kind)
        matched = dict(_matched(series, chapters))
        has_new_names, without_ids = False, dict[int, Fields]()
        for index, chapter in enumerate(chapters):
            here, label = matched.get(index), f"{slug} chapter {chapter['number']}"
            name = before = key(chapter)
            if "id" not in last.get(name, {}):
                before = _name_in(last, here.record if here else None, name)
            if "id" not in chapter and name != before:
                # Only older versions show it now: it stays in the last import under the name with its id.
                name = before
                without_ids[index] = {field: last[name][field] for field in _ONLY_NEW & last[name].keys()} | chapter
            states = States(kind, name, label, last.get(before), chapter, here)
            if here and (of_both := self._with_usable_id(states, here.record.id, chapter, slug)):
                self.merge.record(of_both)
                if name != before and before in last:
                    # A field that stays undecided or unwritten is compared with its last value again.
                    last[name], has_new_names = last[before], True
            elif not here and (added := self.merge.record(states)):
                self.plan.chapters.setdefault(slug, []).append(self._with_free_id(added, slug))
        if has_new_names:
            self.merge.last[kind] = last
        if without_ids:
            self.imported.chapters[slug] = [without_ids.get(index, chapter) for index, chapter in enumerate(chapters)]
        if not chapters and self.imported.series[slug].get("licensed"):
            return  # the site hides them
        matched_ids = {id(entry) for entry in matched.values()}
        for entry in series.chapters:
            if id(entry) not in matched_ids:
                name = _name_in(last, entry.record)
                label = f"{slug} chapter {_names_of(entry.record)[0]}"
                self.merge.record(States(kind, name, label, last.get(name), None, entry))

    def _with_usable_id(self, states: States, here: int | None, chapter: Fields, slug: str) -> States | None:
        """Return the states of a chapter that both have, with an id that both can have; None if it stays as it is."""
        there = chapter.get("id")
        if here and there is None:
            # Only older versions show it now: they have neither ids nor views.
            last = states.last and {name: value for name, value in states.last.items() if name in chapter}
            return states._replace(last=last)
        if here and states.last and states.last.get("id") == there:
            # The same chapter as at the last import: only people can have changed its id.
            return states
        if here and here != there and self._is_kept(states, f"{here} here, {there} there"):
            return None
        return states if here == there else states._replace(site=self._with_free_id(chapter, slug))

    def _is_kept(self, states: States, ids: str) -> bool:
        """Return whether a chapter stays that was made again on the site: people edited it here."""
        if states.last is None:
            self.merge.differences.append(f"{states.label}: id: {ids}")
        assert states.here
        if self.merge.choice == "theirs" or not self.merge.is_edited(states.here.record, states.last):
            return False
        self.merge.conflict(states, "id", f"edited here, and made again on the site: conflict: id: {ids}")
        return True

    def _with_free_id(self, chapter: Fields, slug: str) -> Fields:
        """Return a new chapter, without its id if another chapter of the catalog has that."""
        id = chapter.get("id")
        label = f"{slug} {key(chapter)}"
        if id in self.ids:
            self.merge.differences.append(f"{label}: another chapter of the catalog has its id")
            if self.merge.choice == "theirs" and id in self._holders:
                self._move_id(self._holders.pop(id))
                return chapter
            self.notes.add("another chapter of the catalog has its id; imported without id", label)
            self.merge.undecided.append((chapters_of(slug), key(chapter), "id"))
            return {name: value for name, value in chapter.items() if name != "id"}
        self.ids |= {id} if id else set()
        return chapter

    @cached_property
    def _ids_on_site(self) -> set[int]:
        return {chapter.get("id", 0) for chapters in self.imported.chapters.values() for chapter in chapters}

    def _move_id(self, holder: Entry[Chapter]) -> None:
        """Give a chapter of a series that the site does not have another id."""
        new = max(self.ids | self._ids_on_site) + 1
        self.ids.add(new)
        self.plan.changes.append(FieldChange(holder.file, holder.path, "id", new))
        sentence = "the site has another chapter with this id; this one gets a new id"
        self.notes.add(sentence, f"id {holder.record.id}")


# Fields of chapters that the older versions do not have.
_ONLY_NEW = {"id", "views"}


def _names_of(chapter: Chapter) -> list[str]:
    """Return the names that the last import may have used for a chapter of the catalog: its id, volume and number."""
    by_number = key({"volume": chapter.volume, "number": chapter.number})
    return [str(chapter.id), by_number] if chapter.id else [by_number]


def _name_in(last: dict[str, Fields], here: Chapter | None, there: str = "") -> str:
    """Return the name that a chapter has at the last import; `there` is that of now."""
    names = _names_of(here) if here else []
    return next((name for name in names if name in last), there)


def _matched(here: SeriesEntry, chapters: list[Fields]) -> Iterator[tuple[int, Entry[Chapter]]]:
    """Yield the index of each chapter of the site that the catalog has, and its entry.

    It has the same id. Otherwise it has the same volume and number, and an id that the site no longer has: it was made
    again, or one of both has no id.
    """
    by_id = {entry.record.id: entry for entry in here.chapters if entry.record.id}
    site_ids = {chapter["id"] for chapter in chapters if "id" in chapter}
    by_number: dict[tuple[int | None, str], list[Entry[Chapter]]] = {}
    for entry in sorted(here.chapters, key=lambda entry: entry.record.id or 0):
        if entry.record.id not in site_ids:
            by_number.setdefault((entry.record.volume, entry.record.number), []).append(entry)
    for index, chapter in enumerate(chapters):
        if chapter.get("id") in by_id:
            yield index, by_id[chapter["id"]]
        # The older versions show the highest id of the chapters that share a number.
        elif others := by_number.get((chapter.get("volume"), chapter["number"])):
            yield index, others.pop()


# Accounts: fields as everywhere else, API keys one by one. A key that the source lost or that its owner replaced is
# removed here; a key that people added here stays, and a key that they removed does not come back.


class AccountMerge:
    """Merges the accounts of a database, after the series that they bookmark."""

    def __init__(self, merge: Merge, site: ImportedAccounts) -> None:
        self.merge, self.plan, self.notes, self.site = merge, merge.plan, merge.notes, site
        self.here = {entry.record.username: entry for entry in merge.sources.lists[ACCOUNTS]}
        self.last = merge.last_of("accounts")
        keys = merge.sources.lists[KEYS]
        # The owner of each digest in the catalog; "" for a key without an account in accounts.yaml.
        self.owners = {entry.record.sha256: "" for entry in keys}
        self.owners |= {key.sha256: name for name, entry in self.here.items() for key in entry.record.keys}
        self.key_names = {entry.record.name for entry in keys}

    def merge_all(self) -> None:
        renamed = dict(self._renamed())
        for new, old in renamed.items():
            self.last[new] = self.last.pop(old) | {"username": old}
        if renamed:
            self.merge.last["accounts"] = self.last
        here = {series.slug for series in self.merge.sources.series} - self.plan.removed_slugs
        slugs = {self.plan.moves.get(slug, slug) for slug in here} | self.plan.series.keys()
        dropped = 0
        for username, record in self.site.records.items():
            bookmarks = record.get("bookmarks", [])
            record["bookmarks"] = [slug for slug in bookmarks if slug in slugs]
            dropped += len(bookmarks) - len(record["bookmarks"])
            self._merge_account(username, record, self.here.get(username) or self.here.get(renamed.get(username, "")))
        if dropped:
            self.notes.add(f"{counted(dropped, 'bookmark')} of series that are not in the catalog; left out")
        for username in sorted(self.last.keys() & self.here.keys() - self.site.records.keys() - set(renamed.values())):
            self._gone(self.here[username], self.last[username])

    def _renamed(self) -> Iterator[tuple[str, str]]:
        """Yield the new and the old username of each account that has the same API key under another name."""
        for username, record in self.site.records.items():
            if username not in self.here and username not in self.last:
                owners = {self.owners.get(key["sha256"]) for key in record.get("keys", ())}
                for owner in owners & self.last.keys() & self.here.keys() - self.site.records.keys():
                    yield username, str(owner)

    def _merge_account(self, username: str, record: Fields, here: Entry[Account] | None) -> None:
        hidden = {"keys", *(() if self.site.has_personal_data else PERSONAL_DATA)}
        site, last = (
            {name: value for name, value in fields.items() if name not in hidden}
            for fields in (record, self.last.get(username, {}))
        )
        states = States("accounts", username, f"account {username}", last or None, site, here, PERSONAL_DATA)
        if added := self.merge.record(states):
            fields = {name: value for name, value in added.items() if value}
            keys = list(self._added_keys(username, record, set()))
            self.plan.lists.setdefault("accounts", []).append(fields | ({"keys": keys} if keys else {}))
        elif here:
            for key in self.merge.sources.lists[KEYS]:
                if key.record.account == here.record.username != username:
                    self.plan.changes.append(FieldChange(key.file, key.path, "account", username, is_spelled=True))
            self._merge_keys(here, record)

    def _merge_keys(self, here: Entry[Account], record: Fields) -> None:
        last = _digests(self.last.get(record["username"], {}))
        lost, before = last - _digests(record), [key.model_dump() for key in here.record.keys]
        keys = [key for key in before if key["sha256"] not in lost]
        keys += self._added_keys(here.record.username, record, last)
        if keys != before:
            self.plan.changes.append(FieldChange(here.file, here.path, "keys", keys or None, is_spelled=True))

    def _added_keys(self, owner: str, record: Fields, last: set[str]) -> Iterator[Fields]:
        """Yield the keys of an account that the catalog does not have; `last` are those that it had."""
        for stated in record.get("keys", ()):
            digest = stated["sha256"]
            if digest not in last and digest not in self.owners:
                # No key in `keys.yaml` has the name.
                names = (f"{stated['name']} {count}" if count > 1 else stated["name"] for count in count_from(1))
                yield {**stated, "name": next(name for name in names if name not in self.key_names)}
            elif self.owners.get(digest, owner) != owner:
                sentence = "its API key belongs to another account of the catalog, or to none; not changed"
                self.notes.add(sentence, f"account {record['username']}")

    def _gone(self, here: Entry[Account], last: Fields) -> None:
        """Remove or note an account that the source no longer has; if it stays, it loses its imported keys."""
        label = f"account {here.record.username}"
        is_edited = self.merge.is_edited(here.record, last)
        is_removed = self.merge.gone(label, [Removal(here.file, here.path)], is_edited=is_edited)
        if not is_removed and last.get("keys"):
            self.notes.add("inactive or removed on the site; loses its imported API keys", label)
            self._merge_keys(here, {"username": here.record.username})


def _digests(record: Fields) -> set[str]:
    return {key["sha256"] for key in record.get("keys", ())}


# References to renamed entries


def _names(merge: Merge, kind: str) -> dict[Any, str | int]:
    """Return the reference to each id of a list after the merge: the name if it is unique, otherwise the id."""
    plan, file = merge.plan, FILES[kind]
    renamed = {change.path: change.value for change in plan.changes if change.file == file and change.name == "name"}
    removed = {removal.path for removal in plan.removals if removal.file == file}
    names = {
        entry.record.id: renamed.get(entry.path, entry.record.name)
        for entry in merge.sources.lists[file]
        if entry.path not in removed
    }
    names |= {record["id"]: record["name"] for record in plan.lists.get(kind, ())}
    counts = Counter(names.values())
    return {id: name if counts[name] == 1 else id for id, name in names.items()}


def _renamed_references(merge: Merge) -> Iterator[FieldChange]:
    """Yield the changes of references that follow a rename, unless their field changes anyway.

    Other references stay as they are written, and those by id in any case.
    """
    plan, imported = merge.plan, merge.imported
    planned = {(change.file, change.path, change.name) for change in plan.changes}

    def spelled(kind: str, reference: str | int) -> str | int:
        if not isinstance(reference, str):
            return reference
        return plan.names[kind].get(merge.directories[kind].find(reference).id, reference)

    def is_replaced(kind: str, reference: str | int) -> bool:
        return any((kind, entity.id) in merge.other_people for entity in merge.directories[kind].candidates(reference))

    def change(entry: Entry[Any], name: str, value: list[Any]) -> Iterator[FieldChange]:
        if value != getattr(entry.record, name) and (entry.file, entry.path, name) not in planned:
            yield FieldChange(entry.file, entry.path, name, value, is_spelled=True)

    for series in merge.sources.series:
        # A series of the catalog alone loses people that --theirs replaced.
        loses = merge.choice == "theirs" and series.slug not in imported.series
        for kind in ("authors", "artists"):
            references = getattr(series.entry.record, kind)
            kept = [reference for reference in references if not (loses and is_replaced(kind, reference))]
            yield from change(series.entry, kind, [spelled(kind, reference) for reference in kept])
        for chapter in series.chapters:
            yield from change(chapter, "groups", [spelled("groups", group) for group in chapter.record.groups])
    for group in merge.sources.lists[FILES["groups"]]:
        for index, role in enumerate(group.record.members):
            member = spelled("members", role.member)
            if member != role.member and (group.file, group.path, "members") not in planned:
                yield FieldChange(group.file, (*group.path, "members", index), "member", member, is_spelled=True)
    gone = plan.removed_slugs
    for account in merge.sources.lists[ACCOUNTS]:
        slugs = [plan.moves.get(slug, slug) for slug in account.record.bookmarks if slug not in gone]
        yield from change(account, "bookmarks", list(dict.fromkeys(slugs)))
