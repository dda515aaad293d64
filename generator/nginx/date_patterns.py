"""Patterns by which nginx maps turn the three forms of HTTP dates into fourteen digits and compare two dates.

An nginx configuration has no arithmetic. Numbers with equally many digits compare like texts.
"""

from collections.abc import Iterator

from .. import encoding

_MONTH = "|".join(encoding.MONTHS)
_DAY = f"(?:{'|'.join(encoding.DAYS)})"
_LONG_DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_SHORT_MONTH = "(?:Apr|Jun|Sep|Nov)"
_BY_FOUR = "(?:[02468][048]|[13579][26])"
_LEAP_YEAR = rf"(?:\d\d(?!00){_BY_FOUR}|{_BY_FOUR}00)"

# Matches "A B", both of fourteen digits, if A <= B: they are equal, or at the first difference A's digit is less.
NOT_AFTER = (
    r"^(?:(\d{14}) \g{1}|(\d*)(?:" + "|".join(rf"{digit}\d* \g{{2}}[{digit + 1}-9]" for digit in range(9)) + r")\d*)$"
)


def lines(name: str) -> Iterator[tuple[str, str]]:
    """Pattern and value of each line of the map from a date to its digits; the names of captures begin with `name`."""

    def digits(*parts: str) -> str:
        return "".join(part if part.isdigit() else f"${{{name}_{part}}}" for part in parts)

    clock = rf"(?<{name}_h>[01]\d|2[0-3]):(?<{name}_i>[0-5]\d):(?<{name}_s>[0-5]\d|60)"
    day, month, year = rf"(?<{name}_d>\d\d)", rf"(?<{name}_b>{_MONTH})", rf"(?<{name}_y>\d{{4}})"

    exists = rf"(?!00|3[2-9]|[4-9]|3[01] Feb|31 {_SHORT_MONTH}|29 Feb (?!{_LEAP_YEAR}))"
    yield rf"^{_DAY}, {exists}{day} {month} {year} {clock} GMT$", digits("y", "month", "d", "h", "i", "s")

    exists = rf"(?!00|3[2-9]|[4-9]|3[01]-Feb|31-{_SHORT_MONTH}|29-Feb-(?!{_BY_FOUR}))"
    dashed = rf"{day}-{month}-(?<{name}_yy>\d\d)"
    yield rf"^{_LONG_DAY}, {exists}{dashed} {clock} GMT$", digits("century", "yy", "month", "d", "h", "i", "s")

    exists = rf"(?!Feb 3|{_SHORT_MONTH} 31|Feb 29 \S+ (?!{_LEAP_YEAR}))"
    single, double = rf" (?<{name}_d>[1-9])", rf"(?<{name}_d>[12]\d|3[01])"
    yield rf"^{_DAY} {exists}{month} {single} {clock} {year}$", digits("y", "month", "0", "d", "h", "i", "s")
    yield rf"^{_DAY} {exists}{month} {double} {clock} {year}$", digits("y", "month", "d", "h", "i", "s")
