"""A survey -> one page for the people of a site: whole in itself, it asks nobody for anything and runs nothing.

It may tell of chapters that are not published yet, so it is for those who write the catalog, and not for readers.
"""

import base64
import os.path
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from ... import __version__, encoding, filesystem
from ...catalog import field_values
from ...errors import FlatpanelError
from ...pipeline.removals import Removals
from ...release.changes import KINDS
from ...templating import Templates
from .data import ReportData
from .sizes import total_size

# How every report begins: what begins otherwise is somebody's work.
BEGINNING = b"<!doctype html>\n<!-- A report of Flatpanel -->\n"
# How many scheduled chapters and warnings are shown; who wants more asks `next --all`, or looks at the terminal.
SHOWN = 100
MIB = 1 << 20
_TEMPLATES = Templates(Path(__file__).parent / "templates")
_UNITS = ("B", "KiB", "MiB", "GiB")
# What a catalog holds, and what it is called: first what readers see, then the rest.
_SEEN = {"series": "Series", "chapters": "Chapters", "pages": "Pages"}
_BEHIND = {
    "scheduled": "Scheduled",
    "categories": "Categories",
    "authors": "Authors",
    "artists": "Artists",
    "groups": "Groups",
    "members": "Members",
    "accounts": "Accounts",
}


def render(
    survey: ReportData, release: str, changes: Mapping[str, int], warnings: Sequence[str], removed: Removals
) -> bytes:
    """The whole page."""
    style = (_TEMPLATES.folder / "style.css").read_text(encoding="utf-8")
    told = {
        "policy": content_security_policy(style),
        "style": style,
        "version": __version__,
        "site": urlsplit(survey.base_url).netloc,
        "release": release,
        "as_of": survey.as_of,
        "seen": [(called, survey.counts[name]) for name, called in _SEEN.items()],
        "behind": [(called, survey.counts[name]) for name, called in _BEHIND.items()],
        "warnings": warnings[:SHOWN],
        "removed": removed,
        "more_warnings": len(warnings[SHOWN:]),
        "scheduled": survey.scheduled[:SHOWN],
        "later": survey.scheduled[SHOWN:],
    }
    forms = {
        "size": format_size,
        "iso": field_values.iso,
        "moment": day_and_time,
        "number": format_number,
        "share": bar_length,
        "kinds": KINDS,
    }
    filled = _TEMPLATES.render("page.html", told | forms | _changed(survey, changes) | _weighed(survey))
    return BEGINNING + filled


def content_security_policy(style: str) -> str:
    """What a browser may do with the page: show it, in its own style."""
    digest = base64.b64encode(bytes.fromhex(encoding.sha256(style.encode()))).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"


def write(place: Path, text: bytes) -> None:
    """Write the page with the permissions that the file has, a new one for its owner alone; a link stays one."""
    target = Path(os.path.realpath(place))
    filesystem.write_if_changed(target, text, target.stat().st_mode if target.exists() else 0o600)


def check_path(place: Path, out: Path, others: Iterable[Path]) -> None:
    """Neither overwrite somebody's work, nor be in the way of the build, nor tell servers of what is to come."""
    # `resolve` would raise what is no OSError where links go round in a circle.
    found = Path(os.path.realpath(place))
    if found.is_relative_to(os.path.realpath(out)):
        raise FlatpanelError(f"{place}: lies in {out}, which is copied to servers; a report is for authors only")
    for other in others:
        if found.is_relative_to(os.path.realpath(other)):
            raise FlatpanelError(f"{place}: belongs to {other}; choose another place for the report")
    if not place.exists():
        return
    if not place.is_file():
        raise FlatpanelError(f"{place}: is not a file; choose another place for the report")
    with place.open("rb") as opened:
        if opened.read(len(BEGINNING)) not in (b"", BEGINNING):
            raise FlatpanelError(f"{place}: is not a report that a build wrote; choose another place for this one")


def _changed(survey: ReportData, changes: Mapping[str, int]) -> dict[str, object]:
    news, kinds = survey.news, (*KINDS, "unchanged")
    return {
        "changes": [(kind, changes[kind]) for kind in kinds],
        "bar_of_changes": bar_parts([(kind, changes[kind]) for kind in kinds]),
        "anything": any(changes[kind] for kind in KINDS),
        # What a person changed comes first; lists change with it.
        "told": sorted(news.listed, key=lambda one: (not one.slug, one.slug)),
        "others": news.other_series,
        "untold": [(kind, news.other_counts[kind]) for kind in KINDS if news.other_counts[kind]],
    }


def _weighed(survey: ReportData) -> dict[str, object]:
    sizes = survey.sizes
    families = [(family, total_size(found.values()), found) for family, found in sizes.families().items()]
    return {
        "whole": sizes.total,
        "families": families,
        "heaviest": max(one.size for _, _, found in families for one in found.values()),
        "biggest": sizes.biggest,
        "budget": survey.body_budget * MIB,
        "longest": max([survey.body_budget * MIB, *(one.size for one in sizes.biggest)]),
    }


def bar_parts(counts: Sequence[tuple[str, int]]) -> list[tuple[str, float, float]]:
    """Parts of a bar of the length 100, side by side: what each is, where it begins, how long it is."""
    whole, before, found = sum(count for _, count in counts), 0.0, []
    for kind, count in counts:
        length = bar_length(count, whole)
        found.append((kind, before, length))
        before = round(before + length, 2)
    return found


def bar_length(part: int, whole: int) -> float:
    """How much of 100 it is; what is there at all can be seen."""
    return max(round(100 * part / whole, 2), 0.6) if part else 0.0


def format_size(count: int) -> str:
    """Bytes as people say them, in three digits where there is a unit for it."""
    scaled, power = float(count), 0
    while scaled >= 999.5 and power < len(_UNITS) - 1:
        scaled, power = scaled / 1024, power + 1
    return f"{scaled:,.{1 if power and scaled < 99.95 else 0}f} {_UNITS[power]}"


def format_number(count: int) -> str:
    return f"{count:,}"


def day_and_time(seconds: int) -> tuple[str, str]:
    """The day and the time of an instant as people read them; with seconds only where there are some."""
    day, _, clock = field_values.iso(seconds).rstrip("Z").partition("T")
    return day, f"{clock.removesuffix(':00')} UTC"
