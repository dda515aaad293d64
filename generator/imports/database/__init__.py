"""A source of an import: the database of the original service, as an SQLite file or as JSON."""
