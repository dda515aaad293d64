"""Any content of a catalog folder: it is built, or refused with messages, quickly and with little memory."""

import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from generator import errors
from generator.catalog import api_keys, reader
from generator.catalog.confined_folder import MAX_SIZE
from generator.catalog.problems import locate
from generator.catalog.problems.load import load_valid
from generator.catalog.reader import LISTS, MAX_PROBLEMS
from generator.catalog.suggestions import did_you_mean
from generator.catalog.yaml.positions import read_positions
from generator.catalog.yaml.reader import MAX_DIRECTIVES, MAX_VALUES, Malformed, load
from generator.errors import CatalogError, UnlocatedProblem
from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from tests.catalog.test_wrong_catalogs import AS_OF, WRONG, files, problems, write
from tests.conftest import Site
from tests.support import runs
from tests.support.paths import EXAMPLE

FILES = ["site.yaml", *LISTS, "views.yaml", "sizes.yaml", "series/good.yaml", "series/long/series.yaml"]
FILES += ["series/long/chapters/001.yaml"]
SERIES = "title: T\ncover: c.jpg\n"
CHAPTER = f"{SERIES}chapters:\n- {{number: 1, published: 2026-01-01, pages: [a.jpg]}}\n"


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A catalog without problems, to be damaged."""
    return Path(shutil.copytree(WRONG / "base", tmp_path / "catalog_src"))


@contextmanager
def damaged(file: str, text: bytes) -> Iterator[Path]:
    """A catalog in which one file has other content."""
    with tempfile.TemporaryDirectory() as folder:
        catalog = Path(shutil.copytree(WRONG / "base", f"{folder}/catalog_src"))
        write(catalog, file, text)
        yield catalog


def assert_checked(catalog: Path) -> bool:
    """The catalog is valid, or every problem has a place and is one printable line."""
    try:
        pipeline.check(catalog, AS_OF, 1)
    except CatalogError as error:
        assert error.problems
        for problem in error.problems:
            assert (problem.line >= 1, problem.column >= 1, bool(problem.message)) == (True, True, True)
            assert all(letter.isprintable() or letter == "\u3000" for letter in str(problem))
            assert str(problem).encode()
        return False
    return True


# Fragments of valid catalog files, and of mistakes by people and programs.
WORDS = ["title", "cover", "chapters", "number", "published", "pages", "id", "name", "base_url", "port", "groups", "<<"]
WORDS += ["authors", "categories", "username", "keys", "sha256", "bookmarks", "modified", "views", "volume", "status"]
SIGNS = [": ", "- ", "\n", "\n  ", "\n- ", "[", "]", "{", "}", ", ", "&a ", "*a", "!!int ", "---\n", "...\n"]
SIGNS += ["%TAG ! a\n"]
SIGNS += ["#", "|\n", ">-\n", '"', "'", "\t", "\r", "\0", "\x1b", "\x85", "\u2028", "\ufeff", "\\ud800", "? ", "~"]
VALUES = ["1", "0", "-1", "1.5", "1e999", "1e99999", ".nan", "-.inf", "9" * 400, "9" * 5000, "0x" + "f" * 390, "null"]
VALUES += ["2026-01-01", "0000-00-00", "9999-12-31T23:59:59-23:59", "true", "Ada Penn", "a.jpg", "1 .. 3", '"\\ud800"']
VALUES += ['"\\0"', '"\\e[31m"', '"\\u2028"', '"$host"', "https://a.example", '"\\U00110000"', "..", "/", "[]", "{}"]
TEXTS = st.lists(st.sampled_from(WORDS + SIGNS + VALUES), max_size=20).map(lambda one: "".join(one).encode())
# A wrong value in an otherwise valid file.
ODD = st.recursive(
    st.sampled_from(VALUES) | st.text(st.characters(codec="utf-8"), max_size=8).map(ascii),
    lambda inner: st.lists(inner, max_size=3).map(lambda found: f"[{', '.join(found)}]"),
    max_leaves=4,
)
FIELDS = {
    "series/x.yaml": ["title", "cover", "status", "modified", "authors", "categories", "chapters", "é"],
    "site.yaml": ["port", "reader", "media", "server_folder", "restricted", "cache", "page_size", "hide_licensed"],
    "series/long/chapters/001.yaml": ["number", "published", "pages", "volume", "id", "views", "groups", "final"],
}
LEAST = {
    "series/x.yaml": {"title": "T", "cover": "c.jpg"},
    "site.yaml": {"base_url": "https://a.example"},
    "series/long/chapters/001.yaml": {"number": "1", "published": "2026-01-01", "pages": "[]"},
}
NEARLY_RIGHT = st.sampled_from(sorted(FIELDS)).flatmap(
    lambda file: st.tuples(st.just(file), st.dictionaries(st.sampled_from(FIELDS[file]), ODD, max_size=2))
)
OFTEN = settings(
    max_examples=60 if runs.everything else 15, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@OFTEN
@given(st.sampled_from(FILES), st.binary(max_size=60) | TEXTS)
@example("series/good.yaml", "title: a\n".encode("utf-16"))
@example("site.yaml", b"\xef\xbb\xbf\xef\xbb\xbfbase_url: https://a.example\n")
@example("keys.yaml", b'"\\e]0;owned\\a": 1\n')
def test_any_bytes_in_any_file_are_valid_or_located_problems(file: str, text: bytes) -> None:
    """No content of a file causes a traceback."""
    with damaged(file, text) as catalog:
        assert_checked(catalog)


@OFTEN
@given(NEARLY_RIGHT)
def test_any_value_of_any_field_is_valid_or_a_located_problem(changed: tuple[str, dict[str, str]]) -> None:
    """A catalog with a few random values is built or refused."""
    file, fields = changed
    text = "".join(f"{name}: {value}\n" for name, value in {**LEAST[file], **fields}.items())
    with damaged(file, text.encode()) as catalog:
        if assert_checked(catalog):
            folder = catalog.parent
            pipeline.build(Options(catalog, folder / "dist", folder / "nginx.conf", AS_OF))


@settings(OFTEN, max_examples=10 if runs.everything else 3)
@given(TEXTS.filter(lambda text: b"title" not in text))
def test_a_refused_catalog_changes_no_release(text: bytes) -> None:
    """No byte and no time of the output changes, for any content of a file."""
    with damaged("series/x.yaml", SERIES.encode()) as catalog:
        folder = catalog.parent
        options = Options(catalog, folder / "dist", folder / "nginx.conf", AS_OF)
        pipeline.build(options)
        write(catalog, "series/x.yaml", text)
        before = files(folder)
        with pytest.raises(CatalogError):
            pipeline.build(options)

        assert files(folder) == before


# Pipes, links and folders


OTHER_KINDS = {
    # The build does not wait for a writer.
    "pipe": (os.mkfifo, FILES, "cannot be read: it is neither a file nor a folder"),
    # Otherwise the accounts, or all series of a folder, would be missing without a message.
    "broken link": (
        lambda path: path.symlink_to("lost"),
        [*FILES, "series", "series/long/chapters"],
        "is a broken link; remove it or restore its target",
    ),
    "link to itself": (
        lambda path: path.symlink_to(path.name),
        ["site.yaml", "accounts.yaml", "series", "series/a.yaml"],
        "cannot be read: Too many levels of symbolic links",
    ),
    # Otherwise the series would have no chapters without a message.
    "file": (Path.touch, ["series/long/chapters"], "cannot be read: Not a directory"),
}


@pytest.mark.parametrize(("kind", "file"), [(kind, file) for kind in OTHER_KINDS for file in OTHER_KINDS[kind][1]])
def test_a_file_or_folder_of_another_kind_is_refused(catalog: Path, kind: str, file: str) -> None:
    make, _, problem = OTHER_KINDS[kind]
    path = catalog / file
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    make(path)

    assert f"{file}:1:1: {problem}" in problems(catalog)


@pytest.mark.parametrize("file", ["series/a.yml", "notes.yaml", "series/.x.yaml", "notes.txt", "series/long/notes"])
def test_a_pipe_with_another_name_is_never_opened(catalog: Path, file: str) -> None:
    """Also if its name is a problem."""
    os.mkfifo(catalog / file)

    assert_checked(catalog)


def test_a_broken_link_in_series_is_a_problem(catalog: Path) -> None:
    """It may have led to a series; a link to something else is ignored."""
    (catalog / "series/lost").symlink_to(catalog / "nowhere")
    (catalog / "series/readme").symlink_to(catalog / "site.yaml")

    assert problems(catalog) == ["series/lost:1:1: is a broken link; remove it or restore its target"]


def test_an_unreadable_folder_is_a_problem() -> None:
    """A wrong permission is no traceback."""
    with tempfile.TemporaryDirectory() as folder:
        catalog = Path(shutil.copytree(WRONG / "base", f"{folder}/catalog_src"))
        os.chmod(folder, 0o755)
        os.chmod(catalog / "series/long", 0o644)
        root = os.geteuid() == 0
        try:
            if root:
                os.seteuid(65534)
            messages = problems(catalog)
        finally:
            if root:
                os.seteuid(0)
            os.chmod(catalog / "series/long", 0o755)

    assert messages == ["series/long/series.yaml:1:1: is missing; it describes the series in this folder"]


def test_a_catalog_path_that_is_too_long_is_a_message(tmp_path: Path, run: Callable[..., object]) -> None:
    """The system refuses to look it up; the message says that it does not exist."""
    result = run("check", "--catalog", tmp_path / ("a" * 300))

    assert "no such folder" in str(result.output)


# Names


@pytest.mark.parametrize("slug", ["default", "include", "volatile", "constructor", "__proto__", "toString", "CON", "-"])
def test_slugs_with_a_meaning_elsewhere_are_valid(site: Site, slug: str) -> None:
    """To nginx, to JavaScript or to Windows."""
    site.write(f"series/{slug}.yaml", CHAPTER)
    site.build()

    assert f"/api/series/{slug}" in site.manifest.resources


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"a\nb", r"a\nb"),
        (b"\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
        (b"\xff", r"\udcff"),
        (b"\xe2\x80\xae", r"\u202e"),
    ],
)
def test_file_names_in_messages_are_escaped(catalog: Path, name: bytes, shown: str) -> None:
    """A name can neither control the terminal nor look like another line."""
    with open(bytes(catalog) + b"/series/" + name + b".yaml", "w"):
        pass

    assert [one.partition(":")[0] for one in problems(catalog)] == [f"series/{shown}.yaml"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SERIES + '"\\e[2J": 1\n', r"series/x.yaml:3:1: \x1b[2J: unknown field"),
        (SERIES + '"\\n": 1\n"\\n": 2\n', r"series/x.yaml:4:1: duplicate field \n"),
        (SERIES + 'authors: ["\\e[31m"]\n', r"series/x.yaml:3:11: authors[0]: no author is named \x1b[31m"),
    ],
)
def test_file_contents_in_messages_are_escaped(catalog: Path, text: str, message: str) -> None:
    """So are names of fields, and values that messages quote."""
    write(catalog, "series/x.yaml", text)

    assert [line for line in problems(catalog) if line.startswith(message)]
    assert_checked(catalog)


def test_blanks_of_other_scripts_are_not_escaped(catalog: Path) -> None:
    """A message quotes Japanese text as it was written."""
    (problem,) = locate.locate(catalog, [UnlocatedProblem("site.yaml", (), "紙の　月")])

    assert problem.message == "紙の　月"


# Size

BIG = [
    b'title: "' + b"a" * (MAX_SIZE - 100) + b'"\ncover: c.jpg\n',
    b"title: [" + b"a," * (MAX_VALUES + 100_000) + b"]\n",
    b"aliases: [" + b"1," * (MAX_VALUES - 9) + b"]\n",
    b"[" * 1_000_000,
    b"- " * 100_000,
    b"{a: " * 100_000,
    b"%TAG !a! tag:a\n" * 100_000 + b"--- a\n",
]


@pytest.mark.bounds
@pytest.mark.parametrize("text", BIG, ids=["a scalar", "a list", "wrong values", "[", "-", "{", "%TAG"])
def test_a_huge_file_needs_little_memory(catalog: Path, text: bytes) -> None:
    """It is read or refused quickly with less than 1 GB."""
    write(catalog, "series/x.yaml", text)

    assert_checked_with_limits(catalog)


IDS = [*range(1, 101)]
PEOPLE = "".join(f"- {{id: {id}, name: a{id}, aliases: [{'b' * 1900}]}}\n" for id in IDS)
RUN = f"https://a.example/{'a' * 1900}/1.jpg .. https://a.example/{'a' * 1900}/10000.jpg"


def chapters(count: int, **fields: object) -> str:
    values = "".join(f", {name}: {value}" for name, value in {"pages": "[a.jpg]", **fields}.items())
    numbers = range(1, count + 1)
    return "chapters:\n" + "".join(f"- {{number: {number}, published: 2026-01-01{values}}}\n" for number in numbers)


AMPLIFIED: dict[str, tuple[dict[str, str], str]] = {
    "titles": (
        {"series/x.yaml": f"title: {'a' * 2000}\ncover: c.jpg\nchapter_title: '{'{series}' * 62}'\n{chapters(300)}"},
        "series/x.yaml:1:1: the full titles of all chapters and the names of their groups have more than 33,554,432 "
        "characters; shorten them",
    ),
    "runs": (
        {"series/x.yaml": f"title: T\ncover: c.jpg\n{chapters(40, pages=RUN)}"},
        "chapters[1].pages: the names of the pages of the series have more than 33,554,432 characters up to this "
        "chapter; use shorter names, or split the series",
    ),
    "pages": (
        {f"series/x/chapters/{number}.yaml": f"{{number: {number}, published: 2026-01-01, pages: 1 .. 10000}}"
         for number in range(1, 60)} | {"series/x/series.yaml": SERIES},
        "pages: the series has more than 500,000 pages up to this chapter; split the series",
    ),
    "people": (
        {"authors.yaml": PEOPLE, "artists.yaml": PEOPLE,
         "series/y.yaml": f"{SERIES}authors: {IDS}\nartists: {IDS}\n"},
        "the names and aliases of its people and the descriptions of its categories have more than "
        "50,000 characters; shorten them",
    ),
    "old slugs": (
        {f"series/x{letter}.yaml": f"{SERIES}formerly: [{', '.join(f's{letter}-{number}' for number in range(1000))}]\n"
         for letter in range(100_001, 100_052)},
        "formerly: the catalog has more than 50,000 old slugs up to this file; remove the oldest",
    ),
}  # fmt: skip


@pytest.mark.bounds
@pytest.mark.parametrize(("texts", "message"), AMPLIFIED.values(), ids=AMPLIFIED)
def test_a_small_catalog_is_no_large_site(texts: dict[str, str], message: str, catalog: Path) -> None:
    """Texts that a series repeats, and short forms of many names, have limits."""
    for file, text in texts.items():
        write(catalog, file, text)

    assert message in assert_checked_with_limits(catalog, "build")


def assert_checked_with_limits(catalog: Path, command: str = "check") -> str:
    """`check` or `build` ends with a result or with messages, which are returned."""

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))

    words = [sys.executable, "build.py", command, "--catalog", catalog]
    if command == "build":
        words += ["--out", catalog.parent / "dist", "--nginx", catalog.parent / "nginx.conf"]
    done = subprocess.run(words, preexec_fn=bounded, capture_output=True, text=True, check=False)

    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stderr == "") in ((0, True), (1, False)), done
    return done.stderr


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("series.html", "{{ 'x' | center(2000000000) }}"),
        ("series.html", "{% for a in range(9999) %}{{ 'x' | center(90000000) }}{% endfor %}"),
        ("about.md", "|a" * 9000 + "\n" + "|-" * 9000 + "\n" + "|a\n" * 300_000),
    ],
    ids=["a filter", "a long page", "Markdown"],
)
def test_a_theme_needs_little_memory(tmp_path: Path, file: str, text: str) -> None:
    """test_themed_templates.py has the bounds of time and of compilation."""
    catalog = Path(shutil.copytree(EXAMPLE, tmp_path / "catalog_src"))
    (tmp_path / "theme").mkdir()
    (tmp_path / "theme" / file).write_text(text)

    message = f"{tmp_path}/theme/{file}:1:1: needs more than 256 MB of memory"
    assert assert_checked_with_limits(catalog).startswith(message)


def test_a_file_above_the_size_limit_is_refused(catalog: Path) -> None:
    """A sparse file of zeros is not read either."""
    write(catalog, "series/x.yaml", "")
    os.truncate(catalog / "series/x.yaml", 1 << 40)

    assert problems(catalog) == ["series/x.yaml:1:1: cannot be read: it has more than 16 MiB; split it"]


@pytest.mark.bounds
@pytest.mark.parametrize(
    "text",
    [
        b"[" + b"a," * (MAX_VALUES - 1) + b"]",
        b"a: &x [" + b"b, " * 4999 + b"]\nb: [" + b"*x, " * 98 + b"]\nc: [" + b"d, " * (MAX_VALUES - 495_003) + b"]",
    ],
    ids=["a list", "aliases"],
)
def test_a_file_has_a_limit_of_values(text: bytes) -> None:
    """Values behind aliases count; one more is refused, with one problem."""
    load(text)
    more = text[:-1] + b"e]"

    assert read_positions(text).flaws == []
    with pytest.raises(Malformed):
        load(more)
    assert [message for *_, message in read_positions(more).flaws] == [
        "too many values; a file can have at most 500000"
    ]


def test_yaml_directives_are_limited() -> None:
    """libyaml compares each with every other one, which takes hours."""
    text = b"".join(b"%%TAG !a%d! tag:a\n" % number for number in range(MAX_DIRECTIVES + 1)) + b"--- a\n"
    with pytest.raises(Malformed):
        load(text)

    assert read_positions(text).flaws == [(1, 1, "has more than 100 %TAG directives; remove them")]


def test_nested_brackets_are_limited() -> None:
    """Everything after a thousand of them is not parsed."""
    assert [message for *_, message in read_positions(b"[" * 5000).flaws] == [
        "is nested deeper than 24 levels; remove the extra brackets or indentation"
    ]


def test_a_thousand_problems_of_a_file_are_listed(catalog: Path) -> None:
    """All others are counted."""
    write(catalog, "series/x.yaml", f"{SERIES}categories: [{'1, ' * (MAX_PROBLEMS + 5)}]\n")
    messages = problems(catalog)

    assert len(messages) == MAX_PROBLEMS + 1
    assert messages[0] == "series/x.yaml:1:1: has 5 more problems, not listed"


@pytest.mark.bounds
def test_repeated_entries_are_found_in_linear_time(catalog: Path) -> None:
    """Also in a very long list."""
    categories = ", ".join(f"c{number}" for number in range(15_000))
    write(catalog, "series/x.yaml", f"{SERIES}categories: [{categories}, c7]\n")
    messages = problems(catalog)

    assert messages[-2] == "series/x.yaml:3:108904: categories[15000]: is listed twice; remove one of them"


def test_many_plaintext_keys_are_found_in_one_pass() -> None:
    """Lines and columns are right, also of many keys in one line or one file."""
    key = b"fpk_aaaaaaaaaaaaaaaa"
    text = b"\xef\xbb\xbf# \xc3\xa9 %b %b\n# # # %b\n\n\n%b\n%b %b %b " % ((key,) * 7)

    assert api_keys.positions(text) == [(1, 5), (1, 26), (2, 7), (5, 1), (6, 1), (6, 22), (6, 43)]
    assert len(api_keys.positions((key + b"\n") * 100_000)) == 100_000


def test_suggestions_are_searched_among_names_with_the_same_start() -> None:
    """With many names, misspelling all of them takes seconds, not minutes."""
    many = [f"Name {number}" for number in range(1000)] + ["Ada Penn", "Bo Ink"]

    assert did_you_mean("ada Penn", many) == "; did you mean Ada Penn?"
    assert did_you_mean("Oda Penn", many) == ""
    assert did_you_mean("Oda Penn", many[-2:]) == "; did you mean Ada Penn?"
    assert did_you_mean("a" * 1_000_000, ["a" * 1_000_000]) == ""


def test_suggestions_are_found_among_many_names_with_the_same_start() -> None:
    """Half of a large site may be called The something."""
    many = [f"The Tale of {hashlib.md5(str(one).encode()).hexdigest()}" for one in range(3000)]
    for name in (many[0], many[1234], many[2999]):
        assert did_you_mean(f"{name[:-3]}x{name[-2:]}", many) == f"; did you mean {name}?"


@pytest.mark.bounds
def test_thousands_of_invalid_files_are_reported(catalog: Path) -> None:
    """No file stays open, and memory stays small."""
    for number in range(2000):
        (catalog / f"series/s{number}.yaml").write_text("titel: a\ncover: c.jpg\n")

    assert len(problems(catalog)) == 4000


@pytest.mark.parametrize("load", [pipeline.check, load_valid], ids=["check", "load"])
def test_problems_of_a_catalog_have_a_limit(
    load: Callable[..., object], catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links to one wrong file are small; their problems could fill the memory."""
    monkeypatch.setattr(errors, "MAX_LISTED", 500)
    monkeypatch.setattr(reader, "MAX_LISTED", 500)
    write(catalog, "accounts.yaml", "- {username: a, bookmarks: [z9]}\n")
    for letter in "abc":
        write(catalog, f"series/{letter}.yaml", f"{SERIES}categories: [{'1, ' * 400}]\n")
    write(catalog, "series/z9.yaml", SERIES)
    with pytest.raises(CatalogError) as raised:
        load(catalog, AS_OF, 1) if load is pipeline.check else load(catalog)
    problems = raised.value.problems

    assert {Path(problem.file).name for problem in problems} == {"a.yaml", "b.yaml"}
    assert len(problems) == 501
    assert "only 500 problems are listed; correct these first" in {problem.message for problem in problems}


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        (" " * 1_000_000 + "@x\n", False),
        ("".join(f"- {{id: {number}, name: &a{number} Bob{number}}}\n" for number in range(1001, 21_001)), True),
        ("# #a" + "#a #a" * 600_000 + "\n", True),
    ],
    ids=["blanks before a slip", "anchors without aliases", "signs in one comment"],
)
def test_slips_and_cut_texts_are_found_in_linear_time(catalog: Path, text: str, is_right: bool) -> None:
    """With the square of the size it would take hours."""
    write(catalog, "authors.yaml", (catalog / "authors.yaml").read_text(encoding="utf-8") + text)

    assert assert_checked(catalog) is is_right
