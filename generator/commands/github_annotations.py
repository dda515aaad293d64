"""Workflow commands that GitHub shows beside the lines of a pull request."""

import os

from ..errors import Problem

# Characters that end a message or a property.
_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def problem(problem: Problem, level: str = "error") -> str:
    """The annotation of a problem. Its message repeats file and line, for readers of the log."""
    properties = {
        "file": _path(problem.file),
        "line": problem.line,
        "col": problem.column,
        "title": problem.field or "catalog",
    }
    text = ",".join(f"{name}={str(value).translate(_PROPERTY)}" for name, value in properties.items())
    return f"::{level} {text}::{str(problem).translate(_MESSAGE)}"


def error(sentence: str) -> str:
    return f"::error::{sentence.translate(_MESSAGE)}"


def warning(sentence: str) -> str:
    return f"::warning::{sentence.translate(_MESSAGE)}"


def _path(file: str) -> str:
    """The path relative to the repository, as GitHub expects it."""
    root = os.environ.get("GITHUB_WORKSPACE") or os.getcwd()
    path = os.path.relpath(file, root)
    return file if path.startswith("..") else path
