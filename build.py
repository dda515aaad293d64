"""The whole command line: see `python build.py --help`."""

import gc
import sys

# What is imported stays until the end: looking through it for garbage, now and once more then, takes time.
gc.disable()
try:
    from generator.cli import main
except ModuleNotFoundError as missing:
    if str(missing.name).partition(".")[0] == "generator":
        raise  # a module of our own: a defect, not a missing installation
    print(f"build.py: {missing.name} is not installed; run `make build`, or use .venv/bin/python", file=sys.stderr)
    raise SystemExit(2) from None
gc.freeze()
gc.enable()

if __name__ == "__main__":
    raise SystemExit(main(prog_name="python build.py"))
