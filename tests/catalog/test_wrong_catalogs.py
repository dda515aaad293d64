"""Invalid catalogs, and the exact messages.

The cases are in tests/data/wrong/*.md, each with the catalog in tests/data/wrong/base. Cases with other content than
text are here.
"""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from generator.catalog.confined_folder import Folder
from generator.errors import CatalogError, FlatpanelError
from generator.pipeline import run
from generator.pipeline.build_options import Options
from tests.support import linked_catalog
from tests.support.paths import DATA

WRONG = DATA / "wrong"
AS_OF = 1_790_000_000


@dataclass(frozen=True)
class Case:
    """Files to add to the base catalog, and the expected output."""

    promise: str
    files: dict[str, str]
    says: list[str]


def cases() -> Iterator[Case]:
    for page in sorted(WRONG.glob("*.md")):
        for part in re.split(r"(?m)^## ", page.read_text(encoding="utf-8"))[1:]:
            blocks = re.findall(r"(?ms)^```(\w+) ?([^\n]*)\n(.*?)^```$", part)
            files = {name: text for kind, name, text in blocks if kind == "yaml"}
            (says,) = (text for kind, _, text in blocks if kind == "text")
            yield Case(part.splitlines()[0], files, says.splitlines())


CASES = list(cases())


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A copy of the base catalog."""
    return Path(shutil.copytree(WRONG / "base", tmp_path / "catalog_src"))


def write(catalog: Path, file: str, text: str | bytes) -> None:
    path = catalog / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def problems(catalog: Folder, jobs: int = 1) -> list[str]:
    """Return the problems of a catalog, without its folder."""
    with pytest.raises(CatalogError) as caught:
        run.check(catalog, AS_OF, jobs)
    return [str(problem).removeprefix(f"{catalog}/") for problem in caught.value.problems]


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}


def test_base_catalog_has_no_problems(catalog: Path) -> None:
    """So all problems of a case are in the files of the case."""
    linked = linked_catalog.read_catalog(catalog, AS_OF)

    assert [series.slug for series in linked.series] == ["good", "long"]


@pytest.mark.parametrize("case", CASES, ids=[case.promise for case in CASES])
def test_invalid_catalog_has_exactly_these_problems(catalog: Path, case: Case) -> None:
    """The output is the text of the case, in this order."""
    for file, text in case.files.items():
        write(catalog, file, text)

    assert problems(catalog) == case.says


# Only pytest's own workers have threads when they fork; the command line has none.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_problems_do_not_depend_on_the_number_of_processes(catalog: Path) -> None:
    """Two processes report the same problems as one."""
    for case in CASES:
        for file, text in case.files.items():
            if file.startswith("series/"):
                write(catalog, file, text)

    assert problems(catalog, jobs=2) == problems(catalog)


@pytest.mark.parametrize("is_first", [True, False])
def test_invalid_catalog_writes_nothing(catalog: Path, tmp_path: Path, is_first: bool) -> None:
    """A first build leaves no file, and no byte of the last release changes."""
    options = Options(catalog, tmp_path / "dist", tmp_path / "nginx.conf", AS_OF)
    if not is_first:
        run.build(options)
    write(catalog, "series/good.yaml", "title: Good\n")
    before = files(tmp_path)
    with pytest.raises(CatalogError):
        run.build(options)

    assert files(tmp_path) == before
    assert (tmp_path / "dist").exists() != is_first


def test_missing_site_yaml_is_a_problem(catalog: Path) -> None:
    """The message shows the required line."""
    (catalog / "site.yaml").unlink()

    assert problems(catalog) == ["site.yaml:1:1: is missing; it needs at least base_url: https://comics.example"]


def test_missing_folder_is_one_error(tmp_path: Path) -> None:
    """A misspelt folder is not a list of missing files."""
    with pytest.raises(FlatpanelError) as caught:
        linked_catalog.read_catalog(tmp_path / "catalogue", AS_OF)

    assert str(caught.value) == (
        f"{tmp_path}/catalogue: no such folder; a catalog is a folder with site.yaml and series/"
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("title: Ré\n".encode("latin-1"), "1:9"),
        ("title: One\ncover: a.jpg\n".encode("utf-16"), "1:1"),
        (b"title: One\naliases: [\xed\xa0\x80]\n", "2:11"),
    ],
    ids=["latin-1", "utf-16", "half a surrogate pair"],
)
def test_file_that_is_not_utf_8_is_refused_at_the_first_invalid_byte(catalog: Path, text: bytes, place: str) -> None:
    """Other encodings are not guessed."""
    write(catalog, "series/a.yaml", text)

    assert problems(catalog) == [f"series/a.yaml:{place}: is not UTF-8 text; save the file as UTF-8"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b"title: O\0ne\n", "1:9"),
        ("title: One\n# é\x07\n".encode(), "2:4"),
        ("\ufefftitle: O\x7fne\n".encode(), "1:9"),
        ("title: One\n".encode("utf-16-le"), "1:2"),
    ],
    ids=["nul", "bell", "delete after a byte order mark", "utf-16 without a mark"],
)
def test_control_character_is_refused(catalog: Path, text: bytes, place: str) -> None:
    """The problem has the column of the invisible character."""
    write(catalog, "series/a.yaml", text)

    assert problems(catalog) == [f"series/a.yaml:{place}: character is not allowed in YAML; remove it"]


def test_number_of_aliases_is_limited(catalog: Path) -> None:
    """The alias after the hundredth is a problem, once."""
    aliases = "".join(f"  - {{number: {n}, published: 2026-01-01, pages: *all}}\n" for n in range(2, 105))
    first = "  - {number: 1, published: 2026-01-01, pages: &all [1.png]}\n"
    write(catalog, "series/a.yaml", f"title: One\ncover: a.jpg\nchapters:\n{first}{aliases}")

    assert problems(catalog) == ["series/a.yaml:105:49: too many aliases; a file can have at most 100"]


def test_expansion_of_aliases_is_limited(catalog: Path) -> None:
    """Ten short lines cannot expand to a billion values."""
    lines = [f"- &b{n} [{', '.join([f'*b{n - 1}'] * 9)}]" for n in range(1, 8)]
    write(catalog, "authors.yaml", "\n".join(["- &b0 [one, two]", *lines]))

    assert problems(catalog)[0] == "authors.yaml:6:8: alias *b4 expands to more than 10000 values; shorten the list"


def test_slug_has_at_most_200_characters(catalog: Path) -> None:
    """The file name of its body is longer than the slug."""
    write(catalog, f"series/{'a' * 200}.yaml", "title: Long\ncover: a.jpg\n")
    write(catalog, f"series/{'b' * 201}.yaml", "title: Longer\ncover: a.jpg\n")

    assert problems(catalog) == [
        f"series/{'b' * 201}.yaml:1:1: the name is a slug of 201 characters; it should have at most 200"
    ]


def test_length_of_texts_is_limited(catalog: Path) -> None:
    """The message has the length, not the value."""
    write(catalog, "categories.yaml", f"- {{id: drama, name: D}}\n- {{id: {'a' * 201}, name: A}}\n")
    write(catalog, "series/a.yaml", f"title: {'a' * 5000}\ncover: {'a' * 2001}\n")

    assert problems(catalog) == [
        "categories.yaml:2:8: [1].id: should have at most 200 characters, has 201",
        "series/a.yaml:1:8: title: should have at most 2000 characters, has 5000",
        "series/a.yaml:2:8: cover: should have at most 2000 characters, has 2001",
    ]


@pytest.mark.parametrize("file", ["site.yaml", "authors.yaml", "series/good.yaml", "series/long/chapters/002.yaml"])
def test_folder_with_the_name_of_a_file_is_a_problem(catalog: Path, file: str) -> None:
    """The message is that of the system."""
    (catalog / file).unlink(missing_ok=True)
    (catalog / file).mkdir()

    assert problems(catalog) == [f"{file}:1:1: cannot be read: Is a directory"]


def test_file_named_series_is_a_problem(catalog: Path) -> None:
    """It does not count as a catalog without series."""
    shutil.rmtree(catalog / "series")
    write(catalog, "series", "")

    assert problems(catalog) == ["series:1:1: cannot be read: Not a directory"]
