"""Run the command line in a checkout: see `python build.py --help`."""

import gc
import sys

# Imported modules live until the end. Collecting garbage among them would take time.
gc.disable()
try:
    from generator.commands.cli import run
except ModuleNotFoundError as missing:
    if str(missing.name).partition(".")[0] == "generator":
        raise  # a defect of the program, not a missing dependency
    import shlex
    from pathlib import Path

    folder = Path(__file__).resolve().parent
    setup, python = (shlex.quote(str(folder / name)) for name in ("tools/setup", ".venv/bin/python"))
    # An sdist has no tools.
    has_tools = (folder / "tools/setup").is_file()
    venv = f"python3 -m venv {shlex.quote(str(folder / '.venv'))} && {python} -m pip install {shlex.quote(str(folder))}"
    advice = f"run `{f'{setup} run' if has_tools else venv}`, then use {python}"
    print(f"build.py: {missing.name} is not installed; {advice}", file=sys.stderr)
    raise SystemExit(2) from None
except KeyboardInterrupt:  # later, click does the same
    print("\nAborted!", file=sys.stderr)
    raise SystemExit(1) from None
gc.enable()

if __name__ == "__main__":
    run("python build.py")
