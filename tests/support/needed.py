"""Marks of tests that need a program which not every machine has."""

import os

import pytest


def needs(found: object, reason: str, *, unless: str = "") -> pytest.MarkDecorator:
    """Skip tests without a program. CI must have it, so that they fail there instead, unless this variable is set."""
    is_required = os.environ.get("CI") == "true" and unless not in os.environ
    return pytest.mark.skipif(not found and not is_required, reason=reason)
