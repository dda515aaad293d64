"""The command line: one group, and a module below `commands/` for every few commands that belong together."""

import os
from collections import UserDict
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import click

from . import __version__
from .commands import output

# Where each command is, below `commands/`.
_PLACES = {
    "build": "build.build",
    "check": "build.check",
    "next": "next_.next_",
    "serve": "serve.serve",
    "verify": "verify.verify",
    "diff": "diff.diff",
    "releases": "releases.releases",
    "rollback": "releases.rollback",
    "export": "releases.export",
    "init": "init.init",
    "new": "new.new",
    "ids": "ids.ids",
    "keys": "keys.keys",
    "views": "views.views",
    "schema": "schema.schema",
    "explain": "explain.explain",
    "import": "import_.import_",
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

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with output.escape_usage_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with output.escape_usage_errors():
            return super().invoke(ctx)


@click.group(cls=BuildByDefault, commands=Commands())
@click.version_option(__version__, prog_name="flatpanel")
def main() -> None:
    """Turn a comic catalog in YAML into a static, cacheable API that nginx serves."""
    # What is built must be readable by the account that serves it, whoever builds.
    os.umask(0o022)
    output.escape_unencodable()
