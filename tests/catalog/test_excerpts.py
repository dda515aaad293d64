"""The line that is meant and the caret below it: what terminals show, and what they never show."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.catalog import api_keys
from generator.catalog.problems.excerpts import SourceLines, excerpt
from generator.catalog.problems.locate import MAX_EXCERPTS, UnlocatedProblem, locate
from generator.catalog.yaml.positions import read_positions

KEY = f"fpk_{'a1B2' * 10}"


def shown(line: str, word: str) -> str:
    """A line and below it the caret under a word."""
    found = excerpt(line, line.index(word))
    return f"{found.line}\n{' ' * found.before}^"


@pytest.mark.parametrize(
    ("line", "word", "expected"),
    [
        ("title: Two", "Two", "title: Two\n       ^"),
        ("title: Two", "title", "title: Two\n^"),
        ("\ttitle:\tTwo", "Two", "    title:    Two\n              ^"),
        ("title: 紙の月 {x}", "{x}", "title: 紙の月 {x}\n              ^"),
        ("title: ｱﾆﾒ {x}", "{x}", "title: ｱﾆﾒ {x}\n           ^"),
        ("title: e\u0301te\u0301 {x}", "{x}", "title: e\u0301te\u0301 {x}\n           ^"),
        ("title: a\u20dd {x}", "{x}", "title: a\u20dd {x}\n         ^"),
        ("title: 🌵 {x}", "{x}", "title: 🌵 {x}\n          ^"),
        ("title:\u3000{x}", "{x}", "title:\u3000{x}\n        ^"),
        ("a: \x1b[31m, \x07{x}", "{x}", "a: \\x1b[31m, \\x07{x}\n                 ^"),
        ("a: \u202e{x}", "{x}", "a: \\u202e{x}\n         ^"),
        ("a: \ufffd {x}", "{x}", "a: \ufffd {x}\n     ^"),
        ("a: b   ", "b", "a: b\n   ^"),
    ],
    ids=[
        "plain",
        "first",
        "tabs",
        "wide",
        "half wide",
        "marks",
        "circled",
        "emoji",
        "blank",
        "escapes",
        "bidi",
        "lost",
        "end",
    ],
)
def test_the_caret_stands_under_the_place(line: str, word: str, expected: str) -> None:
    """Wide letters are two columns, marks none, a tab four; what a terminal would obey is escaped."""
    assert shown(line, word) == expected


@pytest.mark.parametrize("filler", ["a", "紙", "\x07", "e\u0301"])
def test_a_long_line_is_cut_around_the_place(filler: str) -> None:
    """As much as fits is shown on both sides, and `…` where more follows."""
    for before, after in ((500, 500), (3, 500), (500, 3)):
        line = f"{filler * before}HERE{filler * after}"
        found = excerpt(line, line.index("HERE"))

        assert "HERE" in found.line
        assert found.line.startswith("…") == (before == 500)
        assert found.line.endswith("…") == (after == 500)
        assert 85 < len(excerpt("a" * 500, 250).line) <= 102


def test_a_line_that_fits_is_not_cut() -> None:
    """A line of a hundred columns is shown whole, wherever the place is."""
    for offset in range(101):
        assert excerpt("a" * 100, offset).line == "a" * 100


@given(st.text(max_size=300), st.integers(0, 300))
def test_whatever_stands_in_a_line_can_be_printed(line: str, offset: int) -> None:
    """No text leads to more than one line, to a command, or to more columns than there are."""
    found = excerpt(line, min(offset, len(line)))

    assert found.line.replace("\u3000", "").isprintable()
    assert 0 <= found.before <= 101


def lines(text: str, file: str = "series/a.yaml") -> SourceLines:
    content = text.encode()
    return SourceLines(file, content, read_positions(content))


def seen(text: str, file: str = "series/a.yaml") -> list[str]:
    """Every line of a file that may be shown."""
    found = lines(text, file)
    every = [found.excerpt((line, 1)) for line in range(1, len(text.splitlines()) + 2)]
    return [one.line for one in every if one and one.line]


def test_a_key_in_a_line_is_hidden() -> None:
    """Of a key its beginning is shown, and the caret stands where it would without the rest."""
    found = lines(f"title: {KEY} {{x}}\n").excerpt((1, len(f"title: {KEY} ") + 1))

    assert found
    assert (found.line, found.before) == ("title: fpk_… {x}", len("title: fpk_… "))


@pytest.mark.parametrize(
    "disguise",
    [
        'title: "fpk\\x5f{rest}"\n',
        'title: "\\u0066pk_{rest}"\n',
        'title: "\\U00000066pk_{rest}"\n',
        'title: "fpk_abcdefgh\\\n  ijklmnopqrstuvwxyz"\n',
        'title: "fpk_abcdefgh\\\r\n  ijklmnopqrstuvwxyz"\n',
        'title: "fpk\\x5f{rest}\n',
    ],
    ids=["\\x", "\\u", "\\U", "folded", "folded, CRLF", "not closed"],
)
def test_no_line_of_a_file_with_a_disguised_key_is_shown(disguise: str) -> None:
    """Who undoes the escapes could read it; so nothing of the file is repeated."""
    assert seen(f"cover: a.jpg\n{disguise.replace('{rest}', 'a1B2' * 10)}") == []


def test_escapes_that_disguise_nothing_hide_nothing() -> None:
    """A file may have a backslash, also beside a key in clear, and one that stands for no letter."""
    assert seen('title: "a\\x5fb \\U99999999"\n') == ['title: "a\\x5fb \\U99999999"']
    assert seen(f'title: "\\t"\n# {KEY}\n') == ['title: "\\t"', "# fpk_…"]


ACCOUNTS = """\
- username: noor
  bookmarks: [nothing]
  keys:
    - name: phone
      # not even here
      sha256:
        theKeyItself
    - {name: tablet, sha256: anotherKey}
  bio: Reads.
- {username: wren, keys: [{name: a,
   sha256: thirdKey}], bookmarks: [x]}
- {username: kit, bio: Reads}
- {username: ann, keys: [of
   fourthKey], bio: Reads}
- username: last
  keys: [[oddKey,
    oddKey]]
"""


def test_what_stands_among_keys_is_not_shown() -> None:
    """Somebody may have written a key where its digest belongs; all other lines of accounts.yaml are shown."""
    assert seen(ACCOUNTS, "accounts.yaml") == [
        "- username: noor",
        "  bookmarks: [nothing]",
        "  bio: Reads.",
        "- {username: kit, bio: Reads}",
        "- username: last",
    ]


def test_nothing_is_shown_of_files_whose_keys_cannot_be_found() -> None:
    """keys.yaml is all keys, and in accounts.yaml that is no YAML nobody knows where they are."""
    assert seen("- {name: phone, account: noor}\n", "keys.yaml") == []
    assert seen(f"{ACCOUNTS}  - [", "accounts.yaml") == []


@pytest.mark.parametrize(
    "line",
    ["sha256: x", '"sha256" : x', "{keys: [x]}", "- {key: x}", "API-Key: x", "apiKeys: x", "password: x", "'token': x"],
)
def test_a_line_that_speaks_of_keys_is_not_shown_in_any_file(line: str) -> None:
    """An account that was pasted into another file keeps its secrets."""
    assert seen(f"title: A\n{line}\n") == ["title: A"]


def test_a_line_that_is_not_there_is_not_shown() -> None:
    """An empty file, and one that changed in the meantime, have no line."""
    assert lines("").excerpt((3, 1)) is None


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\x85", "\u2028", "\u2029"])
def test_lines_end_where_yaml_says(line_break: str) -> None:
    """The number of a line counts every line break that the reader counts."""
    text = line_break.join(["title: A", "cover: b.jpg", "titel: C"])
    place = read_positions(text.encode()).position(("titel",), of_key=True)
    found = lines(text).excerpt(place)

    assert place == (3, 1)
    assert found and found.line == "titel: C"


def test_a_byte_order_mark_moves_no_caret() -> None:
    """Places do not count it, and it is not shown."""
    found = lines("\ufefftitle: A\n").excerpt((1, 8))

    assert found
    assert (found.line, found.before) == ("title: A", 7)


def test_only_the_first_problems_come_with_help(tmp_path: Path) -> None:
    """Whoever has very many begins with these; the others are one line each."""
    (tmp_path / "a.yaml").write_text("".join(f"- {number}\n" for number in range(MAX_EXCERPTS - 10)))
    (tmp_path / "b.yaml").write_text("".join(f"- {number}\n" for number in range(MAX_EXCERPTS)))
    complaints = [UnlocatedProblem("b.yaml", (index,), "is wrong") for index in reversed(range(MAX_EXCERPTS))]
    complaints += [UnlocatedProblem("a.yaml", (index,), "is wrong") for index in range(MAX_EXCERPTS - 10)]
    found = locate(tmp_path, complaints)

    assert [one.excerpt.line if one.excerpt else None for one in found] == [
        *(f"- {number}" for number in range(MAX_EXCERPTS - 10)),
        *(f"- {number}" for number in range(10)),
        *([None] * (MAX_EXCERPTS - 10)),
    ]
    assert [bool(one.docs) for one in found] == [bool(one.excerpt) for one in found]
    assert found == sorted(found)


def test_what_is_hidden_in_messages_is_hidden_in_lines(tmp_path: Path) -> None:
    """Nowhere in what is told of a file stands a key."""
    (tmp_path / "series").mkdir()
    (tmp_path / "series/a.yaml").write_text(f"title: {KEY}\ncover: {KEY}/x\n")
    found = locate(tmp_path, [UnlocatedProblem("series/a.yaml", ("cover",), f"is {KEY}")])

    assert len(found) == 3
    assert all(api_keys.redacted(repr(one)) == repr(one) for one in found)
    assert all(one.excerpt for one in found)
