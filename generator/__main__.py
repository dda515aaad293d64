"""`python -m flatpanel`: the command line of the installed package."""

from .commands.cli import run

if __name__ == "__main__":
    run("flatpanel")
