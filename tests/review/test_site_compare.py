"""`compare`: a replayed site of the original service and its successor differ only for known reasons.

`tests/support/moved_sites.py` imports, builds and serves. Each test that loses something sees the comparison fail.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import Site, serving
from tests.support import runs
from tests.support.moved_sites import MovedSite, compare, moved_site
from tests.support.real_service import (
    AFTER_EDIT,
    BAD_FORMAT,
    BIG_NUMBER,
    CDNS,
    CONTROL_CHARACTER,
    RECORDED_AT,
    USUAL,
    V1_OFF,
)

pytestmark = pytest.mark.comparisons

Moved = Callable[..., MovedSite]


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moved]:
    """Move a setting of a version once for all tests of this file. Nothing may change its catalog."""
    sites: dict[tuple[str, str, bool], MovedSite] = {}
    with ExitStack() as stack:

        def of(setting: str = USUAL, version: str = "v0.9.6", *, database: bool = False) -> MovedSite:
            key = setting, version, database
            if key not in sites:
                folder = tmp_path_factory.mktemp("moved")
                sites[key] = stack.enter_context(moved_site(folder, setting, version, database=database))
            return sites[key]

        yield of


# What has a known reason


# Where an import has no version 1, or nothing else; then what only differs in the URLs of images and in texts.
MOVED = [(USUAL, "v0.9.6"), (V1_OFF, "v0.9.6"), (USUAL, "v0.4.5")]
MOVED_TOO = [(setting, "v0.9.6") for setting in (*CDNS, "HTTPS=off", CONTROL_CHARACTER, AFTER_EDIT)]


@pytest.mark.parametrize(("setting", "version"), MOVED + MOVED_TOO * runs.everything)
def test_moved_site_differs_for_known_reasons_only(setting: str, version: str, moved: Moved) -> None:
    """Exit code 0, on one screen."""
    for options in ([], ["--every"]) if version == "v0.4.5" or runs.everything else (["--every"],):
        result = moved(setting, version).compare(*options)
        print(result.output)

        assert result.exit_code == 0
        assert "without a known reason" not in result.output
        assert "with a known reason:" in result.output
        assert len(result.output.splitlines()) <= 41
        assert max(map(len, result.output.splitlines())) <= 196


@pytest.mark.parametrize(("setting", "version"), MOVED if runs.everything else MOVED[::2])
def test_site_moved_with_its_database_differs_for_known_reasons_only(setting: str, version: str, moved: Moved) -> None:
    """It has more than the old site publishes, such as chapters of licensed series with their ids."""
    result = moved(setting, version, database=True).compare("--every")
    print(result.output)

    assert (result.exit_code, "without a known reason" in result.output) == (0, False)


BROKEN = [(BIG_NUMBER, "1 chapter"), (BAD_FORMAT, "1 series")]


@pytest.mark.end_to_end
@pytest.mark.parametrize(("setting", "lost"), BROKEN if runs.everything else BROKEN[:1])
def test_what_a_broken_site_cannot_export_is_lost(setting: str, lost: str, moved: Moved) -> None:
    """The site fails for a series or a list of chapters, so the import does not have it."""
    result = moved(setting).compare()

    assert result.exit_code == 1
    assert f"  {lost} only on the first site: " in result.output


@pytest.mark.end_to_end
def test_site_equals_a_second_build(moved: Moved, tmp_path: Path) -> None:
    """Another folder and another port: no difference, with or without a reason."""
    shutil.copytree(moved().folder / "catalog_src", tmp_path / "catalog_src")
    with serving(Site(tmp_path), RECORDED_AT) as web:
        result = compare(moved().url, f"http://127.0.0.1:{web.port}", tmp_path / "cache")

    assert (result.exit_code, "differ" in result.output) == (0, False)
    responses, equal = re.findall(r"[0-9,]+(?= responses| equal)", result.output)
    assert responses == equal != "0"


def test_original_service_equals_itself(moved: Moved, tmp_path: Path) -> None:
    """The versions that it has."""
    site = moved().old
    result = compare(site.url, site.url, tmp_path)

    assert (result.exit_code, "differ" in result.output) == (0, False)


# What is lost


def without(pattern: str, replacement: str = "") -> Callable[[str], str]:
    """An edit that must change the text once."""

    def edit(text: str) -> str:
        edited, count = re.subn(pattern, replacement, text, flags=re.DOTALL | re.MULTILINE)
        assert count == 1, pattern
        return edited

    return edit


KILN = "series/kiln-sisters.yaml"
Losses = dict[str, tuple[str, Callable[[str], str]]]
# The edits of one catalog by the difference that shows each, and a series that the catalog loses.
REMOVED = "copper-weather"
LOSSES: Losses = {
    "only on the first site: chapter kiln-sisters 0/2": (KILN, without(r"^  - id: 41\n.*?(?=^  - id: 42\n)")),
    "title changed: Kiln Sisters → Kiln Brothers": (KILN, without("^title: Kiln Sisters$", "title: Kiln Brothers")),
    r"/api/v2/cubari/kiln-sisters chapters\S+groups.* moved: ": (
        KILN,
        without(r"(^      - 3110[^\n]*\n)(^      - 1c0d[^\n]*\n)", r"\2\1"),
    ),
    r"/api/v2/series/kiln-sisters categories\[0\] removed: School Life": (KILN, without("school life, ")),
    "only on the first site: category School Life": ("categories.yaml", without(r"^- id: school life\n.*?\n\n")),
    "only on the second site: chapter harbor-of-glass-bells 4/": (
        "series/harbor-of-glass-bells.yaml",
        lambda text: text.replace("    volume: 2\n", "    volume: 4\n"),
    ),
    "removed: Proofreader: Marrow": (
        "groups.yaml",
        lambda text: re.sub(r"^ *- \{?member: Marrow[^\n]*\n", "", text, count=1, flags=re.MULTILINE),
    ),
}


def test_losses_have_no_reason(moved: Moved, tmp_path: Path) -> None:
    """Exit code 1, and a difference names what is missing. JSON has all of them, and one example of each reason.

    `tests/review/test_site_compare_rules.py` changes each field of each response.
    """
    shutil.copytree(moved().folder / "catalog_src", tmp_path / "catalog_src")
    (tmp_path / f"catalog_src/series/{REMOVED}.yaml").unlink()
    for name, edit in LOSSES.values():
        file = tmp_path / "catalog_src" / name
        edited = edit(before := file.read_text())
        assert edited != before
        file.write_text(edited)
    with serving(Site(tmp_path), RECORDED_AT) as web:
        urls = moved().old.url, f"http://127.0.0.1:{web.port}"
        text, result = (compare(*urls, tmp_path / "cache", *options) for options in ([], ["--json"]))
    report = json.loads(result.output)
    shown = [
        f"only on the {side} site: {kind} {name}"
        for side in ("first", "second")
        for kind, names in report[f"only_{side}"].items()
        for name in names
    ]
    shown += ["{path} {field} {change}: {first} → {second}".format(**one) for one in report["differences"]]
    print(*shown, sep="\n")

    assert (text.exit_code, result.exit_code, report["ok"]) == (1, 1, False)
    assert [loss for loss in LOSSES if not any(re.search(loss, line) for line in shown)] == []
    assert f"1 series only on the first site: {REMOVED}" in text.output
    assert len(text.output.splitlines()) <= 41
    assert report["only_first"]["series"] == [REMOVED]
    assert {"/api/v2/series", "/api/v1/series"} <= {difference["path"] for difference in report["differences"]}
    assert {"reason", "count", "example"} == set(report["reasons"][0])
    assert report["responses"] > report["equal"] > 0
