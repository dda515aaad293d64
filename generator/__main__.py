"""`python -m flatpanel`: the command line of the installed package."""

from .cli import run

if __name__ == "__main__":
    run("flatpanel")
