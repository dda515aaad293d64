"""Patterns and lists that also stand elsewhere: in the shim, and in the table of routes."""

import re
from typing import get_args

from generator.api.routes import GATES, ROUTES
from generator.catalog import patterns
from generator.catalog.site_settings import RestrictedRoute
from tests.support.paths import ROOT

# Routes without the setting: the document and its page are public, and an account's own data always needs its key.
ALWAYS_THE_SAME = {"/openapi.json", "/docs", "/bookmarks", "/profile"}


def test_the_shim_and_the_catalog_have_the_same_slugs() -> None:
    """njs has `$` match before a line break, so the shim has a lookahead instead."""
    shim = (ROOT / "generator/javascript/core/keys.js").read_text(encoding="utf-8")

    assert f"const SLUG = /{patterns.SLUG.removesuffix('$')}(?![\\s\\S])/;" in shim


def test_every_route_of_v2_can_be_restricted() -> None:
    """`restricted` in site.yaml takes each path of v2 in the table of routes, and no other."""
    paths = {re.sub(r"[?#].*", "", route.path) for route in (*ROUTES, *GATES)}
    below_v2 = {path.removeprefix("/api/v2") for path in paths if path.startswith("/api/v2")}
    restrictable = {path for path in below_v2 if not path.startswith("/docs/")}

    assert set(get_args(RestrictedRoute)) == restrictable - ALWAYS_THE_SAME
