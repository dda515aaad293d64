"""What GitHub shows beside the line of a pull request, as its runners read it from what a step prints."""

import os

from ..errors import Problem

# What the runner takes for the end of a message or of a property.
_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def problem(one: Problem, level: str = "error") -> str:
    """The message has the place as well, for those who read the log."""
    properties = {"file": _path(one.file), "line": one.line, "col": one.column, "title": one.field or "catalog"}
    written = ",".join(f"{name}={str(value).translate(_PROPERTY)}" for name, value in properties.items())
    return f"::{level} {written}::{str(one).translate(_MESSAGE)}"


def error(sentence: str) -> str:
    return f"::error::{sentence.translate(_MESSAGE)}"


def warning(sentence: str) -> str:
    return f"::warning::{sentence.translate(_MESSAGE)}"


def _path(file: str) -> str:
    """GitHub knows files by their paths below the repository, from wherever a step is run."""
    root = os.environ.get("GITHUB_WORKSPACE") or os.getcwd()
    path = os.path.relpath(file, root)
    return file if path.startswith("..") else path
