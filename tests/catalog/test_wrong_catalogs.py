"""Everything that can be wrong with a catalog, and exactly what its author is told.

The cases are in tests/data/wrong/*.md, each over the catalog in tests/data/wrong/base; the cases that are not plain
text are here.
"""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from generator.errors import CatalogError, FlatpanelError
from generator.pipeline import run
from generator.pipeline.build_options import Options
from tests.support import linked_catalog
from tests.support.paths import DATA

WRONG = DATA / "wrong"
AS_OF = 1_790_000_000


@dataclass(frozen=True)
class Case:
    """Files to be put over the base catalog, and the lines that an author reads."""

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
    """A catalog without problems, to be spoilt."""
    return Path(shutil.copytree(WRONG / "base", tmp_path / "catalog_src"))


def write(catalog: Path, file: str, text: str | bytes) -> None:
    path = catalog / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def problems(catalog: Path, jobs: int = 1) -> list[str]:
    """What an author reads, without the folder of the catalog."""
    with pytest.raises(CatalogError) as caught:
        run.check(catalog, AS_OF, jobs)
    return [str(problem).removeprefix(f"{catalog}/") for problem in caught.value.problems]


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


def test_the_base_has_no_problems(catalog: Path) -> None:
    """Whatever a case is told comes from the files of that case alone."""
    found = linked_catalog.read_catalog(catalog, AS_OF)

    assert [series.slug for series in found.series] == ["good", "long"]


@pytest.mark.parametrize("case", CASES, ids=[case.promise for case in CASES])
def test_every_problem_is_told_in_its_place(catalog: Path, case: Case) -> None:
    """The author reads exactly the lines under the case, in this order."""
    for file, text in case.files.items():
        write(catalog, file, text)

    assert problems(catalog) == case.says


# Only pytest's own workers have threads when they fork; the command line has none.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_processes_that_share_the_work_tell_the_same(catalog: Path) -> None:
    """The number of processes changes nothing of what an author reads."""
    for case in CASES:
        for file, text in case.files.items():
            if file.startswith("series/"):
                write(catalog, file, text)

    assert problems(catalog, jobs=2) == problems(catalog)


def test_nothing_is_written(catalog: Path, tmp_path: Path) -> None:
    """A wrong catalog leaves no trace where nothing had been built."""
    write(catalog, "series/good.yaml", "title: Good\n")
    before = files(tmp_path)
    with pytest.raises(CatalogError):
        run.build(Options(catalog, tmp_path / "dist", tmp_path / "nginx.conf", AS_OF))

    assert files(tmp_path) == before
    assert not (tmp_path / "dist").exists()


def test_the_published_site_stays(catalog: Path, tmp_path: Path) -> None:
    """A wrong catalog changes no byte of what was built from the right one."""
    options = Options(catalog, tmp_path / "dist", tmp_path / "nginx.conf", AS_OF)
    run.build(options)
    (catalog / "series/good.yaml").write_text("title: Good\n")
    before = files(tmp_path)
    with pytest.raises(CatalogError):
        run.build(options)

    assert files(tmp_path) == before


def test_a_catalog_without_a_site_is_told_what_the_least_is(catalog: Path) -> None:
    """A missing site.yaml is shown by the one line that it needs."""
    (catalog / "site.yaml").unlink()

    assert problems(catalog) == ["site.yaml:1:1: is missing; it needs at least base_url: https://comics.example"]


def test_a_folder_that_is_not_there_is_no_catalog(tmp_path: Path) -> None:
    """A mistyped folder is one sentence, not a list of what it lacks."""
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
        ("title: One\ncover: é.jpg\n".encode("cp1252"), "2:8"),
        (b"title: One\naliases: [\xed\xa0\x80]\n", "2:11"),
    ],
    ids=["latin-1", "utf-16", "cp1252", "half a surrogate pair"],
)
def test_a_file_that_is_not_utf_8_is_refused_at_the_first_such_byte(catalog: Path, text: bytes, place: str) -> None:
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
def test_a_control_character_in_a_file_is_refused(catalog: Path, text: bytes, place: str) -> None:
    """A character that nobody can see is told with its column."""
    write(catalog, "series/a.yaml", text)

    assert problems(catalog) == [f"series/a.yaml:{place}: character is not allowed in YAML; remove it"]


def test_aliases_end_somewhere(catalog: Path) -> None:
    """The alias after the hundredth is refused, once."""
    aliases = "".join(f"  - {{number: {n}, published: 2026-01-01, pages: *all}}\n" for n in range(2, 105))
    first = "  - {number: 1, published: 2026-01-01, pages: &all [1.png]}\n"
    write(catalog, "series/a.yaml", f"title: One\ncover: a.jpg\nchapters:\n{first}{aliases}")

    assert problems(catalog) == ["series/a.yaml:105:49: too many aliases; a file can have at most 100"]


def test_aliases_of_aliases_do_not_multiply(catalog: Path) -> None:
    """Ten short lines cannot stand for a billion values."""
    lines = [f"- &b{n} [{', '.join([f'*b{n - 1}'] * 9)}]" for n in range(1, 8)]
    write(catalog, "authors.yaml", "\n".join(["- &b0 [one, two]", *lines]))

    assert problems(catalog)[0] == "authors.yaml:6:8: alias *b4 expands to more than 10000 values; shorten the list"


def test_a_slug_leaves_room_for_the_name_of_its_body(catalog: Path) -> None:
    """A slug of 200 characters is fine and one of 201 is not."""
    write(catalog, f"series/{'a' * 200}.yaml", "title: Long\ncover: a.jpg\n")
    write(catalog, f"series/{'b' * 201}.yaml", "title: Longer\ncover: a.jpg\n")

    assert problems(catalog) == [
        f"series/{'b' * 201}.yaml:1:1: the name is a slug of 201 characters; it should have at most 200"
    ]


def test_ids_and_names_of_files_end_somewhere(catalog: Path) -> None:
    """What is too long is counted, not repeated."""
    write(catalog, "categories.yaml", f"- {{id: drama, name: D}}\n- {{id: {'a' * 201}, name: A}}\n")
    write(catalog, "series/a.yaml", f"title: {'a' * 5000}\ncover: {'a' * 2001}\n")

    assert problems(catalog) == [
        "categories.yaml:2:8: [1].id: should have at most 200 characters, has 201",
        "series/a.yaml:2:8: cover: should have at most 2000 characters, has 2001",
    ]


@pytest.mark.parametrize("file", ["site.yaml", "authors.yaml", "series/good.yaml", "series/long/chapters/002.yaml"])
def test_a_folder_that_is_named_like_a_file_cannot_be_read(catalog: Path, file: str) -> None:
    """What the system says of a file is handed on, for every kind of file."""
    (catalog / file).unlink(missing_ok=True)
    (catalog / file).mkdir()

    assert problems(catalog) == [f"{file}:1:1: cannot be read: Is a directory"]


def test_a_file_in_the_place_of_the_series_cannot_be_read(catalog: Path) -> None:
    """A catalog whose series are no folder has no series, and is not taken for one without any."""
    shutil.rmtree(catalog / "series")
    write(catalog, "series", "")

    assert problems(catalog) == ["series:1:1: cannot be read: Not a directory"]


def test_a_name_that_is_not_utf_8_can_be_printed(catalog: Path) -> None:
    """Names of files are bytes; a line about them is text that every terminal and JSON can hold."""
    with open(bytes(catalog / "series/long/chapters") + b"/\xff.yaml", "w") as chapter:
        chapter.write("number: 1\npublished: 2026-01-01\npages: []\n")

    says = problems(catalog)

    assert says == [
        "series/long/chapters/\\udcff.yaml:1:9: number: "
        "chapter 1 without a volume already exists: series/long/chapters/001.yaml; choose another number"
    ]
    assert "\n".join(says).encode()
