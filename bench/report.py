"""Writes measurements as tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Literal


@dataclass(frozen=True)
class Figure:
    """A number that was measured in each round, and the target of its median; None without a target."""

    name: str
    values: Sequence[float]
    side: Literal["≤", "≥"] = "≥"
    limit: float | None = None
    unit: str = ""

    @property
    def measured(self) -> float:
        return median(self.values)

    @property
    def met(self) -> bool:
        limit = self.measured if self.limit is None else self.limit
        return self.measured <= limit if self.side == "≤" else self.measured >= limit


@dataclass(frozen=True)
class Series:
    """The measurements of one value, one per round."""

    name: str
    values: Sequence[float]
    unit: str


@dataclass
class Findings:
    """The results of one part of the bench."""

    figures: list[Figure] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add(self, other: "Findings") -> None:
        self.figures += other.figures
        self.series += other.series
        self.remarks += other.remarks


def ratios(above: Iterable[float], below: Iterable[float]) -> list[float]:
    """The ratio of each round: a slow minute affects one round only."""
    return [one / other for one, other in zip(above, below, strict=True)]


def markdown(heading: Sequence[str], findings: Findings) -> str:
    return "\n".join(
        [
            "# Results",
            "",
            *heading,
            "",
            *figures_table(findings.figures),
            "",
            *(f"- {one}" for one in findings.remarks),
            "",
            "## Measurements",
            "",
            *series_table(findings.series),
            "",
        ]
    )


def figures_table(figures: Iterable[Figure]) -> list[str]:
    return [
        "| figure | median | rounds | target | |",
        "|---|---|---|---|---|",
        *(f"| {one.name} | {shown(one.measured, one.unit)} | {spread(one)} | {target(one)} |" for one in figures),
    ]


def spread(figure: Figure) -> str:
    """The least and the largest value of all rounds."""
    least, most = (shown(of(figure.values), figure.unit) for of in (min, max))
    return least if least == most else f"{least} – {most}"


def target(figure: Figure) -> str:
    if figure.limit is None:
        return "none | "
    return f"{figure.side} {shown(figure.limit, figure.unit)} | {'met' if figure.met else '**missed**'}"


def series_table(series: Iterable[Series]) -> list[str]:
    return [
        "| | median | least | most |",
        "|---|---|---|---|",
        *(
            f"| {one.name} | " + " | ".join(shown(of(one.values), one.unit) for of in (median, min, max)) + " |"
            for one in series
        ),
    ]


def shown(value: float, unit: str) -> str:
    """Three significant digits; all digits of numbers from 100 on."""
    number = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{number} {unit}".rstrip()


# The section that another run writes; it is the last one.
SCALE = "## Scale\n"


def replace_section(results: Path, text: str) -> None:
    """Replace the last section of a file of results."""
    before = results.read_text(encoding="utf-8") if results.is_file() else ""
    results.write_text(before.partition(SCALE)[0] + text, encoding="utf-8")


def keep_section(results: Path, text: str) -> str:
    """A new text for a file of results, with the last section that the file has."""
    before = results.read_text(encoding="utf-8") if results.is_file() else ""
    _, heading, section = before.partition(SCALE)
    return f"{text}\n{heading}{section}" if heading else text
