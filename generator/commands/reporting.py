"""How a command ends that cannot do what was asked."""

import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from ..catalog.problems.doc_links import PAGE
from ..catalog.problems.locate import MAX_EXCERPTS
from ..errors import FlatpanelError, Problem
from . import github_annotations
from .output import print_json, print_lines

EXIT_PROBLEMS = 1
# How sentences name our commands below the command line, where nobody knows how the program was called.
PROGRAM = "`python build.py "

_PROJECT = Path(__file__).parents[2]

F = TypeVar("F", bound=Callable[..., Any])


def handle_errors(command: F) -> F:
    """What a catalog or a disk lacks is printed and ends in exit code 1; what is wrong with us is a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except BrokenPipeError:
            raise  # whoever read what we print has enough of it; click ends quietly
        except (FlatpanelError, OSError) as error:
            print_error(error, form="json" if kwargs.get("as_json") else kwargs.get("form", "text"))
            raise SystemExit(EXIT_PROBLEMS) from None

    return run  # type: ignore[return-value]


def with_program_name(sentence: str) -> str:
    """A sentence that names our commands as the person at the keyboard calls them: `flatpanel …` if it is installed."""
    return sentence.replace(PROGRAM, f"`{click.get_current_context().find_root().info_name} ")


def print_error(error: FlatpanelError | OSError, *, form: str = "text") -> None:
    problems = tuple(replace(one, message=with_program_name(one.message)) for one in getattr(error, "problems", ()))
    if form == "json":
        names = ("file", "line", "column", "field", "message")
        told = [{name: getattr(one, name) for name in names} for one in problems]
        print_json({"ok": False, "message": "\n".join(_sentences(error)), "problems": told})
        return
    if form == "github":
        print_lines(
            *(
                map(github_annotations.problem, problems)
                if problems
                else map(github_annotations.error, _sentences(error))
            )
        )
    elif problems:
        for line in (line for one in problems for line in problem_lines(one)):
            print_lines(line, err=True, **_style(line))
    else:
        print_lines(*_sentences(error), err=True, fg="red")
    if problems:
        count = f"{len(problems)} problem{'s' * (len(problems) > 1)}"
        if form == "text" and len(problems) > MAX_EXCERPTS:
            print_lines(f"the first {MAX_EXCERPTS} of {count} are shown with their lines", err=True)
        print_lines(f"{count}; nothing was written", err=True, bold=True)


def problem_lines(problem: Problem) -> Iterator[str]:
    """The problem in one line, then the line that is meant, and where to read what would be right."""
    yield str(problem)
    if problem.excerpt:
        yield f"{problem.line:>5} | {problem.excerpt.line}"
        yield f"      | {' ' * problem.excerpt.before}^"
    if explanation := _explanation(problem):
        yield f"      = {explanation}"


def _style(line: str) -> dict[str, Any]:
    """How a line of an explained problem is shown: all but the first begin with a blank."""
    if line.startswith("      "):
        return {"fg": "red", "bold": True} if line.endswith("^") else {"dim": True}
    return {} if line.startswith(" ") else {"fg": "red"}


def _explanation(problem: Problem) -> str | None:
    """The section of the documents in a checkout; the command that prints it where the program is installed."""
    if not problem.docs or (_PROJECT / PAGE).is_file():
        return problem.docs
    # Takes its time to load, and a checkout does not need it.
    from ..catalog import field_help

    topic = field_help.topic(*problem.topic) if problem.topic else None
    return with_program_name(f"{PROGRAM}explain {topic}`").strip("`") if topic else None


def print_warning(warning: str | Problem, *, form: str = "text") -> None:
    if form == "github":
        print_lines(
            github_annotations.problem(warning, "warning")
            if isinstance(warning, Problem)
            else github_annotations.warning(with_program_name(warning))
        )
    else:
        print_lines(f"warning: {with_program_name(str(warning))}", err=True, fg="yellow")


def _sentences(error: FlatpanelError | OSError) -> list[str]:
    if isinstance(error, FlatpanelError):
        return list(map(with_program_name, error.sentences))
    if error.filename is not None:
        return [f"{os.fsdecode(error.filename)}: {error.strerror}"]
    # Some calls are about no file.
    return [error.strerror or str(error)]
