"""When each file of a folder was last committed, asked of git once for all of them; and what it was at a commit."""

import os
import re
import subprocess
from pathlib import Path

_OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
_ID = re.compile(r"""\bid['"]?[ \t]*:[ \t]*([0-9]{1,10})\b""")


def last_commits(folder: Path, *, now: int) -> dict[str, int]:
    """Seconds since 1970 by path below `folder`; what is edited or new but not committed counts as `now`.

    Empty where there is no git or no commit; files that git does not know are absent.
    """
    if head(folder) is None:
        return {}
    return committed(folder) | dict.fromkeys(uncommitted(folder), now)


def head(folder: Path) -> str | None:
    """What is checked out, and how much git knows of its past: all that `committed` depends on."""
    return _git(folder, "rev-parse", "--show-prefix", "--is-shallow-repository", "HEAD")


def committed(folder: Path) -> dict[str, int]:
    """When each file was committed last."""
    times: dict[str, int] = {}
    moment = 0
    log = _git(folder, "log", "-z", "--format=//%ct", "--name-only", "--no-renames", "--relative", "--", ".")
    for part in (log or "").split("\0"):
        if part.startswith("//"):
            moment = int(part[2:])
        else:
            times.setdefault(part.removeprefix("\n"), moment)
    times.pop("", None)  # what follows the last NUL
    return times


def uncommitted(folder: Path) -> set[str]:
    """Files that are edited, or new."""
    edited = _git(folder, "diff", "--name-only", "--no-renames", "--relative", "-z", "HEAD", "--", ".")
    new = _git(folder, "ls-files", "--others", "--exclude-standard", "-z", "--", ".")
    return set(f"{edited or ''}\0{new or ''}".split("\0")) - {""}


def ids_ever(folder: Path) -> set[int]:
    """Every number that a line below `folder`/series once gave as an id, as far as git remembers."""
    plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--text", "--unified=0", "--format=", "--no-renames")
    log = _git(folder, "log", "--patch", "--diff-merges=separate", *plain, "--", "series")
    return {int(found) for found in _ID.findall(log or "")}


def commit(folder: Path, name: str) -> str | None:
    """The commit that a branch, a tag or anything else that git understands stands for."""
    found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return found.strip() if found else None


def take_out(folder: Path, commit: str, target: Path) -> Path | None:
    """What `folder` was at a commit, below `target`, with the history that it had; None if it was not there.

    A clone that borrows what the repository around `folder` has: nothing is written there, and nothing copied.
    """
    around, prefix = (_git(folder, "rev-parse", "--show-toplevel", "--show-prefix") or "\n").split("\n")[:2]
    nobodys = ("--literal-pathspecs", "-c", f"core.hooksPath={os.devnull}")
    for where, *arguments in (
        (folder, "clone", "--quiet", "--shared", "--no-checkout", "--template=", "--", around, str(target)),
        (target, "update-ref", "--no-deref", "HEAD", commit),
        (target, "checkout", "--quiet", commit, "--", prefix or "."),
    ):
        if _git(where, *nobodys, *arguments) is None:
            return None
    return target / prefix


def is_shallow(folder: Path) -> bool:
    """Whether git knows only the newest commits, so that every file seems to have changed in them."""
    return (_git(folder, "rev-parse", "--is-shallow-repository") or "").strip() == "true"


def _git(folder: Path, *arguments: str) -> str | None:
    # In a hook, git's own variables name a repository and an index; what is asked for is the one around `folder`.
    environment = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            check=True,
            env={**environment, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.decode("utf-8", "surrogateescape")
