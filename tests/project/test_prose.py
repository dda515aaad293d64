"""The language of the project: plain technical words, and variables that are named after what they hold."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.paths import ROOT

# Words that leave out whom or what a sentence is about.
BANNED_WORDS = re.compile(r"\b(whoever|whatever|nobody|somebody|whom|anew)\b", re.IGNORECASE)
# Variable names that fit any value, so that they say nothing about this one.
BANNED_NAMES = {"found", "one", "told", "said", "known"}

SUFFIXES = {".py", ".md", ".conf", ".js", ".html", ".css", ".yml", ".yaml", ".toml", ".patch", ""}
FOLDERS = ("generator", "docs", "bench", "tools", "requirements", ".ci", ".github")
# Files of other people and programs.
NOT_OURS = ("LICENSE", "generator/api/docs_page/swagger-ui", "generator/api/docs_page/LICENSE", ".coverage")
# Texts of the example catalog.
EXCEPTIONS = {"017-nobody-steers", "Nobody Steers", "Somebody leaves home"}


def path_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def texts() -> Iterator[Path]:
    """Every file of the project that people read, without the tests."""
    places = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    for path in sorted([*places, *ROOT.glob("*"), *ROOT.glob(".*")]):
        if path.is_file() and path.suffix in SUFFIXES and not path_of(path).startswith(NOT_OURS):
            yield path


def banned_words(text: str) -> Iterator[tuple[int, str]]:
    for exception in EXCEPTIONS:
        text = text.replace(exception, "")
    for number, line in enumerate(text.splitlines(), start=1):
        for match in BANNED_WORDS.finditer(line):
            yield number, match[0]


def test_plain_words() -> None:
    """A sentence names its subject: "the build", "the client", "an author"."""
    offenders = [
        f"{path_of(path)}:{number}: {word}"
        for path in texts()
        for number, word in banned_words(path.read_text(encoding="utf-8"))
    ]

    assert offenders == []


def test_plain_words_in_tests() -> None:
    """Names and docstrings of tests are read as the list of promises; texts that they send or compare are data."""
    offenders = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if path == Path(__file__) or not any(banned_words(source.replace("_", " "))):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = f"{getattr(node, 'name', '')} {ast.get_docstring(node) or ''}".replace("_", " ")
                offenders += [f"{path_of(path)}:{getattr(node, 'lineno', 1)}: {word}" for _, word in banned_words(text)]

    assert offenders == []


def bound_name(node: ast.AST) -> str | None:
    """The name that a node gives to a value."""
    match node:
        case ast.Name(id=bound, ctx=ast.Store()) | ast.arg(arg=bound) | ast.FunctionDef(name=bound):
            return bound
        case ast.ExceptHandler(name=bound) | ast.MatchAs(name=bound) | ast.MatchStar(name=bound):
            return bound
    return None


def vague_names(tree: ast.Module) -> set[tuple[int, str]]:
    """Banned names, except those in a comprehension or lambda of a single line."""
    short = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
    nodes = [*ast.walk(tree)]
    banned = {node: name for node in nodes if (name := bound_name(node)) in BANNED_NAMES}
    scopes = [node for node in nodes if isinstance(node, short) and node.lineno == node.end_lineno]
    allowed = {inside for scope in scopes for inside in ast.walk(scope)} if banned else set()
    return {(node.lineno, name) for node, name in banned.items() if node not in allowed}


def test_variables_are_named_after_their_content() -> None:
    """A variable that lives longer than one line is not called `found`, `one`, `told`, `said` or `known`."""
    sources = {path_of(path): path.read_text("utf-8") for path in sorted((ROOT / "generator").rglob("*.py"))}

    assert [(name, *place) for name, text in sources.items() for place in vague_names(ast.parse(text))] == []


def test_the_checks_see_what_they_forbid() -> None:
    """Both checks report an example of each fault, and accept the allowed forms."""
    assert [word for _, word in banned_words("Whoever asks,\nand anew; 017-nobody-steers")] == ["Whoever", "anew"]
    code = (
        "found = 1\nnames = [one for one in found]\nlong = [\n    one\n    for one in found\n]\ndef said(told): ...\n"
    )
    assert sorted(vague_names(ast.parse(code))) == [(1, "found"), (5, "one"), (7, "said"), (7, "told")]
