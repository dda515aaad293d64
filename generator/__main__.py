"""`python -m flatpanel`: the command line of the installed package."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main(prog_name="flatpanel"))
