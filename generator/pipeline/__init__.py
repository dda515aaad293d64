"""Catalog -> release, doing only what changed."""
