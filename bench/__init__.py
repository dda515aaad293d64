"""Measures builds and requests on catalogs of any size. Not part of the tests: a slow machine fails no test."""
