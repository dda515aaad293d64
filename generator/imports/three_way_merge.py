"""Three-way merge of the site's records, those of the last import, and the catalog -> a plan of what to write.

Each field has three values. If people left it as the last import wrote it, the site's value replaces it. If only people
changed it, theirs stays. If both changed it, theirs stays and a note lists the conflict, unless an option decides it.
"""

from collections import Counter
from itertools import chain

from ..catalog import field_values
from ..catalog.reader import Entry, SeriesEntry
from ..errors import FlatpanelError
from ..reading_sites.lenient import Fields
from . import unavailable
from .last_imports import lost_paths
from .merge_accounts import AccountMerge
from .merge_chapters import ChapterMerge, key, last_record
from .merge_fields import REMOVED_HERE, RenamedReferences, compare, gone, is_edited, merge_list, names_after
from .merge_plan import FILES, FieldChange, MergeState, Place, Plan, Removal, chapters_of

# Differences that a refusal names.
_NAMED = 12


class Merge:
    """Compares an import with a valid catalog, or with none."""

    def __init__(self, state: MergeState) -> None:
        self.state, self.sources, self.imported = state, state.sources, state.imported
        self.lost = lost_paths(state.imported, state.last)
        self.unavailable = unavailable.series(self.lost)
        self.last_series = state.last_of("series")

    def merged(self) -> Plan:
        plan = self.state.plan
        if self.sources.site is None:
            plan.site = self.imported.site
        elif self.imported.site and not self.lost:
            entry = Entry(self.sources.site, "site.yaml", ())
            last = self.state.last_of("site").get("site")
            compare(self.state, entry, self.imported.site, last, Place(("site", "site"), "site.yaml"))
        for kind in FILES:
            merge_list(self.state, kind)
        self._series()
        if self.imported.accounts:
            AccountMerge(self.state).merge()
        plan.names = names_after(self.state)
        RenamedReferences(self.state).follow()
        return plan

    def _series(self) -> None:
        here = {series.slug: series for series in self.sources.series}
        self.state.plan.moves = self._moves(here)
        self._move_memory()
        by_new_slug = {new: here[old] for old, new in self.state.plan.moves.items()}
        lower_case = {slug.lower(): slug for slug in here if slug not in self.state.plan.moves}
        chapters = ChapterMerge(self.state)
        for slug, record in self.imported.series.items():
            if slug in here and slug in self.unavailable:
                continue
            if entry := here.get(slug) or by_new_slug.get(slug):
                self._compare_series(slug, entry, record)
                chapters.merge(slug, entry, self.imported.chapters[slug])
            elif slug in self.last_series:
                self.state.notes.add(REMOVED_HERE, slug)
            elif slug.lower() in lower_case:
                self.state.notes.add(f"differs from {lower_case[slug.lower()]} only in case; skipped", slug)
            else:
                added = [chapters.with_free_id(chapter, slug) for chapter in self.imported.chapters[slug]]
                self.state.plan.series[slug] = record, added
        for slug in sorted(self.unavailable & here.keys()):
            self.state.notes.add("a response of the last import is not available now; kept as it is", slug)
        self._gone(here)

    def _compare_series(self, slug: str, here: SeriesEntry, record: Fields) -> None:
        compare(self.state, here.entry, record, self.last_series.get(slug), Place(("series", slug), slug))
        if here.slug != slug:
            old_slugs = dict.fromkeys((*here.entry.record.formerly, here.slug, *record.get("formerly", ())))
            formerly = [old for old in old_slugs if old != slug]
            change = FieldChange(here.entry.file, here.entry.path, "formerly", formerly, is_spelled=True)
            self.state.plan.changes.append(change)
            self.state.notes.add(f"has the slug {slug} now; its file is renamed", here.slug)

    def _moves(self, here: dict[str, SeriesEntry]) -> dict[str, str]:
        """Return the new slug of each series whose chapter ids the site has under another slug."""
        last = self.last_series
        owners = {
            entry.record.id: (slug, entry.record.published)
            for slug, series in here.items()
            for entry in series.chapters
            if slug not in self.imported.series and (slug in last or not self.state.last)
        }
        moves: dict[str, str] = {}
        for slug in self.imported.chapters:
            if slug in here or slug in last:
                continue
            chapters = self.imported.chapters[slug]
            shared = [(owners[chapter["id"]], chapter) for chapter in chapters if chapter.get("id") in owners]
            # Without the last import, an id alone may be that of another chapter.
            old_slugs = Counter(
                old
                for (old, published), chapter in shared
                if self.state.last or field_values.instant(chapter["published"]) == published
            )
            old = next((old for old, _ in old_slugs.most_common() if old not in moves), None)
            moves |= {old: slug} if old else {}
        return moves

    def _move_memory(self) -> None:
        """Move what the last import saved about a series to its new slug."""
        last = self.state.last
        for old, new in self.state.plan.moves.items():
            if old in self.last_series:
                self.last_series[new] = self.last_series.pop(old)
            if chapters_of(old) in last:
                last[chapters_of(new)] = last.pop(chapters_of(old))
        if last:
            last["series"] = self.last_series

    def _gone(self, here: dict[str, SeriesEntry]) -> None:
        """Remove or note the series that the site had at the last import and has no longer."""
        last = self.last_series
        for slug in sorted(last.keys() & here.keys() - self.unavailable - self.state.plan.moves.keys()):
            if slug not in self.imported.series:
                series, records = here[slug], self.state.last_of(chapters_of(slug))
                edited = is_edited(self.state, series.entry.record, last[slug]) or any(
                    is_edited(self.state, entry.record, last_record(records, entry.record)) for entry in series.chapters
                )
                files = sorted({entry.file for entry in (series.entry, *series.chapters)})
                gone(self.state, [Removal(file) for file in files], f"series {slug}", is_edited=edited)


def refuse_differences(state: MergeState, place: str) -> None:
    """Refuse an undecided import into a catalog of other people, or whose last import is unknown and that differs.

    Without the last import, an entry that the catalog lacks may be new on the site or removed here.
    """
    if state.choice:
        return
    people, differences = list(state.other_people.values()), []
    if not state.last:
        names = {f"{person.partition(':')[0]}: name" for person in people}
        differences = [text for text in state.differences if ": ".join(text.split(": ")[:2]) not in names]
        if {series.slug for series in state.sources.series} & state.imported.series.keys():
            differences += [f"{slug}: on the site, not here" for slug in state.plan.series]
        differences += [f"{old}: has the slug {new} on the site" for old, new in state.plan.moves.items()]
    if not people and not differences:
        return
    fault = "ids name other people here than on the site" if people else "the site and the catalog differ"
    unknown = "" if state.last else "its last import from this site is unknown, and "
    lines = [*people, *differences]
    more = [f"  and {len(lines) - _NAMED} more"] if len(lines) > _NAMED else []
    raise FlatpanelError(
        f"{place}: {unknown}{fault}; nothing was written",
        *(f"  {line}" for line in lines[:_NAMED]),
        *more,
        "--mine keeps the values of the catalog and adds what is missing, --theirs takes those of the site; "
        "if an id is of two people, first give yours another id",
    )


def refuse_missing_ids(state: MergeState, place: str) -> None:
    """Refuse to add chapters that the site shows without ids: apps recognise a chapter by its id.

    The chapters of a licensed series are an exception: the version with ids does not show them.
    """
    plan, counts = state.plan, Counter[str]()
    for slug, chapters in chain(((slug, added) for slug, (_, added) in plan.series.items()), plan.chapters.items()):
        without = {key(chapter) for chapter in chapters if "id" not in chapter}
        if without and not state.imported.series[slug].get("licensed"):
            # Others lost their id to another chapter of the catalog; they have a note.
            counts[slug] += sum(key(chapter) in without for chapter in state.imported.chapters[slug])
    lines = [f"  {slug}: {count} chapters" for slug, count in counts.items() if count]
    if lines:
        more = [f"  and {len(lines) - _NAMED} more series"] if len(lines) > _NAMED else []
        raise FlatpanelError(
            f"{place}: {counts.total()} chapters have no id in any response, and apps recognise a chapter by its id; "
            "nothing was written",
            *lines[:_NAMED],
            *more,
            "pass the database of the site (--from-database), which has the ids, or an API key (--key-file) if "
            "/api/v2 needs one; --allow-missing-ids imports without ids, and `python build.py ids` assigns new ones",
        )
