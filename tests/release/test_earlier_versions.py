"""Builds continue the releases of earlier versions 1.x (docs/stability.md).

tests/data/releases/ has a manifest of 1.0.0, and one of each version that changes its form. They stay as they are.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from generator.pipeline import run as pipeline
from generator.release import manifest
from tests.conftest import Site
from tests.support.paths import DATA

MANIFESTS = sorted((DATA / "releases").iterdir())
URL, DATE = "/api/series/first", 1_767_225_600


@pytest.mark.parametrize("recorded", MANIFESTS, ids=lambda path: path.stem)
def test_a_build_continues_a_release_of_an_earlier_version(site: Site, recorded: Path) -> None:
    """Another body gets a later date, although the catalog says an earlier one; ids are not used again."""
    site.write("series/first.yaml", "title: Another\ncover: c.png\nmodified: 2025-01-01\n")
    pipeline.build(replace(site.options, previous=recorded))

    assert (site.manifest.resources[URL].modified, site.manifest.highest_id) == (DATE + 1, 7)


@pytest.mark.parametrize("recorded", MANIFESTS, ids=lambda path: path.stem)
def test_a_release_of_an_earlier_version_is_read_completely(recorded: Path) -> None:
    """Every body has its validators, and the rules are those of the site."""
    text = recorded.read_bytes()
    release, rules = manifest.load(text, recorded.name), manifest.load_head(text, recorded.name).rules

    assert release.resources[URL].modified == DATE
    assert all(len(body.sha256) == 64 and body.size > 0 for body in release.resources.values())
    assert (rules.reader, dict(rules.redirects)) == ("/read/", {"old": "first", "older": "first"})
