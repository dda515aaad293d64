"""The command line: one group, and a module below `commands/` for every few commands that belong together."""

import io
import os
import sys
from typing import cast

import click

from . import __version__
from .commands import build, diff, ids, importing, init, keys, new, releases, schedule, schema, serve, verify, views


class BuildByDefault(click.Group):
    """`python build.py --check` is `python build.py build --check`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ("--help", "--version")):
            args = ["build", *args]
        return super().parse_args(ctx, args)


@click.group(cls=BuildByDefault)
@click.version_option(__version__, prog_name="flatpanel")
def main() -> None:
    """Turn a comic catalog in YAML into a static, cacheable API that nginx serves."""
    # What is built must be readable by the account that serves it, whoever builds.
    os.umask(0o022)
    # What a terminal has no letters for is escaped there, as Python does it with errors.
    cast(io.TextIOWrapper, sys.stdout).reconfigure(errors="backslashreplace")


_COMMANDS = (
    build.build,
    build.check,
    schedule.next_,
    serve.serve,
    verify.verify,
    diff.diff,
    releases.rollback,
    releases.export,
    init.init,
    new.new,
    ids.ids,
    keys.keys,
    views.views,
    schema.schema,
    importing.import_,
)
for command in _COMMANDS:
    main.add_command(command)
