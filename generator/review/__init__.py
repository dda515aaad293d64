"""Looks at releases: verification, differences, the report."""
