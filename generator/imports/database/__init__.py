"""Read the database of the original service, as a SQLite file or as JSON, and make the records of an import."""
