"""Commands whose help ends with examples."""

from collections.abc import Sequence
from typing import Any

import click

# More than the length of any first sentence.
_SUMMARY = 200


class Command(click.Command):
    """A command with examples: its arguments as typed after the name of the program."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, ctx, formatter)


class CommandGroup(click.Group):
    """A group of commands with examples of their own, listed with their whole summaries."""

    command_class = Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(command)) for name, command in sorted(self.commands.items())])


def summary(command: click.Command) -> str:
    """The first sentence of the help, which is never cut."""
    return command.get_short_help_str(_SUMMARY)


def refuse_unknown(ctx: click.Context, name: str, commands: Sequence[str]) -> None:
    # Imported here because no other use of the help needs it.
    from ..catalog.problems.suggestions import did_you_mean

    ctx.fail(f"unknown command {name}{did_you_mean(name, commands, '--help lists the commands')}")


def write_examples(examples: Sequence[str], ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Add a section with one example on each line, unwrapped."""
    program = ctx.find_root().info_name
    with formatter.section("Examples"):
        for example in examples:
            formatter.write(f"{'':{formatter.current_indent}}{program} {example}\n")
