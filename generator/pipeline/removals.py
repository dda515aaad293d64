"""Series, chapters, people and groups that the release before published and this catalog no longer publishes.

A series that becomes licensed or restricted is still published. So is a chapter with an id that gets another number or
moves to another series. A series is also published under another slug, if that one's file has the old slug.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from .. import encoding
from ..catalog.layout import SeriesFiles
from ..errors import FlatpanelError, counted
from ..release import manifest_reader
from ..release.manifest import Published
from ..release.manifest_reader import ChapterNames, ManifestReader
from .cache import Cache

if TYPE_CHECKING:
    from .scan import CatalogScan

# The number of series, and of chapters, that are listed by name.
MAX_LISTED = 20
# Fewer removals than this are allowed at every percentage.
MIN_REFUSED = 3
_ENTITY = re.compile(rb'"/api/v2/(author|artist|group|member)s/(\d+)":\{')


@dataclass(slots=True)
class Removals:
    """The series, chapters, people and groups that are no longer published."""

    # The number of removed chapters by the slug of each removed series.
    series: dict[str, int] = field(default_factory=dict)
    # Removed chapters of other series: series/volume/number, or series and id.
    chapters: list[str] = field(default_factory=list)
    # For each removed series whose chapters another one has: the advice to add its slug to that one's file.
    advice: dict[str, str] = field(default_factory=dict)
    # Removed people and groups by kind (author, artist, group, member): the id of each, with its public name or "".
    people: dict[str, dict[int, str]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        return {"series": len(self.series), "chapters": len(self.chapters) + sum(self.series.values())}

    def __bool__(self) -> bool:
        return bool(self.series or self.chapters or self.people)

    def plain(self) -> dict[str, object]:
        """The removals as JSON."""
        series = [{"series": slug, "chapters": count} for slug, count in islice(self.series.items(), MAX_LISTED)]
        advice = [self.advice[slug] for slug in islice(self.advice, MAX_LISTED)]
        plain: dict[str, object] = {"counts": self.counts, "series": series, "chapters": self.chapters[:MAX_LISTED]}
        plain |= {f"{kind}s": list(names)[:MAX_LISTED] for kind, names in self.people.items()}
        return plain | ({"advice": advice} if advice else {})

    def lines(self) -> list[str]:
        """The first removals by name, and the number of all others."""
        series = islice(self.series.items(), MAX_LISTED)
        lines = [f"  {slug}, with {counted(count, 'chapter')}" for slug, count in series]
        lines += [f"  {chapter}" for chapter in self.chapters[:MAX_LISTED]]
        for kind, names in self.people.items():
            lines += [f"  {f'{kind} {name}'.rstrip()}, id {id}" for id, name in islice(names.items(), MAX_LISTED)]
        more = len(self.series) + len(self.chapters) + sum(map(len, self.people.values())) - len(lines)
        advice = [f"  {text}" for text in islice(self.advice.values(), MAX_LISTED)]
        return [*lines, *([f"  and {more} more"] if more else []), *advice]

    @property
    def sentence(self) -> str:
        counts = self.counts
        parts = [counted(counts["series"], "series"), counted(counts["chapters"], "chapter")]
        parts = [
            *(parts if any(counts.values()) else ()),
            *(counted(len(names), kind) for kind, names in self.people.items()),
        ]
        return ", ".join(parts[:-1]) + " and " * bool(parts[1:]) + parts[-1]


class TooManyRemoved(FlatpanelError):
    """More series and chapters were removed than `--max-removed` allows. Nothing was written."""


class _PublishedNow(NamedTuple):
    """The chapters of a series that the catalog publishes."""

    ids: set[int | None]
    numbers: set[tuple[str, str]]


class _MissingChapter(NamedTuple):
    """A chapter of a release that its series no longer has, and its id where that is certain."""

    name: str
    id: int | None


def checked_removals(
    scan: "CatalogScan",
    cache: Cache,
    before: ManifestReader,
    series_files: Iterable[SeriesFiles],
    max_removed: int | None,
) -> Removals:
    """Return what the release `before` publishes and the catalog does not publish any more.

    Of the series in the catalog, only `series_files` are compared: the others are unchanged. Raises if more than
    `max_removed` percent of the series and chapters of the release are removed; None allows all.

    Example: the release has the series `tides` with chapters 0/1 and 0/2, and `ferry` with chapters 1/1 and 1/2, whose
    ids are 4 and 5. In the catalog, `tides` has no chapter 0/2, there is no file of `ferry`, and `night-ferry` has the
    chapter with id 5. The removals are:

    - `chapters`: `tides/0/2`
    - `series`: `ferry` with 1 chapter, 1/1. Chapter 1/2 is not removed: it moved to `night-ferry`.
    - `advice` for `ferry`: if it was renamed, write `formerly: [ferry]` into the file of `night-ferry`. With this line,
      `ferry` would count as present, and chapter 1/1 would be among the `chapters`.
    """
    present = {files.slug: files for files in scan.series_files}
    # The files of each old slug whose series has another one now.
    renamed = {old: present[slug] for slug, facts in scan.facts.items() for old in facts.formerly}
    compared = {files.slug: files for files in series_files}
    missing: dict[str, list[_MissingChapter]] = {}
    for slug in before.segments:
        is_unchanged = slug in present and slug not in compared
        if slug and not is_unchanged:
            files = compared.get(slug) or renamed.get(slug)
            now = _published_now(scan, cache, files) if files else _PublishedNow(set(), set())
            missing[slug] = list(_missing(slug, manifest_reader.chapter_names(before.segment(slug)), now))
    moved = _moved(scan, {chapter.id: slug for slug, chapters in missing.items() for chapter in chapters if chapter.id})
    result = Removals(people=_removed_people(scan, before))
    for slug, chapters in missing.items():
        removed = [chapter.name for chapter in chapters if chapter.id not in moved]
        if slug in present or slug in renamed:
            result.chapters += removed
        else:
            result.series[slug] = len(removed)
            if advice := _advice(scan, slug, [moved.get(chapter.id) for chapter in chapters]):
                result.advice[slug] = advice
    _refuse(result, before, max_removed, str(scan.folder))
    return result


def _removed_people(scan: "CatalogScan", before: ManifestReader) -> dict[str, dict[int, str]]:
    linker, removed = scan.linker, dict[str, dict[int, str]]()
    people = {"author": linker.authors.by_id.keys(), "artist": linker.artists.by_id.keys()}
    present = people | {"group": linker.groups.by_id.keys(), "member": linker.members.by_id.keys()}
    for match in _ENTITY.finditer(before.segment("")):
        kind, id = match[1].decode(), int(match[2])
        if id not in present[kind]:
            removed.setdefault(kind, {})[id] = ""
    bodies = before.bodies("") if removed else {}
    for kind, names in removed.items():
        for id in islice(names, MAX_LISTED):
            names[id] = _public_name(before, bodies[f"/api/v2/{kind}s/{id}"])
    return removed


def _public_name(before: ManifestReader, body: Published) -> str:
    """The name in a body of the release before; "" if it needs an API key, or is not beside the manifest."""
    if body.restricted:
        return ""
    folder = before.folder.resolve()
    # Bodies are below `dist`, or beside a manifest that was copied elsewhere.
    root = folder.parents[1] if folder.parent.name == "releases" else folder
    with suppress(OSError, ValueError):
        return str(encoding.parse((root / body.file).read_bytes())["name"])
    return ""


def _refuse(result: Removals, before: ManifestReader, max_removed: int | None, catalog: str) -> None:
    count = sum(result.counts.values())
    if max_removed is None or count < MIN_REFUSED:
        return
    total = sum(1 + chapters.total for _, chapters in manifest_reader.chapter_names_by_series(before))
    if count * 100 > max_removed * total:
        raise TooManyRemoved(
            f"{catalog}: {result.sentence} would no longer be published: {100 * count / total:.1f} % of the release "
            f"before, and --max-removed allows {max_removed} %; nothing was written",
            *result.lines(),
            "restore them, or allow it with a higher --max-removed",
        )


def _published_now(scan: "CatalogScan", cache: Cache, files: SeriesFiles) -> _PublishedNow:
    records = (entry.record for entry in scan.series_of(files, cache).chapters)
    chapters = [chapter for chapter in records if chapter.published <= scan.shown_until]
    return _PublishedNow(
        {chapter.id for chapter in chapters}, {(str(chapter.volume or 0), chapter.number) for chapter in chapters}
    )


def _missing(slug: str, chapters: ChapterNames, now: _PublishedNow) -> Iterator[_MissingChapter]:
    """Yield the chapters of a release that a series no longer has."""
    numbers, ids = chapters
    if len(ids) == len(numbers):
        for (volume, number), chapter in zip(numbers, ids, strict=True):
            if chapter not in now.ids and (volume, number) not in now.numbers:
                yield _MissingChapter(f"{slug}/{volume}/{number}", chapter)
    elif len(numbers) > len(ids):  # some chapters have no id, and it is uncertain which ones
        for volume, number in numbers:
            if (volume, number) not in now.numbers:
                yield _MissingChapter(f"{slug}/{volume}/{number}", None)
    else:  # there are no numbers, or it is uncertain which chapters share one
        for chapter in ids:
            if chapter not in now.ids:
                yield _MissingChapter(f"{slug}, id {chapter}", chapter)


def _moved(scan: "CatalogScan", series_before: Mapping[int, str]) -> dict[int | None, str]:
    """Those of the chapter ids that another series has now, each with that series' slug."""
    series = scan.facts.items() if series_before else ()
    return {number: slug for slug, facts in series for number in facts.ids if series_before.get(number, slug) != slug}


def _advice(scan: "CatalogScan", slug: str, now: Iterable[str | None]) -> str:
    """The line that makes an old slug redirect to the series that has most of its chapters now; "" if none has."""
    # Imported here: the results of all builds have removals, and few have advice.
    from ..catalog.yaml import writer

    counts = Counter(filter(None, now)).most_common(1)
    if not counts:
        return ""
    heir, count = counts[0]
    (file,) = (files.file for files in scan.series_files if files.slug == heir)
    heritage = f"{file} has {counted(count, 'chapter')} of {slug}"
    formerly = chain.from_iterable(facts.formerly for facts in scan.facts.values())
    if similar := [other for other in (*scan.facts, *formerly) if other != slug and other.lower() == slug.lower()]:
        return f"{heritage}; the old URLs cannot redirect: the slug {similar[0]} differs from {slug} only in case"
    line = f"formerly: {writer.inline([*scan.facts[heir].formerly, slug])}"
    return f"{heritage}; if only the slug changed, write there: {line}"
