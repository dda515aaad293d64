"""Paths below the media folder of the original service -> URLs."""

from ...catalog.field_values import percent_encoded


def image_url(media: str, path: str) -> str:
    """Return the URL of an image by the URL of the media folder; "" without a path."""
    # Not every text of a database is valid Unicode.
    names = path.encode(errors="replace").decode().split("/")
    return media + "/".join(map(percent_encoded, names)) if path else ""
