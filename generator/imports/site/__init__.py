"""A source of an import: the responses of a running site."""
