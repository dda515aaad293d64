"""The report of `media check` and `media fetch`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from .. import installation
from ..media import findings_report
from ..media.folder_check import Finding
from .output import print_json, print_lines
from .reporting import EXIT_PROBLEMS

# Headings of findings that need more than the name of their kind.
_LABELS = {
    "moved": "moved, with their place in the folder (--moves prints the commands that mend it)",
    "other format": "of another format than their extension states; sent with the wrong type",
    "extra": "extra: images that the catalog does not name",
    "no image": "no image: not served",
    "link": "link: not followed",
    "request": "to request",
}
SIZES_WRITTEN = "sizes.yaml: {:,} chapters with sizes of pages"


def not_measured() -> str:
    return f"sizes: not measured, which needs the library imagesize; install it: {installation.how_to_add('imagesize')}"


@dataclass(frozen=True, slots=True)
class MediaReport:
    """The result of a command: a line, the findings, and more facts for JSON or lines for people."""

    summary: str
    findings: Sequence[Finding]
    facts: Mapping[str, object]
    ok: bool
    more: Sequence[str] = ()


def print_report(report: MediaReport, as_json: bool, shows_all: bool) -> None:
    if as_json:
        print_json({"ok": report.ok, **report.facts, "findings": [asdict(finding) for finding in report.findings]})
    else:
        print_lines(report.summary)
        print_findings(report.findings, shows_all)
        print_lines(*report.more)
    if not report.ok:
        raise SystemExit(EXIT_PROBLEMS)


def print_findings(findings: Sequence[Finding], shows_all: bool) -> None:
    print_lines(*findings_report.lines(findings, _LABELS, shows_all=shows_all))
