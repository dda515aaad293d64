"""The files of a theme: which names count, and what is wrong with others."""

from pathlib import Path

import pytest

from generator.catalog import theme_files
from generator.catalog.confined_folder import ConfinedFolder
from generator.catalog.theme_files import ThemeFiles


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    (tmp_path / "catalog_src").mkdir()
    return tmp_path / "catalog_src"


def write(catalog: Path, name: str, text: bytes) -> None:
    file = catalog.parent / "theme" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text)


def messages(catalog: Path) -> list[str]:
    return [str(problem).removeprefix(f"{catalog.parent}/") for problem in theme_files.read(catalog)[1]]


def test_no_theme_is_an_empty_theme(catalog: Path) -> None:
    absent, problems = theme_files.read(catalog)
    (catalog.parent / "theme").mkdir()
    empty, _ = theme_files.read(catalog)

    assert absent.files == {} and problems == []
    assert absent.digest == empty.digest


def test_digest_depends_on_names_and_texts(catalog: Path) -> None:
    digests = [theme_files.read(catalog)[0].digest]
    for name, text in (("about.md", b"a"), ("about.md", b"b"), ("style.css", b"b")):
        write(catalog, name, text)
        digests.append(theme_files.read(catalog)[0].digest)

    assert len(set(digests)) == 4
    write(catalog, ".style.css.swp", b"")
    assert theme_files.read(catalog)[0].digest == digests[-1]


def test_link_out_of_the_project_is_refused(catalog: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Its texts would be published. --follow allows it, and links inside the project are no problem."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "extra.css").write_text("secret")
    link = catalog.parent / "theme"
    link.symlink_to(elsewhere)
    advice = "use a real folder, or --follow DIR allows links into DIR"
    assert theme_files.read(catalog)[0].files == {}
    assert messages(catalog) == [f"theme:1:1: the link leads out of the project; {advice}"]

    assert theme_files.read(ConfinedFolder(catalog, (elsewhere,)))[0].files == {"extra.css": "secret"}
    link.unlink()
    (catalog.parent / "themes").mkdir()
    link.symlink_to("themes")
    write(catalog, "extra.css", b"own")
    assert theme_files.read(catalog) == (ThemeFiles(link, {"extra.css": "own"}), [])


def test_a_theme_has_a_largest_size(catalog: Path) -> None:
    """Each page has a link to each text, and all files are in memory."""
    for number in range(9):
        write(catalog, f"text-{number}.md", b"a" * theme_files.MAX_SIZE)
    assert messages(catalog) == ["theme:1:1: has 9,437,184 characters; a theme can have 8,388,608"]

    for number in range(101):
        write(catalog, f"text-{number}.md", b"")
    assert messages(catalog) == ["theme:1:1: has 101 files; a theme can have 100"]


def test_files_that_editors_leave_are_ignored(catalog: Path) -> None:
    """As in the catalog, where their names do not end in .yaml."""
    for name in ("style.css~", "#style.css#", ".style.css.swp", ".#style.css"):
        write(catalog, name, b"\xff")

    assert theme_files.read(catalog)[0].files == {} and messages(catalog) == []


def test_files_that_cannot_be_used_are_problems(catalog: Path) -> None:
    write(catalog, "about.md", b"\xff")
    write(catalog, "script.js", b"")
    write(catalog, "Über.md", b"")
    write(catalog, "pictures/a.png", b"")
    write(catalog, "style.css", b"a" * (theme_files.MAX_SIZE + 1))
    (catalog.parent / "theme/icon.svg").symlink_to("/etc/passwd")
    write(catalog, "extra.css", "é".encode())
    theme, _ = theme_files.read(catalog)

    assert theme.files == {"extra.css": "é"}
    assert [message.partition(";")[0] for message in messages(catalog)] == [
        "theme/about.md:1:1: is not UTF-8",
        "theme/icon.svg:1:1: cannot be read: the link leads out of theme",
        "theme/pictures:1:1: is not used",
        "theme/script.js:1:1: is not used",
        "theme/style.css:1:1: has more than 1 MiB",
        "theme/Über.md:1:1: is not used",
    ]
