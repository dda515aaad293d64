"""Parts of the help: summaries, examples, unknown commands."""

from collections.abc import Sequence

import click

# More than the length of any first sentence.
_SUMMARY = 200


def summary(command: click.Command) -> str:
    """The first sentence of the help, which is never cut."""
    return command.get_short_help_str(_SUMMARY)


def refuse_unknown(ctx: click.Context, name: str, commands: Sequence[str]) -> None:
    # Imported here because no other use of the help needs it.
    from ..catalog.suggestions import did_you_mean

    ctx.fail(f"unknown command {name}{did_you_mean(name, commands, '--help lists the commands')}")


def write_examples(examples: Sequence[str], ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Add a section with one example on each line, unwrapped."""
    program = ctx.find_root().info_name
    with formatter.section("Examples"):
        for example in examples:
            formatter.write(f"{'':{formatter.current_indent}}{program} {example}\n")
