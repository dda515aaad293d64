"""Inspect releases: verification, differences, the report."""
