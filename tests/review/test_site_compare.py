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

from tests.support.moved_sites import MovedSite, compare, moved_site, served
from tests.support.real_service import (
    AFTER_EDIT,
    BAD_FORMAT,
    BIG_NUMBER,
    CDNS,
    CONTROL_CHARACTER,
    USUAL,
    V1_OFF,
)

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


@pytest.mark.parametrize(
    ("setting", "version"),
    [
        *((setting, "v0.9.6") for setting in (USUAL, V1_OFF, *CDNS, "HTTPS=off", CONTROL_CHARACTER, AFTER_EDIT)),
        (USUAL, "v0.4.5"),
    ],
)
@pytest.mark.parametrize("every", [(), ("--every",)])
def test_moved_site_differs_for_known_reasons_only(
    setting: str, version: str, every: tuple[str, ...], moved: Moved
) -> None:
    """Exit code 0, on one screen."""
    result = moved(setting, version).compare(*every)
    print(result.output)

    assert result.exit_code == 0
    assert "without a known reason" not in result.output
    assert "with a known reason:" in result.output
    assert len(result.output.splitlines()) <= 41
    assert max(map(len, result.output.splitlines())) <= 196


@pytest.mark.parametrize(("setting", "version"), [(USUAL, "v0.9.6"), (V1_OFF, "v0.9.6"), (USUAL, "v0.4.5")])
def test_site_moved_with_its_database_differs_for_known_reasons_only(setting: str, version: str, moved: Moved) -> None:
    """It has more than the old site publishes, such as chapters of licensed series with their ids."""
    result = moved(setting, version, database=True).compare("--every")
    print(result.output)

    assert (result.exit_code, "without a known reason" in result.output) == (0, False)


@pytest.mark.parametrize(("setting", "lost"), [(BAD_FORMAT, "1 series"), (BIG_NUMBER, "1 chapter")])
def test_what_a_broken_site_cannot_export_is_lost(setting: str, lost: str, moved: Moved) -> None:
    """The site fails for a series or a list of chapters, so the import does not have it."""
    result = moved(setting).compare()

    assert result.exit_code == 1
    assert f"  {lost} only on the first site: " in result.output


def test_site_equals_itself(moved: Moved, tmp_path: Path) -> None:
    """No difference, with or without a reason."""
    site = moved()
    result = compare(site.url, site.url, tmp_path)

    assert (result.exit_code, "differ" in result.output) == (0, False)
    responses, equal = re.findall(r"[0-9,]+(?= responses| equal)", result.output)
    assert responses == equal != "0"


def test_site_equals_a_second_build(moved: Moved, tmp_path: Path) -> None:
    """Another folder and another port."""
    shutil.copytree(moved().folder / "catalog_src", tmp_path / "catalog_src")
    with served(tmp_path) as web:
        result = compare(moved().url, f"http://127.0.0.1:{web.port}", tmp_path / "cache")

    assert (result.exit_code, "differ" in result.output) == (0, False)


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


LOSSES = {
    "chapter": (
        {"series/kiln-sisters.yaml": without(r"^  - id: 41\n.*?(?=^  - id: 42\n)")},
        "1 chapter only on the first site: kiln-sisters 0/2",
    ),
    "title": (
        {"series/kiln-sisters.yaml": without("^title: Kiln Sisters$", "title: Kiln Brothers")},
        '"Kiln Sisters" → "Kiln Brothers"',
    ),
    "chapter title": (
        {"series/kiln-sisters.yaml": without("^    title: Rope$", "    title: Ropes")},
        'title: "Rope" → "Ropes"',
    ),
    "page": (
        {"series/kiln-sisters.yaml": without("^      - 0c1fb5fea4314dcb4ddf862b5c7e79c8.png\n")},
        "/api/v2/cubari/{slug} chapters[].groups[][] removed: /api/v2/cubari/kiln-sisters ",
    ),
    "order of pages": (
        {"series/kiln-sisters.yaml": without(r"(^      - 3110[^\n]*\n)(^      - 1c0d[^\n]*\n)", r"\2\1")},
        "/api/v2/cubari/{slug} chapters[].groups[][] moved: /api/v2/cubari/kiln-sisters ",
    ),
    "category": (
        {
            "categories.yaml": without(r"^- id: school life\n.*?\n\n"),
            "series/kiln-sisters.yaml": without("school life, "),
        },
        "1 category only on the first site: School Life",
    ),
    "category of a series": (
        {"series/kiln-sisters.yaml": without("school life, ")},
        '/api/v2/series/{slug} categories[] removed: /api/v2/series/kiln-sisters categories[0]: "School Life"',
    ),
    "series": ({"series/kiln-sisters.yaml": None}, "1 series only on the first site: kiln-sisters"),
    "volume": (
        {"series/harbor-of-glass-bells.yaml": lambda text: text.replace("    volume: 2\n", "    volume: 4\n")},
        " chapters only on the second site: harbor-of-glass-bells 4/",
    ),
    "status": (
        {"series/kiln-sisters.yaml": without("^status: hiatus$", "status: ongoing")},
        'status: "hiatus" → "ongoing"',
    ),
    "publication": (
        {"series/kiln-sisters.yaml": without("published: 2022-01-01T00:00:00Z", "published: 2022-01-01T00:00:01Z")},
        'published: "2022-01-01T00:00:00Z" → "2022-01-01T00:00:01Z"',
    ),
    "group of a chapter": (
        {"series/kiln-sisters.yaml": lambda text: text.replace('    groups: ["Velvet Kettle, Ltd."]\n', "", 1)},
        '"Velvet Kettle, Ltd."',
    ),
    "member": (
        {"groups.yaml": lambda text: re.sub(r"^ *- \{?member: Marrow[^\n]*\n", "", text, count=1, flags=re.MULTILINE)},
        '"Proofreader: Marrow"',
    ),
    "author": (
        {"series/kiln-sisters.yaml": without("^authors: [^\n]*\n")},
        "/api/v2/series/{slug} authors[] removed: ",
    ),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_have_no_reason(loss: str, moved: Moved, tmp_path: Path) -> None:
    """Exit code 1, and a line names what is missing."""
    edits, line = LOSSES[loss]
    shutil.copytree(moved().folder / "catalog_src", tmp_path / "catalog_src")
    for name, edit in edits.items():
        file = tmp_path / "catalog_src" / name
        if edit is None:
            file.unlink()
        else:
            edited = edit(before := file.read_text())
            assert edited != before
            file.write_text(edited)
    with served(tmp_path) as web:
        result = compare(moved().old.url, f"http://127.0.0.1:{web.port}", tmp_path / "cache")
    print(result.output)

    assert result.exit_code == 1
    assert line in result.output
    assert len(result.output.splitlines()) <= 41


def test_json_has_every_difference_without_a_reason(moved: Moved, tmp_path: Path) -> None:
    """And one example of each reason."""
    shutil.copytree(moved().folder / "catalog_src", tmp_path / "catalog_src")
    (tmp_path / "catalog_src/series/kiln-sisters.yaml").unlink()
    with served(tmp_path) as web:
        result = compare(moved().old.url, f"http://127.0.0.1:{web.port}", tmp_path / "cache", "--json")
    report = json.loads(result.output)

    assert (result.exit_code, report["ok"]) == (1, False)
    assert report["only_first"]["series"] == ["kiln-sisters"]
    assert {"/api/v2/series", "/api/v1/series"} <= {difference["path"] for difference in report["differences"]}
    assert {"reason", "count", "example"} == set(report["reasons"][0])
    assert report["responses"] > report["equal"] > 0
