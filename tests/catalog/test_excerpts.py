"""The line of a problem with a caret below it: what is printed, and what is not."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.catalog import api_keys
from generator.catalog.problems.locate import SourceLines, excerpt, locate
from generator.catalog.yaml.positions import read_positions
from generator.errors import MAX_EXCERPTS, UnlocatedProblem

KEY = f"fpk_{'a1B2' * 10}"


def shown(line: str, word: str) -> str:
    """The excerpt of a word, with the caret below."""
    part = excerpt(line, line.index(word))
    return f"{part.line}\n{' ' * part.before}^"


def test_caret_is_below_the_position() -> None:
    """A wide character has two columns, a combining mark none, a tab four; control characters are escaped."""
    cases: list[Any] = [
        ("title: Two", "Two", "title: Two\n       ^"),
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
    ]
    assert [shown(line, word) for line, word, _ in cases] == [expected for *_, expected in cases]


@pytest.mark.parametrize("filler", ["a", "紙", "\x07", "e\u0301"])
def test_long_line_is_shortened_around_the_position(filler: str) -> None:
    """Both sides are shown as far as they fit; `…` marks omitted text."""
    for before, after in ((500, 500), (3, 500), (500, 3)):
        line = f"{filler * before}HERE{filler * after}"
        part = excerpt(line, line.index("HERE"))

        assert "HERE" in part.line
        assert part.line.startswith("…") == (before == 500)
        assert part.line.endswith("…") == (after == 500)
        assert 85 < len(excerpt("a" * 500, 250).line) <= 102


def test_line_that_fits_is_complete() -> None:
    """A line of a hundred columns is complete, for every position."""
    for offset in range(101):
        assert excerpt("a" * 100, offset).line == "a" * 100


@given(st.text(max_size=300), st.integers(0, 300))
def test_any_line_can_be_printed(line: str, offset: int) -> None:
    """No text leads to a second line, to a control sequence, or to more columns than allowed."""
    part = excerpt(line, min(offset, len(line)))

    assert part.line.replace("\u3000", "").isprintable()
    assert 0 <= part.before <= 101


def lines(text: str, file: str = "series/a.yaml") -> SourceLines:
    content = text.encode()
    return SourceLines(file, content, read_positions(content))


def seen(text: str, file: str = "series/a.yaml") -> list[str]:
    """Every line of a file that has an excerpt."""
    source = lines(text, file)
    every = [source.excerpt((line, 1)) for line in range(1, len(text.splitlines()) + 2)]
    return [part.line for part in every if part and part.line]


def test_key_in_a_line_is_redacted() -> None:
    """The prefix of the key is shown, and the caret is in the right column."""
    part = lines(f"title: {KEY} {{x}}\n").excerpt((1, len(f"title: {KEY} ") + 1))

    assert part
    assert (part.line, part.before) == ("title: fpk_… {x}", len("title: fpk_… "))


def test_file_with_an_escaped_key_has_no_excerpts() -> None:
    """A reader could undo the YAML escapes."""
    for disguise in [
        'title: "fpk\\x5f{rest}"\n',
        'title: "\\u0066pk_{rest}"\n',
        'title: "\\U00000066pk_{rest}"\n',
        'title: "fpk_abcdefgh\\\n  ijklmnopqrstuvwxyz"\n',
        'title: "fpk_abcdefgh\\\r\n  ijklmnopqrstuvwxyz"\n',
        'title: "fpk\\x5f{rest}\n',
    ]:
        assert seen(f"cover: a.jpg\n{disguise.replace('{rest}', 'a1B2' * 10)}") == []


def test_other_escapes_hide_no_lines() -> None:
    """A file can have a backslash, also next to a plaintext key, and an invalid escape."""
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


def test_lines_below_keys_have_no_excerpts() -> None:
    """They may contain a key instead of its digest; all other lines of accounts.yaml are shown."""
    assert seen(ACCOUNTS, "accounts.yaml") == [
        "- username: noor",
        "  bookmarks: [nothing]",
        "  bio: Reads.",
        "- {username: kit, bio: Reads}",
        "- username: last",
    ]


def test_files_with_unknown_key_positions_have_no_excerpts() -> None:
    """keys.yaml, and accounts.yaml with invalid YAML."""
    assert seen("- {name: phone, account: noor}\n", "keys.yaml") == []
    assert seen(f"{ACCOUNTS}  - [", "accounts.yaml") == []


def test_line_with_a_secret_field_has_no_excerpt_in_any_file() -> None:
    """An account that was pasted into another file keeps its secrets."""
    for line in ('"sha256" : x', "{keys: [x]}", "API-Key: x", "password: x", "'token': x"):
        assert seen(f"title: A\n{line}\n") == ["title: A"]


def test_missing_line_has_no_excerpt() -> None:
    """The file is empty, or changed in the meantime."""
    assert lines("").excerpt((3, 1)) is None


def test_lines_end_at_yaml_line_breaks() -> None:
    """Line numbers count every line break of the YAML reader."""
    for line_break in ["\n", "\r\n", "\r", "\x85", "\u2028", "\u2029"]:
        text = line_break.join(["title: A", "cover: b.jpg", "titel: C"])
        position = read_positions(text.encode()).position(("titel",), of_key=True)
        part = lines(text).excerpt(position)

        assert position == (3, 1)
        assert part and part.line == "titel: C"


def test_byte_order_mark_is_not_counted() -> None:
    """It is not printed either."""
    part = lines("\ufefftitle: A\n").excerpt((1, 8))

    assert part
    assert (part.line, part.before) == ("title: A", 7)


def test_only_the_first_problems_have_excerpts(tmp_path: Path) -> None:
    """The others are one line each."""
    (tmp_path / "a.yaml").write_text("".join(f"- {number}\n" for number in range(MAX_EXCERPTS - 10)))
    (tmp_path / "b.yaml").write_text("".join(f"- {number}\n" for number in range(MAX_EXCERPTS)))
    problems = [UnlocatedProblem("b.yaml", (index,), "is wrong") for index in reversed(range(MAX_EXCERPTS))]
    problems += [UnlocatedProblem("a.yaml", (index,), "is wrong") for index in range(MAX_EXCERPTS - 10)]
    located = locate(tmp_path, problems)

    assert [problem.excerpt.line if problem.excerpt else None for problem in located] == [
        *(f"- {number}" for number in range(MAX_EXCERPTS - 10)),
        *(f"- {number}" for number in range(10)),
        *([None] * (MAX_EXCERPTS - 10)),
    ]
    assert [bool(problem.docs) for problem in located] == [bool(problem.excerpt) for problem in located]
    assert located == sorted(located)


def test_messages_and_excerpts_contain_no_key(tmp_path: Path) -> None:
    """Keys are redacted in both."""
    (tmp_path / "series").mkdir()
    (tmp_path / "series/a.yaml").write_text(f"title: {KEY}\ncover: {KEY}/x\n")
    problems = locate(tmp_path, [UnlocatedProblem("series/a.yaml", ("cover",), f"is {KEY}")])

    assert len(problems) == 3
    assert all(api_keys.redacted(repr(problem)) == repr(problem) for problem in problems)
    assert all(problem.excerpt for problem in problems)
