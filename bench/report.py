"""Writes measurements as tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal


@dataclass(frozen=True)
class Figure:
    """A measured number and its target."""

    name: str
    measured: float
    side: Literal["≤", "≥"]
    limit: float
    unit: str = ""

    @property
    def met(self) -> bool:
        return self.measured <= self.limit if self.side == "≤" else self.measured >= self.limit


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


def ratio(above: Iterable[float], below: Iterable[float]) -> float:
    """The median of the ratios of all rounds: a slow minute affects one round only."""
    return median(one / other for one, other in zip(above, below, strict=True))


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
        "| figure | measured | target | |",
        "|---|---|---|---|",
        *(
            f"| {one.name} | {shown(one.measured, one.unit)} | {one.side} {shown(one.limit, one.unit)} "
            f"| {'met' if one.met else '**missed**'} |"
            for one in figures
        ),
    ]


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
