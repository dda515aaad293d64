"""Quoting of values for a configuration: nginx reads the same value back, or the value is refused."""

import random
from pathlib import Path

import pytest

from generator.api.payloads.resources import Gate
from generator.errors import FlatpanelError
from generator.nginx import maps
from generator.nginx.quoting import quote, quote_path
from tests.support import nginx_client
from tests.support.tables import each


@each("text", ["a", "/api/series/first", "8000", "dist/current", "public,max-age=60", "https://a.b:1/"])
def test_plain_word_is_not_quoted(text: str) -> None:
    """People read configurations, too."""
    assert quote(text) == text


@each(
    ("text", "word"),
    [
        ("", '""'),
        ("a b", '"a b"'),
        ('a"b', r'"a\"b"'),
        ("a'b", '"a\'b"'),
        ("a\\b", r'"a\\b"'),
        ("a;b", '"a;b"'),
        ("{a}", '"{a}"'),
        ("#a", '"#a"'),
        ("~a", '"~a"'),
        ("é", '"é"'),
    ],
)
def test_other_text_is_quoted(text: str, word: str) -> None:
    """With a backslash before quotes and backslashes only."""
    assert quote(text) == word


def test_number_is_a_word() -> None:
    """Ports and statuses are numbers."""
    assert quote(8000) == "8000"


@each("character", ["$", "\x00", "\t", "\n", "\r", "\x1b", "\x7f"])
def test_text_without_an_escape_is_refused(character: str) -> None:
    """The message shows the value with escapes, so that a terminal can print it, and the fix."""
    with pytest.raises(FlatpanelError) as error:
        quote(f"a{character}b")

    assert str(error.value) == f"{f'a{character}b'!r} cannot be written into an nginx configuration; rename it"


@each("text", ["a" * 4001, "é" * 2001, '"' * 2001])
def test_too_long_text_is_refused(text: str) -> None:
    """nginx reads words into a buffer of 4096 bytes."""
    with pytest.raises(FlatpanelError, match="is too long for an nginx configuration"):
        quote(text)


@each("character", ["*", "?", "["])
def test_path_with_wildcards_is_refused(character: str) -> None:
    """`include` would look for all matching files, and miss a folder of that name."""
    path = Path(f"/srv/a{character}b")
    with pytest.raises(FlatpanelError) as error:
        quote_path(path)

    assert str(error.value) == (
        f"{str(path)!r}: nginx cannot use a folder with *, ?, [, ' or \\ in its name; rename it"
    )


def test_path_with_spaces_is_quoted() -> None:
    """A space in the name of a folder is allowed."""
    assert (quote_path("/srv/a b"), quote_path(Path("/srv/a"))) == ('"/srv/a b"', "/srv/a")


VALUES = [
    "",
    "a b",
    "'",
    '"',
    "\\",
    "a\\",
    "{}",
    "# no comment",
    "~*x",
    "default",
    "include /etc/passwd;",
    '"); return 200 "x"; #',
    "紙の月",
    "👩‍👩‍👧‍👦",
    "\x80",
    "a" * 4000,
    '"' * 1999,
]


def nonsense(count: int) -> list[str]:
    """Texts of characters with a meaning for nginx, the same ones each time."""
    chance = random.Random(1)
    return ["".join(chance.choices("ab \"'\\;{}#~*%()[]=,.:/@é紙👩", k=chance.randrange(1, 30))) for _ in range(count)]


def test_nginx_returns_quoted_values_unchanged(tmp_path: Path) -> None:
    """A real nginx returns every value as it was given."""
    values = VALUES + nonsense(400)
    locations = "\n".join(f"location = /{index} {{ return 200 {quote(value)}; }}" for index, value in enumerate(values))
    with nginx_client.listening() as listener:
        (tmp_path / "nginx.conf").write_text(
            f"pid nginx.pid; events {{ }} http {{ {nginx_client.TEMPORARY_PATHS} access_log off; server {{\n"
            f"listen {listener.getsockname()[1]};\n{locations}\n}} }}\n",
            encoding="utf-8",
        )
        with nginx_client.running(tmp_path, listener) as server:
            replies = [server.ask(f"/{index}").body.decode() for index in range(len(values))]

    assert replies == values


def test_the_target_of_a_gate_may_have_a_dollar_sign() -> None:
    """A cover may have it in its URL; nginx would read a variable."""
    line = maps.gate_line(Gate("/komga/x", 302, "https://covers.example/$uri.png"))

    assert line == ("site", "/komga/x", '"302https://covers.example/${fp_dollar}uri.png"')
