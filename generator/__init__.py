"""Flatpanel: a comic catalog in YAML goes in, a static, cacheable read API comes out."""

__version__ = "1.0.0"
