"""The directives of an nginx configuration, without comments and white space."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|\#[^\n]*)
    |(?P<word>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?:[^\s;{}"'\#\\]|\\.)(?:[^\s;{\\]|\\.)*)
    |(?P<end>[;{}])
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens(text: str) -> Iterator[str]:
    """The words and the signs ; { } of a configuration, as nginx reads them."""
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match, f"not a configuration: {text[position : position + 60]!r}"
        if not match["skip"]:
            yield match[0]
        position = match.end()


def directives(text: str) -> str:
    """One directive per line, indented by its block."""
    lines, words, depth = [], [], 0
    for token in tokens(text):
        if token == "}":
            assert not words
            depth -= 1
        if token in (";", "{", "}"):
            lines.append("  " * depth + " ".join([*words, *([token] if token != ";" else [])]))
            words = []
            depth += token == "{"
        else:
            words.append(token)
    assert not words
    assert depth == 0
    return "".join(f"{line}\n" for line in lines)


def code(text: str) -> str:
    """A script without its comments, each of which stands on lines of its own, and without empty lines."""
    lines = (line.rstrip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.lstrip().startswith("//"))
