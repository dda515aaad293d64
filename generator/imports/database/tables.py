"""Rows of the original service's database, the same from each source: an SQLite file, and the JSON of `dumpdata`.

Tables and columns have the names of the SQLite file. Links between rows are tables of their own, such as
`reader_series_authors`. A source has the raw values; `Tables` converts them.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...errors import FlatpanelError
from ...reading_sites.lenient import instant, number, text, whole

Version = Literal["0.9.6", "0.4.5"]
# A value from a source -> the value that records are made from.
Conversion = Callable[[Any], Any]
# The columns of a table that an import reads.
Columns = dict[str, Conversion]
Row = Mapping[str, Any]
# Bytes of all rows in memory, and of the place of a value, both estimated.
MAX_MEMORY, _PLACE = 1 << 30, 32


def _number(value: Any) -> str | None:
    """The canonical form of a chapter number; None for an invalid one."""
    try:
        return number(value)
    except ValueError:
        return None


def _path(value: Any) -> str:
    """A text; characters that are not valid Unicode are replaced."""
    return text(value).encode(errors="replace").decode()


def _columns(*, ints: str = "", texts: str = "", flags: str = "", times: str = "", numbers: str = "") -> Columns:
    """Return the columns of a table by their kind.

    Whole numbers are None for NULL, 0 and invalid values; texts are '' for NULL. Times are whole seconds since 1970.
    """
    kinds: dict[Conversion, str] = {whole: ints, text: texts, bool: flags, instant: times, _number: numbers}
    return {name: convert for convert, names in kinds.items() for name in names.split()}


_NAMED = _columns(ints="id", texts="name")
_CATEGORY = _columns(texts="id name description")
_ROLE = _columns(ints="id group_id member_id", texts="role")
_PAGE = _columns(ints="id chapter_id number") | {"image": _path}
_CHAPTER_GROUP = _columns(ints="chapter_id group_id")
_SERIES = "slug title description cover"
_CONTACTS = "name website description email discord twitter"

# By version: the tables that a database of this version has, and what an import reads of them.
TABLES: dict[Version, dict[str, Columns]] = {
    "0.9.6": {
        "reader_series": _columns(ints="id", texts=f"{_SERIES} status format", flags="licensed", times="modified"),
        "reader_series_authors": _columns(ints="series_id author_id"),
        "reader_series_artists": _columns(ints="series_id artist_id"),
        "reader_series_categories": _columns(ints="series_id", texts="category_id"),
        "reader_alias": _columns(ints="id object_id content_type_id", texts="name"),
        "reader_author": _NAMED,
        "reader_artist": _NAMED,
        "reader_category": _CATEGORY,
        "reader_chapter": _columns(
            ints="id series_id volume views",
            texts="title",
            flags="final",
            times="published modified",
            numbers="number",
        ),
        "reader_chapter_groups": _CHAPTER_GROUP,
        "reader_page": _PAGE,
        "groups_group": _columns(ints="id", texts=f"{_CONTACTS} reddit irc logo"),
        "groups_member": _columns(ints="id", texts="name twitter discord irc reddit"),
        "groups_role": _ROLE,
        "django_content_type": _columns(ints="id", texts="app_label model"),
        "django_redirect": _columns(ints="id", texts="old_path new_path"),
        "django_site": _columns(ints="id", texts="domain name"),
        "auth_user": _columns(ints="id", texts="username first_name last_name email", flags="is_active"),
        "users_userprofile": _columns(ints="id user_id", texts="bio avatar"),
        "users_apikey": _columns(ints="user_id", texts="key"),
        "users_bookmark": _columns(ints="id user_id series_id"),
    },
    # The slug of a series is its id. There are no accounts of readers, no redirects, and no table of the site.
    "0.4.5": {
        "reader_series": _columns(texts=_SERIES, flags="completed", times="modified"),
        "reader_series_authors": _columns(ints="author_id", texts="series_id"),
        "reader_series_artists": _columns(ints="artist_id", texts="series_id"),
        "reader_series_categories": _columns(texts="series_id category_id"),
        "reader_seriesalias": _columns(ints="id", texts="series_id alias"),
        "reader_authoralias": _columns(ints="id author_id", texts="alias"),
        "reader_artistalias": _columns(ints="id artist_id", texts="alias"),
        "reader_author": _NAMED,
        "reader_artist": _NAMED,
        "reader_category": _CATEGORY,
        "reader_chapter": _columns(
            ints="id volume", texts="series_id title", flags="final", times="uploaded modified", numbers="number"
        ),
        "reader_chapter_groups": _CHAPTER_GROUP,
        "reader_page": _PAGE,
        "groups_group": _columns(ints="id", texts=f"{_CONTACTS} logo"),
        "groups_member": _columns(ints="id", texts="name twitter discord"),
        "groups_role": _ROLE,
    },
}
# The table whose presence shows the version.
SHOWS_VERSION: dict[str, Version] = {"reader_alias": "0.9.6", "reader_seriesalias": "0.4.5"}


class RowMemory:
    """The memory that is left for the rows of a database: a small file may have many."""

    def __init__(self, path: Path) -> None:
        self._path, self._left = path, MAX_MEMORY

    def take(self, row: Iterable[Any]) -> None:
        """Count a row. Raises if the rows take too much."""
        self._left -= sum(map(_size, row))
        if self._left < 0:
            raise FlatpanelError(f"{self._path}: its rows take more than {MAX_MEMORY >> 20} MiB of memory")


def _size(value: Any) -> int:
    """The bytes of a value; natural keys are tuples."""
    return _PLACE + sys.getsizeof(value) + (sum(map(_size, value)) if isinstance(value, tuple) else 0)


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a database of one version."""

    version: Version
    # The raw rows of a table of `TABLES`, in any order; none if the source has no such table.
    raw: Callable[[str], Iterable[Mapping[str, Any]]]

    def rows(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table with the columns of `TABLES`; none if the version has no such table."""
        columns = TABLES[self.version].get(table)
        if columns is not None:
            for row in self.raw(table):
                yield {name: convert(row.get(name)) for name, convert in columns.items()}

    def in_order(self, table: str) -> list[Row]:
        """Return the rows of a table in the order of their ids, first those without a valid one."""
        return sorted(self.rows(table), key=lambda row: (row["id"] is not None, row["id"]))
