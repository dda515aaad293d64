"""When each file of a folder was last committed, asked of git once for all of them."""

import os
import re
import subprocess
from pathlib import Path

_ID = re.compile(r"""\bid['"]?[ \t]*:[ \t]*([0-9]{1,10})\b""")


def last_commits(folder: Path, *, now: int) -> dict[str, int]:
    """Seconds since 1970 by path below `folder`; what is edited or new but not committed counts as `now`.

    Empty where there is no git or no commit; files that git does not know are absent.
    """
    log = _git(folder, "log", "--format=//%ct", "--name-only", "--no-renames", "--relative", "--", ".")
    if log is None:
        return {}
    times: dict[str, int] = {}
    moment = 0
    for line in log.splitlines():
        if line.startswith("//"):
            moment = int(line[2:])
        elif line:
            times.setdefault(line, moment)
    edited = _git(folder, "diff", "--name-only", "--no-renames", "--relative", "-z", "HEAD", "--", ".")
    new = _git(folder, "ls-files", "--others", "--exclude-standard", "-z", "--", ".")
    return times | dict.fromkeys(filter(None, f"{edited or ''}\0{new or ''}".split("\0")), now)


def ids_ever(folder: Path) -> set[int]:
    """Every number that a line below `folder`/series once gave as an id, as far as git remembers."""
    plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--text", "--unified=0", "--format=", "--no-renames")
    log = _git(folder, "log", "--patch", "--diff-merges=separate", *plain, "--", "series")
    return {int(found) for found in _ID.findall(log or "")}


def is_shallow(folder: Path) -> bool:
    """Whether git knows only the newest commits, so that every file seems to have changed in them."""
    return (_git(folder, "rev-parse", "--is-shallow-repository") or "").strip() == "true"


def _git(folder: Path, *arguments: str) -> str | None:
    # A hook or an alias of the person at the keyboard must not change what the build says.
    quiet = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-c", "core.quotePath=false", "-C", str(folder), *arguments],
            capture_output=True,
            check=True,
            env=quiet,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.decode("utf-8", "surrogateescape")
