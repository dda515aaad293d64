"""Render the report as one HTML page without scripts. It loads nothing but the covers of changed series.

It may list unpublished chapters, so it is for the authors of the catalog only.
"""

import base64
import os.path
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from ... import __version__, encoding, filesystem
from ...catalog import field_values
from ...errors import FlatpanelError
from ...pipeline.removals import Removals
from ...release.changes import KINDS
from ...templating import Templates
from .data import ReportData, total_size

# The first bytes of every report. A file that begins otherwise is not overwritten.
BEGINNING = b"<!doctype html>\n<!-- A report of Flatpanel -->\n"
# Maximum number of scheduled chapters and of warnings; `next --all` and the terminal show all.
MAX_LISTED = 100
MIB = 1 << 20
# A cover whose host a Content-Security-Policy can name. Browsers load no image with a user name in its URL.
_COVER = re.compile(r"(https?://[-A-Za-z0-9._]+(?::[0-9]+)?)(?:[/?#]\S*)?")
_TEMPLATES = Templates(Path(__file__).parent / "templates")
_UNITS = ("B", "KiB", "MiB", "GiB")
# Labels of the counts: large figures, then the others.
_MAIN_LABELS = {"series": "Series", "chapters": "Chapters", "pages": "Pages"}
_OTHER_LABELS = {
    "scheduled": "Scheduled",
    "categories": "Categories",
    "authors": "Authors",
    "artists": "Artists",
    "groups": "Groups",
    "members": "Members",
    "accounts": "Accounts",
}


def render(
    data: ReportData, release: str, changes: Mapping[str, int], warnings: Sequence[str], removed: Removals
) -> bytes:
    style = (_TEMPLATES.folder / "style.css").read_text(encoding="utf-8")
    covers = (data.details_of(series).cover for series in data.changes.listed)
    changes_by_kind = [(kind, changes[kind]) for kind in (*KINDS, "unchanged")]
    others, sizes = data.changes.other_counts, data.sizes
    versions = [(version, total_size(totals.values()), totals) for version, totals in sizes.by_version().items()]
    values = {
        "policy": content_security_policy(style, map(cover_host, covers)),
        "style": style,
        "version": __version__,
        "site": urlsplit(data.base_url).netloc,
        "release": release,
        "as_of": data.as_of,
        "main_counts": [(label, data.counts[name]) for name, label in _MAIN_LABELS.items()],
        "other_counts": [(label, data.counts[name]) for name, label in _OTHER_LABELS.items()],
        "warnings": warnings[:MAX_LISTED],
        "removed": removed,
        "more_warnings": len(warnings[MAX_LISTED:]),
        "scheduled": data.scheduled[:MAX_LISTED],
        "later": data.scheduled[MAX_LISTED:],
        "changes": changes_by_kind,
        "bar_of_changes": bar_parts(changes_by_kind),
        "has_changes": any(changes[kind] for kind in KINDS),
        # Series first: the changes of lists follow from theirs.
        "listed": sorted(data.changes.listed, key=lambda series: (not series.slug, series.slug)),
        "details_of": data.details_of,
        "more_series": data.changes.other_series,
        "more_changes": [(kind, others[kind]) for kind in KINDS if others[kind]],
        "total": sizes.total,
        "versions": versions,
        "largest_kind": max(total.size for _, _, totals in versions for total in totals.values()),
        "largest": sizes.largest,
        "budget": data.body_budget * MIB,
        "largest_body": max([data.body_budget * MIB, *(body.size for body in sizes.largest)]),
        # Functions of the template.
        "size": format_size,
        "iso": field_values.iso,
        "moment": day_and_time,
        "number": format_number,
        "bar_length": bar_length,
        "cover_host": cover_host,
        "kinds": KINDS,
    }
    return BEGINNING + _TEMPLATES.render("page.html", values)


def content_security_policy(style: str, image_hosts: Iterable[str] = ()) -> str:
    """A policy that allows nothing but the page's own style and icon, and images of these hosts."""
    digest = base64.b64encode(bytes.fromhex(encoding.sha256(style.encode()))).decode()
    images = " ".join(["data:", *sorted(filter(None, set(image_hosts)))])
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src {images}; base-uri 'none'; form-action 'none'"


def cover_host(url: str) -> str:
    """Scheme, host and port of a cover; "" if the page cannot load it."""
    match = _COVER.fullmatch(url)
    return match[1] if match else ""


def write(path: Path, html: bytes) -> None:
    """Write the page. An existing file keeps its permissions, a new one is readable by its owner only."""
    target = Path(os.path.realpath(path))
    filesystem.write_if_changed(target, html, target.stat().st_mode if target.exists() else 0o600)


def check_path(path: Path, out: Path, others: Iterable[Path]) -> None:
    """Refuse a path in the releases, among the build's files, or of a file that is not a report."""
    # Unlike Path.resolve, realpath accepts circular links.
    real_path = Path(os.path.realpath(path))
    if real_path.is_relative_to(os.path.realpath(out)):
        raise FlatpanelError(
            f"{path}: is in {out}, which is copied to servers, but a report lists unpublished chapters;"
            " use another path"
        )
    for other in others:
        if real_path.is_relative_to(os.path.realpath(other)):
            raise FlatpanelError(f"{path}: belongs to {other}; use another path for the report")
    if not path.exists():
        return
    if not path.is_file():
        raise FlatpanelError(f"{path}: is not a file; use another path for the report")
    if not filesystem.begins_with(path, BEGINNING):
        raise FlatpanelError(f"{path}: exists and is not a report; use another path")


def bar_parts(counts: Sequence[tuple[str, int]]) -> list[tuple[str, float, float]]:
    """The parts of a bar of length 100: kind, start and length."""
    total, start, parts = sum(count for _, count in counts), 0.0, []
    for kind, count in counts:
        length = bar_length(count, total)
        parts.append((kind, start, length))
        start = round(start + length, 2)
    return parts


def bar_length(part: int, total: int) -> float:
    """The length of a part in percent, large enough to be visible unless the part is 0."""
    return max(round(100 * part / total, 2), 0.6) if part else 0.0


def format_size(count: int) -> str:
    """A number of bytes in binary units, with three digits where possible."""
    scaled, power = float(count), 0
    while scaled >= 999.5 and power < len(_UNITS) - 1:
        scaled, power = scaled / 1024, power + 1
    return f"{scaled:,.{1 if power and scaled < 99.95 else 0}f} {_UNITS[power]}"


def format_number(count: int) -> str:
    return f"{count:,}"


def day_and_time(seconds: int) -> tuple[str, str]:
    """The day and the time in UTC, with seconds only if they are not 0."""
    day, _, clock = field_values.iso(seconds).rstrip("Z").partition("T")
    return day, f"{clock.removesuffix(':00')} UTC"
