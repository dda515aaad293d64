"""Categories that a catalog can hold together."""

from ..reading_sites.lenient import Fields
from ..reading_sites.notes import Notes


class UniqueCategories:
    """The categories of an import. Filters match ids and names and ignore case, so all of them are unique together."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        # Each id and name -> the id of its category.
        self._ids: dict[str, str] = {}

    def add(self, record: Fields) -> str | None:
        """Add a category; return the id of an earlier category with its id or name, which replaces it."""
        words = record["id"].casefold(), record["name"].casefold()
        other = next((self._ids[word] for word in words if word in self._ids), None)
        if other is None:
            self._ids |= dict.fromkeys(words, record["id"])
        else:
            place = f"category {record['name']}"[:60]
            self.notes.add(f"its id or name is that of category {other}, which replaces it", place)
        return other
