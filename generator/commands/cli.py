"""The command line: one group of commands, each loaded from its module when it is used."""

import gc
import os
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from typing import Any

import click

from .. import __version__
from . import output
from .help import refuse_unknown, write_examples

# The sections of the help, and in each the commands with the first sentence of their docstrings. Without this table,
# the help would import all commands.
_SECTIONS = {
    "Build": {
        "build": "Build the site (default).",
        "check": "List every problem of the catalog.",
        "next": "Print the next publication time.",
    },
    "Inspect": {
        "diff": "Show what changes for clients.",
        "verify": "Compare files or a server with the release.",
        "compare": "Show what differs between two sites.",
        "releases": "List the releases, newest first.",
        "explain": "Explain a field of the catalog.",
    },
    "Author": {
        "init": "Create a project in the folder DIR.",
        "new": "Add a series or a chapter.",
        "ids": "Assign ids to chapters without one.",
        "keys": "Create, list and revoke API keys.",
        "views": "Add the views in nginx's logs.",
        "import": "Copy the catalog of a running site.",
        "media": "List, check, fetch, shrink, archive images.",
        "schema": "Write JSON Schemas for editors.",
    },
    "Serve": {
        "serve": "Build the site and serve it with nginx.",
        "rollback": "Switch back to the previous release.",
        "export": "Write the release as plain files.",
        "pack": "Pack the release for an edge worker.",
        "publish": "Send the release to another host.",
        "announce": "Announce new chapters of the release.",
    },
}
COMMANDS = [name for names in _SECTIONS.values() for name in names]
# Names that Python has taken. The module of any other command, and the function in it, are called like the command.
_FUNCTIONS = {"import": "import_", "next": "next_"}
_EXAMPLES = (
    "init my-comics",
    "serve --watch",
    "build --as-of 2026-12-24",
    "diff main",
    "new chapter --help",
)
_WIDTH = max(map(len, COMMANDS))


def load(name: str) -> click.Command:
    """Import the module of a command."""
    function = _FUNCTIONS.get(name, name)
    command = getattr(import_module(f".{function}", __package__), function)
    assert isinstance(command, click.Command)
    return command


class LazyGroup(click.Group):
    """Loads a command when it is used, and runs `build` if no command is given."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return COMMANDS

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return load(name) if name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            refuse_unknown(ctx, args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_build = not args or (args[0].startswith("-") and args[0] not in ("-h", "--help", "--version"))
        # A shell that completes a command parses the words before it.
        if is_build and not ctx.resilient_parsing:
            # `build` takes no words of its own: one after the value of an option is meant as the command.
            for before, word in pairwise(args):
                if word in COMMANDS and not before.startswith("-"):
                    ctx.fail(f"the command {word} comes first, before its options")
            args = ["build", *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, summaries in _SECTIONS.items():
            with formatter.section(title):
                # All sections are as wide as the longest name.
                formatter.write_dl([(f"{name:<{_WIDTH}}", summary) for name, summary in summaries.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(_EXAMPLES, ctx, formatter)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with output.escape_usage_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with output.escape_usage_errors():
            return super().invoke(ctx)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="flatpanel")
def main() -> None:
    """Turn a comic catalog in YAML into a static, cacheable API that nginx serves."""
    # nginx's workers run under another account, which must be able to read what is built.
    os.umask(0o022)
    # pydantic looks for plugins in the metadata of every installed package, and imports them.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    output.escape_unencodable()


def run(program: str | None = None) -> None:
    """Run the command line, and end the process with its exit code.

    Imported modules live until the end, and so do most objects of a command: garbage is not searched among them.
    """
    gc.freeze()
    try:
        # Commands print their errors themselves, with the stream or the file. click prints the help and the version.
        with output.name_failed_stream():
            main(prog_name=program)
    except OSError as error:
        # Standard error can be full, too.
        with suppress(OSError):
            output.print_lines(output.failure(error), err=True)
        raise SystemExit(1) from None
    finally:
        output.discard_unwritten()
        gc.freeze()
