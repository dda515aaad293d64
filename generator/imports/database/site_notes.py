"""The notes about a site that its database does not answer."""

from collections.abc import Iterator

from ...reading_sites.notes import Note, Notes
from ...reading_sites.responses import OPENAPI, V2
from .. import unavailable
from ..imported import Imported
from ..settings import LOST_PATHS

# Responses that have settings, or the series that only the site has; and those that the new site does not have.
_PATHS = (f"{V2}/series", OPENAPI, LOST_PATHS)


def unanswered(notes: Notes, combined: Imported, database: Imported) -> Iterator[Note]:
    """Yield the notes about settings, and about entries that the database does not have."""
    new_slugs = combined.series.keys() - database.series.keys()
    new_entries = {
        f"{kind} {id}" for kind, of in combined.lists.items() for id in of.keys() - database.lists[kind].keys()
    }
    for note in notes.each():
        words = note.place.removeprefix("series ").removeprefix("chapter ").split(" ")
        if note.place.startswith("/"):
            slugs = unavailable.series([note.place])
            is_open = bool(slugs & new_slugs) or note.place.partition("?")[0] in _PATHS
        else:
            is_open = words[0] in new_slugs or " ".join(words[:2]) in new_entries or words[0] == "site.yaml"
        if is_open:
            yield note
