"""Why the order of a list may differ: the original service has no order there, or another documented one."""

import re
from typing import Any
from urllib.parse import parse_qsl

from ....reading_sites.lenient import entries, fields, http_date, text
from ..model import SERIES_LIST, V1, V2, Difference
from .facts import Facts, value_at

FIELDS = "fields of an object are in the documented order"
UNORDERED = "aliases, roles, and the groups of a member have a fixed order; the original service has none"
PAGES = "pages are in the order of their numbers; version 0.4.5 has no order"
DOCUMENTED = "lists of version 1 have the documented order"
SORTED = "series with the same or an unknown value are sorted by slug"
# Lists of strings without an order in the original service.
_UNORDERED = ("aliases", "alt_titles", "roles")
_IDENTITY = re.compile(r"\[.*\]")


def reason(difference: Difference, facts: Facts) -> str:
    """Return the reason for another order; empty if there is none."""
    if not _IDENTITY.fullmatch(difference.steps[-1]):
        return FIELDS
    if difference.route == SERIES_LIST:
        return SORTED if _is_sorted(difference, facts) else ""
    parent = difference.steps[-2:-1]
    if parent in [(name,) for name in _UNORDERED] or (parent, difference.route[:15]) == (("groups",), f"{V2}/members"):
        return UNORDERED
    if parent == ("pages_list",) and facts.first.get(SERIES_LIST).status not in (200, 401):
        return PAGES
    return DOCUMENTED if _is_documented(difference, facts) else ""


def _is_documented(difference: Difference, facts: Facts) -> bool:
    """Whether a list of version 1 has the order of the contract on the second site."""
    items = value_at(facts.values[1], difference.steps[:-1])
    if isinstance(items, dict):
        # Volumes and chapters.
        return difference.route.startswith(f"{V1}/series/") and [*items] == sorted(items, key=_numeric)
    listed = [*entries(items)]
    if difference.route == f"{V1}/releases":
        dates = [http_date(text(fields(series.get("latest_chapter")).get("date"))) or 0 for series in listed]
        return dates == sorted(dates, reverse=True)
    if difference.route == f"{V1}/categories":
        return listed == sorted(listed, key=lambda category: text(category.get("id")))
    is_of_series = (difference.route, len(difference.steps)) == (f"{V1}/series", 1) or "series" in difference.steps[-2:]
    titles = [(text(series.get("title")), text(series.get("slug"))) for series in listed]
    return is_of_series and difference.route.startswith(f"{V1}/") and titles == sorted(titles)


def _numeric(key: str) -> tuple[float, str]:
    try:
        return float(key), key
    except ValueError:
        return 0.0, key


def _is_sorted(difference: Difference, facts: Facts) -> bool:
    """Whether both lists are sorted by the values that both sites state: only equal and unknown values differ.

    Titles are sorted by the rules of a database on the first site.
    """
    order = dict(parse_qsl(difference.path.partition("?")[2])).get("sort", "title")
    name = order.removeprefix("-")
    values = _values(name, facts)
    for value in facts.values[1:] if name == "title" else facts.values:
        slugs = [text(series.get("slug")) for series in entries(fields(value).get("results"))]
        stated = [(isinstance(values[slug], str), values[slug]) for slug in slugs if values.get(slug) is not None]
        if stated != sorted(stated, reverse=order.startswith("-")):
            return False
    return True


def _values(name: str, facts: Facts) -> dict[str, Any]:
    """The values that a list of series is sorted by; None for values that differ between the sites."""
    field = {"latest_upload": "updated", "chapter_count": "chapters"}.get(name, name)
    if field not in facts.sorted_by:
        listed = [*entries(fields(facts.second_value(SERIES_LIST)).get("results"))]
        values = {text(series.get("slug")): series.get(field) for series in listed}
        if field == "views":
            values = {slug: _views(slug, facts) for slug in values}
        kept = {slug: value for slug, value in values.items() if isinstance(value, int | float | str)}
        facts.sorted_by[field] = kept
    return facts.sorted_by[field]


def _views(slug: str, facts: Facts) -> Any:
    """The views of a series, if both sites state the same."""
    first, second = (
        fields(site.get(f"{SERIES_LIST}/{slug}").value).get("views") for site in (facts.first, facts.second)
    )
    return second if first == second else None
