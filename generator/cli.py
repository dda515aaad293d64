"""The command line: one group of commands, each loaded from `commands/` when it is used."""

import os
from importlib import import_module
from typing import Any

import click

from . import __version__
from .commands import output
from .commands.help import summary, write_examples

# The sections of the help, and the module and function of each command below `commands/`.
_SECTIONS = {
    "Build": {"build": "build.build", "check": "check.check", "next": "next_.next_"},
    "Inspect": {
        "diff": "diff.diff",
        "verify": "verify.verify",
        "releases": "releases.releases",
        "explain": "explain.explain",
    },
    "Author": {
        "init": "init.init",
        "new": "new.new",
        "ids": "ids.ids",
        "keys": "keys.keys",
        "views": "views.views",
        "import": "import_.import_",
        "schema": "schema.schema",
    },
    "Serve": {"serve": "serve.serve", "rollback": "rollback.rollback", "export": "export.export"},
}
# The module and the function of each command.
COMMANDS = {name: function for section in _SECTIONS.values() for name, function in section.items()}
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
    module, _, function = COMMANDS[name].partition(".")
    command = getattr(import_module(f".commands.{module}", __package__), function)
    assert isinstance(command, click.Command)
    return command


class LazyGroup(click.Group):
    """Loads a command when it is used, and runs `build` if no command is given."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return load(name) if name in COMMANDS else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ("-h", "--help", "--version")):
            args = ["build", *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in _SECTIONS.items():
            with formatter.section(title):
                # All sections are as wide as the longest name.
                formatter.write_dl([(f"{name:<{_WIDTH}}", summary(load(name))) for name in names])

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
    output.escape_unencodable()
