"""Error output and exit codes of all commands."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from ..catalog.problems.doc_links import PAGE
from ..errors import MAX_EXCERPTS, FlatpanelError, Problem
from . import github_annotations
from .output import failure, is_stdout_lost, print_json, print_lines

EXIT_PROBLEMS = 1
# Messages below the command line name commands in this form, because the program name is not available there.
PROGRAM = "`python build.py "
# Commands that write no files, so that a failure has nothing to reassure about.
READ_ONLY = {"check", "diff", "next"}

F = TypeVar("F", bound=Callable[..., Any])


def handle_errors(command: F) -> F:
    """Print errors of the catalog and the file system, and exit with 1. Any other exception is a defect."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except BrokenPipeError:
            raise  # the reader of the output has closed the pipe; click exits quietly
        except (FlatpanelError, OSError) as error:
            output_format = "json" if kwargs.get("as_json") else kwargs.get("output_format") or "text"
            is_read_only = kwargs.get("check") or click.get_current_context().info_name in READ_ONLY
            print_error(error, output_format=output_format, is_read_only=bool(is_read_only))
            raise SystemExit(EXIT_PROBLEMS) from None

    return run  # type: ignore[return-value]


def with_program_name(sentence: str) -> str:
    """Replace `python build.py …` by the program that was called, such as `flatpanel …`."""
    return sentence.replace(PROGRAM, f"`{click.get_current_context().find_root().info_name} ")


def print_error(error: FlatpanelError | OSError, *, output_format: str = "text", is_read_only: bool = False) -> None:
    """Print an error; on standard error for people, and also for programs if standard output is closed or fails."""
    # Errors of `diff --format markdown` are text.
    if output_format not in ("json", "github") or is_stdout_lost(error):
        _print_text(error, is_read_only=is_read_only)
        return
    try:
        if output_format == "json":
            print_json({"ok": False, "message": "\n".join(sentences(error)), "problems": problem_records(error)})
        else:
            problems = map(github_annotations.problem, _problems(error))
            print_lines(*(list(problems) or map(github_annotations.error, sentences(error))))
            _print_count(error, is_read_only=is_read_only)
    except BrokenPipeError:
        raise
    except OSError as failed:
        _print_text(error, is_read_only=is_read_only)
        print_lines(failure(failed), err=True, fg="red")


def _print_text(error: FlatpanelError | OSError, *, is_read_only: bool) -> None:
    problems = _problems(error)
    for problem in problems:
        for line in problem_lines(problem):
            print_lines(line, err=True, **_style(line))
    if not problems:
        print_lines(*sentences(error), err=True, fg="red")
    if len(problems) > MAX_EXCERPTS:
        print_lines(f"source lines are shown for the first {MAX_EXCERPTS} of {len(problems)} problems", err=True)
    _print_count(error, is_read_only=is_read_only)


def _print_count(error: FlatpanelError | OSError, *, is_read_only: bool) -> None:
    if problems := _problems(error):
        count = f"{len(problems)} problem{'s' * (len(problems) > 1)}"
        print_lines(count if is_read_only else f"{count}; nothing was written", err=True, bold=True)


def _problems(error: FlatpanelError | OSError) -> tuple[Problem, ...]:
    return tuple(
        replace(problem, message=with_program_name(problem.message)) for problem in getattr(error, "problems", ())
    )


def problem_records(error: FlatpanelError | OSError) -> list[dict[str, Any]]:
    """The problems of the catalog as JSON."""
    names = ("file", "line", "column", "field", "message")
    return [{name: getattr(problem, name) for name in names} for problem in _problems(error)]


def problem_lines(problem: Problem) -> Iterator[str]:
    """The problem, its source line with a caret, and a link to the documentation."""
    yield str(problem)
    if problem.excerpt:
        yield f"{problem.line:>5} | {problem.excerpt.line}"
        yield f"      | {' ' * problem.excerpt.before}^"
    if explanation := _explanation(problem):
        yield f"      = {explanation}"


def _style(line: str) -> dict[str, Any]:
    """The style of a line of `problem_lines`. All lines but the first begin with a space."""
    if line.startswith("      "):
        return {"fg": "red", "bold": True} if line.endswith("^") else {"dim": True}
    return {} if line.startswith(" ") else {"fg": "red"}


def _explanation(problem: Problem) -> str | None:
    """The section of the documents if they are in the working folder, as in a checkout; else the `explain` command."""
    if not problem.docs or Path(PAGE).is_file():
        return problem.docs
    # Imported here because it is slow, and a checkout does not need it.
    from ..catalog import field_help

    topic = field_help.topic(*problem.topic) if problem.topic else None
    return with_program_name(f"{PROGRAM}explain {topic}`").strip("`") if topic else None


def print_warning(warning: str | Problem, *, output_format: str = "text") -> None:
    if output_format == "github":
        print_lines(
            github_annotations.problem(warning, "warning")
            if isinstance(warning, Problem)
            else github_annotations.warning(with_program_name(warning))
        )
    else:
        print_lines(f"warning: {with_program_name(str(warning))}", err=True, fg="yellow")


class HasWarnings(Protocol):
    """The result of a build or a check."""

    warnings: list[str]
    # Warnings with a position in a file.
    located: list[Problem]


def print_warnings(result: HasWarnings, *, output_format: str) -> None:
    warnings: list[str | Problem] = [*result.warnings, *result.located]
    for warning in warnings:
        print_warning(warning, output_format=output_format)


def sentences(error: FlatpanelError | OSError) -> list[str]:
    if isinstance(error, FlatpanelError):
        return list(map(with_program_name, error.sentences))
    return [failure(error)]
