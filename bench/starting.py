"""Short commands: the help, and a build of the example without changes, beside a Python program that does nothing."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from .program import AS_OF, ROOT, Run, remove, run
from .report import Figure, Findings, Series

# These runs are short, so each round has many.
RUNS = 10


def measure(folder: Path, rounds: int, say: Callable[[str], None]) -> Findings:
    """Measure processor time too: other programs on the machine change it less."""
    example = folder / "example"
    shutil.copytree(ROOT / "catalog_src", example / "catalog_src")
    _commit(example)
    build = [sys.executable, "build.py", "build", "--quiet", "--as-of", AS_OF]
    build += ["--catalog", str(example / "catalog_src"), "--out", str(example / "dist")]
    build += ["--nginx", str(example / "nginx.conf"), "--cache", str(example / "cache")]
    commands = {
        "nothing": [sys.executable, "-c", "pass"],
        "help": [sys.executable, "build.py", "--help"],
        "same": build,
    }
    # The first runs store the compiled modules, and the first build writes the release.
    for command in commands.values():
        run(*command, quiet=True)
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for turn in range(rounds * RUNS):
        if not turn % RUNS:
            say(f"starting, round {turn // RUNS + 1} of {rounds}")
        for name, command in commands.items():
            runs[name].append(run(*command, quiet=True))
    remove(example)
    wall = {name: [run.seconds for run in measured] for name, measured in runs.items()}
    processor = {name: [run.processor for run in measured] for name, measured in runs.items()}
    return Findings(
        [
            Figure("the help", wall["help"], "≤", 0.12, "s"),
            Figure("build of the example with nothing changed", wall["same"], "≤", 0.25, "s"),
        ],
        [
            Series(f"{name}, {kind}", values, "s")
            for key, name in (("nothing", "`python -c pass`"), ("help", "the help"), ("same", "unchanged example"))
            for kind, values in (("wall time", wall[key]), ("processor time", processor[key]))
        ],
    )


def _commit(folder: Path) -> None:
    git = ("git", "-C", str(folder), "-c", "user.name=bench", "-c", "user.email=bench@example.org")
    for arguments in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "example")):
        subprocess.run([*git, *arguments], check=True)
