"""Run the command line in a checkout: see `python build.py --help`."""

import gc
import sys

# Imported modules live until the end. Collecting garbage among them would take time.
gc.disable()
try:
    from generator.cli import run
except ModuleNotFoundError as missing:
    if str(missing.name).partition(".")[0] == "generator":
        raise  # a defect of the program, not a missing dependency
    print(f"build.py: {missing.name} is not installed; run `make build` or use .venv/bin/python", file=sys.stderr)
    raise SystemExit(2) from None
except KeyboardInterrupt:  # later, click does the same
    print("\nAborted!", file=sys.stderr)
    raise SystemExit(1) from None
gc.enable()

if __name__ == "__main__":
    run("python build.py")
