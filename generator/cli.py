"""The command line: one group, and a module below `commands/` for every few commands that belong together."""

import io
import os
import sys
from collections import UserDict
from collections.abc import Iterator
from importlib import import_module

import click

from . import __version__

# Where each command is, below `commands/`.
_PLACES = {
    "build": "build.build",
    "check": "build.check",
    "next": "schedule.next_",
    "serve": "serve.serve",
    "verify": "verify.verify",
    "diff": "diff.diff",
    "rollback": "releases.rollback",
    "export": "releases.export",
    "init": "init.init",
    "new": "new.new",
    "ids": "ids.ids",
    "keys": "keys.keys",
    "views": "views.views",
    "schema": "schema.schema",
    "explain": "explain.explain",
    "import": "importing.import_",
}


class Commands(UserDict[str, click.Command]):
    """Loaded one by one, when they are asked for: no build waits for what an import needs."""

    def __missing__(self, name: str) -> click.Command:
        module, _, attribute = _PLACES[name].partition(".")
        self.data[name] = getattr(import_module(f".commands.{module}", __package__), attribute)
        return self.data[name]

    def __contains__(self, name: object) -> bool:
        return name in _PLACES

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


class BuildByDefault(click.Group):
    """`python build.py --check` is `python build.py build --check`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ("--help", "--version")):
            args = ["build", *args]
        return super().parse_args(ctx, args)


@click.group(cls=BuildByDefault, commands=Commands())
@click.version_option(__version__, prog_name="flatpanel")
def main() -> None:
    """Turn a comic catalog in YAML into a static, cacheable API that nginx serves."""
    # What is built must be readable by the account that serves it, whoever builds.
    os.umask(0o022)
    # What a terminal has no letters for is escaped there, as Python does it with errors. Some close it altogether.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
