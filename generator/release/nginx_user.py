"""The account of nginx's workers, if nginx's own account cannot read the folder."""

import os
import pwd
import stat
from pathlib import Path

from ..filesystem import write_if_changed


def write_user_conf(folder: Path, path: Path) -> None:
    """Write the directive `user` for nginx's workers to `path`, or remove the file if nginx's default is right.

    The main configuration includes the file: it is the same on every machine, and only root may name an account.
    """
    if account := _worker_account(folder):
        write_if_changed(path, f"user {account};\n".encode())
    else:
        path.unlink(missing_ok=True)


def _worker_account(folder: Path) -> str | None:
    """The account that can read `folder`, or None if nginx's own account can.

    Started by root, nginx runs its workers under an account of its own, which cannot enter a folder that is closed to
    others.
    """
    if os.geteuid() != 0:
        return None
    inside = folder.resolve()
    if all(parent.stat().st_mode & stat.S_IXOTH for parent in (inside, *inside.parents)):
        return None
    try:
        return pwd.getpwuid(inside.stat().st_uid).pw_name
    except KeyError:  # the account exists on another machine only, for example outside a container
        return "root"
