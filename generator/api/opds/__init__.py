"""Catalogs of OPDS."""
