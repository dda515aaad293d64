"""A release in packs, which a worker on an edge host answers from.

A pack is an immutable file with the entries and small bodies of some hundred URLs. The digest of a URL's key chooses
the pack, so one read is enough for a small body, and the number of files stays far below that of URLs.
"""
