"""How a command runs: its examples in the help, its result in the chosen format, its errors and exit codes."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Protocol

import click

from ..catalog.problems.doc_links import PAGE
from ..errors import MAX_EXCERPTS, FlatpanelError, Problem, counted
from .help import summary, write_examples
from .output import Line, failure, is_stdout_lost, output_format, print_data, print_json, print_lines

EXIT_PROBLEMS = 1
# Messages below the command line name commands in this form, because the program name is not available there.
PROGRAM = "`python build.py "
# Lines that are printed at once.
_BLOCK = 100
# Commands that write no files, so that a failure has nothing to reassure about.
READ_ONLY = {"check", "diff", "list", "next"}


@dataclass(frozen=True, slots=True)
class Result:
    """What a command found or did. Only `lines()` or `plain()` is called: text for people, or the value of `--json`."""

    lines: Callable[[], Iterable[str | Line]]
    plain: Callable[[], Mapping[str, object]] = dict
    # Otherwise the command exits with EXIT_PROBLEMS.
    ok: bool = True
    # Other programs read the lines on standard output, which are escaped only on a terminal.
    is_data: bool = False


class Command(click.Command):
    """A command that returns a result, with examples: its arguments as typed after the name of the program."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, ctx, formatter)

    def invoke(self, ctx: click.Context) -> None:
        """Print the result, or an error of the catalog or the file system. Any other exception is a defect."""
        try:
            result: Result | None = super().invoke(ctx)
            if result:
                _print_result(result)
        except BrokenPipeError:
            raise  # the reader of the output has closed the pipe; click exits quietly
        except (FlatpanelError, OSError) as error:
            print_error(error, is_read_only=bool(ctx.params.get("check")) or ctx.info_name in READ_ONLY)
            raise SystemExit(EXIT_PROBLEMS) from None
        if result and not result.ok:
            raise SystemExit(EXIT_PROBLEMS)


class CommandGroup(click.Group):
    """A group of commands with examples of their own, listed with their whole summaries."""

    command_class = Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(command)) for name, command in sorted(self.commands.items())])


def _print_result(result: Result) -> None:
    if output_format() == "json":
        print_json(result.plain())
    else:
        show(result.lines(), is_data=result.is_data)


def show(lines: Iterable[str | Line], *, is_data: bool = False) -> None:
    """Print lines as those of a result: what a command tells before it ends, such as a server that runs."""
    all_lines = (line if isinstance(line, Line) else Line(line) for line in lines)
    for (err, style), group in groupby(all_lines, lambda line: line[1:]):
        texts = (line.text for line in group)
        if is_data and not err:
            print_data(texts)
        # In blocks: the changes of a large release are printed while they are found.
        while block := list(islice(texts, _BLOCK)):
            if output_format() != "github":
                print_lines(*block, err=err, **style)
            else:
                # GitHub takes ##[error] for a workflow command anywhere in a line.
                print_lines(*(_error_annotation(line) if err else line.replace("##[", "# #[") for line in block))


def with_program_name(sentence: str) -> str:
    """Replace `python build.py …` by the program that was called, such as `flatpanel …`."""
    return sentence.replace(PROGRAM, f"`{click.get_current_context().find_root().info_name} ")


def print_error(error: FlatpanelError | OSError, *, is_read_only: bool = False) -> None:
    """Print an error; on standard error for people, and also for programs if standard output is closed or fails."""
    # Errors of `diff --format markdown` are text.
    if output_format() not in ("json", "github") or is_stdout_lost(error):
        _print_text(error, is_read_only=is_read_only)
        return
    try:
        if output_format() == "json":
            print_json({"ok": False, "message": "\n".join(sentences(error)), "problems": problem_records(error)})
        else:
            problems = map(_problem_annotation, _problems(error))
            print_lines(*(list(problems) or map(_error_annotation, sentences(error))))
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
        count = counted(len(problems), "problem")
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


def print_warning(warning: str | Problem) -> None:
    if output_format() != "github":
        print_lines(f"warning: {with_program_name(str(warning))}", err=True, fg="yellow")
    elif isinstance(warning, Problem):
        print_lines(_problem_annotation(warning, "warning"))
    else:
        print_lines(f"::warning::{with_program_name(warning).translate(_MESSAGE)}")


def warning(text: str) -> Line:
    return Line(f"warning: {with_program_name(text)}", err=True, style={"fg": "yellow"})


class HasWarnings(Protocol):
    """The result of a build or a check."""

    warnings: list[str]
    # Warnings with a position in a file.
    located: list[Problem]


def print_warnings(result: HasWarnings) -> None:
    warnings: list[str | Problem] = [*result.warnings, *result.located]
    for each in warnings:
        print_warning(each)


def sentences(error: FlatpanelError | OSError) -> list[str]:
    if isinstance(error, FlatpanelError):
        return list(map(with_program_name, error.sentences))
    return [failure(error)]


# Workflow commands that GitHub shows beside the lines of a pull request

# Characters that end a message or a property.
_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def _problem_annotation(problem: Problem, level: str = "error") -> str:
    """The annotation of a problem. Its message repeats file and line, for readers of the log."""
    properties = {
        "file": _path(problem.file),
        "line": problem.line,
        "col": problem.column,
        "title": problem.field or "catalog",
    }
    text = ",".join(f"{name}={str(value).translate(_PROPERTY)}" for name, value in properties.items())
    return f"::{level} {text}::{str(problem).translate(_MESSAGE)}"


def _error_annotation(sentence: str) -> str:
    return f"::error::{sentence.translate(_MESSAGE)}"


def _path(file: str) -> str:
    """The path relative to the repository, as GitHub expects it."""
    root = os.environ.get("GITHUB_WORKSPACE") or os.getcwd()
    path = os.path.relpath(file, root)
    return file if path.startswith("..") else path
