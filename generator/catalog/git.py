"""What git knows of a catalog: when its files changed, and what they were at a commit. The only caller of git.

git obeys the configuration of the repository in which it runs, so its folder is chosen here and not by git. It is the
first folder, from the real path of the catalog upwards, that has a `.git`, an entry that no commit can contain.
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import FlatpanelError
from . import bare_repositories

# By these variables git, when it starts a hook, names a repository. Those of the user's configuration stay.
_DROPPED = {
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE"),
    *("GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF"),
}
# No network, no lock, no question. An empty list of protocols allows none, on every version of git.
_FIXED = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
# Given with -c, which leaves GIT_CONFIG_COUNT to the user. The first two lines keep programs from being started; an
# empty core.fsmonitor is none, while before git 2.36 `false` is the name of a program. The others fix the output.
_SETTINGS = (
    *("safe.bareRepository=explicit", f"core.hooksPath={os.devnull}", "core.fsmonitor=", "log.showSignature=false"),
    *("submodule.recurse=false", "diff.ignoreSubmodules=all", "status.submoduleSummary=false"),
    *("core.fileMode=false", "diff.relative=false", "log.follow=false", "log.showRoot=true"),
    *("log.diffMerges=separate", "status.showStash=false"),
)
_HEAD = re.compile(r"(?P<top>.*)\n(?P<shallow>true|false)\n(?P<head>[0-9a-f]*)\n?", re.DOTALL)
_ID = re.compile(r"""\bid['"]?[ \t]*:[ \t]*([0-9]{1,10})\b""")
# So many bytes of contents are read from git at a time.
BATCH_BYTES = 32 << 20


class GitError(FlatpanelError):
    """git does not read a repository that is there."""


class FileTimes(NamedTuple):
    """When files changed, by path below the catalog's folder; `refusals` say why git cannot be asked."""

    times: dict[str, int]
    refusals: list[str]
    is_shallow: bool = False


class TreeEntry(NamedTuple):
    """A file, a link or a submodule of a commit, by its path below the catalog's folder."""

    path: str
    mode: str
    oid: str
    size: int


class Repository:
    """The repository around a catalog."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.prefix = f"{home.relative_to(root)}/" if home != root else ""
        if bare_repositories.is_bare(
            name for name in ("HEAD", "objects", "refs", "commondir") if os.path.lexists(root / name)
        ):
            raise GitError(f"git is not started in {root}: it may take this folder for a repository, and not its .git")
        # Before the first commit, the last line is missing.
        asked = ("--show-toplevel", "--is-shallow-repository", "--verify", "--quiet", "HEAD")
        answer = _HEAD.fullmatch(self._git("rev-parse", *asked, accepted=(1,)))
        if not answer or os.path.realpath(answer["top"]) != str(root):
            raise GitError(f"git does not take the files in {root} for those of the repository there")
        self.is_shallow, self.head = answer["shallow"] == "true", answer["head"]

    @classmethod
    def around(cls, catalog: Path) -> "Repository | None":
        """The repository that a catalog belongs to; None if there is none. Raises if git does not read it."""
        bare_repositories.refuse_in_folder(catalog)
        home = Path(os.path.realpath(catalog))
        root = next((folder for folder in (home, *home.parents) if os.path.lexists(folder / ".git")), None)
        return cls(root, home) if root else None

    def committed(self, commit: str = "HEAD") -> dict[str, int]:
        """When each file was committed last, as of a commit."""
        times: dict[str, int] = {}
        moment = 0
        asked = ("-z", "--format=//%ct", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=all")
        for part in self._git("log", *asked, commit, "--", self.prefix or ".").split("\0"):
            if part.startswith("//"):
                # A commit may have a line without a time, and git prints nothing for it.
                moment = int(part[2:] or 0)
            elif path := self._below(part.removeprefix("\n")):
                times.setdefault(path, moment)
        return times

    def uncommitted(self) -> Iterator[str]:
        """Files that are new, edited or staged. Permissions do not count."""
        asked = ("--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
        for line in self._git("status", *asked, "--", self.prefix or ".").split("\0"):
            kind, _, rest = line.partition(" ")
            fields = rest.split(" ", {"1": 7, "u": 9}.get(kind, 0))
            # Of a file that is staged with other permissions only, both contents are the same.
            if not (kind == "1" and fields[0] == "M." and fields[5] == fields[6]) and (path := self._below(fields[-1])):
                yield path

    def _below(self, path: str) -> str:
        """A path from the root as one from the folder of the catalog; empty if it is not in there."""
        return path[len(self.prefix) :] if path.startswith(self.prefix) else ""

    def ids_in_history(self) -> set[int]:
        """Every number that a line below series/ once gave as an id, as far as git remembers."""
        plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--text", "--unified=0", "--format=", "--no-renames")
        if not self.head:
            return set()
        asked = ("--patch", "-m", "--ignore-submodules=all", "--submodule=short", *plain)
        return {int(number) for number in _ID.findall(self._git("log", *asked, "--", f"{self.prefix}series"))}

    def object(self, name: str) -> str | None:
        """The id of the object that a name stands for, if git knows one."""
        return (
            self._git("rev-parse", "--verify", "--quiet", "--end-of-options", name, accepted=(1, 128)).strip() or None
        )

    def tree(self, commit: str) -> str | None:
        """What the folder of the catalog was at a commit."""
        return self.object(f"{commit}:{self.prefix}")

    def items(self, tree: str) -> list[TreeEntry]:
        """Everything in a tree. Nothing is checked out: no filter, hook or attribute takes part."""
        found = []
        for line in self._git("ls-tree", "-r", "-l", "-z", tree).split("\0")[:-1]:
            fields, _, path = line.partition("\t")
            mode, _, oid, size = fields.split()
            found.append(TreeEntry(path, mode, oid, int(size) if size.isdecimal() else 0))
        return found

    def contents(self, files: Iterable[TreeEntry]) -> Iterator[tuple[str, bytes]]:
        """The bytes of files as they were committed, by path."""
        for batch in _batches(files):
            said = self._bytes("cat-file", "--batch", given=[file.oid for file in batch])
            for file, content in zip(batch, _contents(said, len(batch)), strict=True):
                if content is None:
                    raise GitError(f"git has no content of {self.prefix}{file.path} in {self.root}; fetch it all")
                yield file.path, content

    def linked(self, tree: str, link: TreeEntry) -> tuple[str, TreeEntry]:
        """What a link in a tree leads to: `blob`, `tree`, `symlink` for what is not in the tree, or another word."""
        if "\n" in link.path:  # which would be two questions
            return "symlink", link
        said = self._bytes("cat-file", "--batch-check", "--follow-symlinks", given=[f"{tree}:{link.path}"])
        first, kind, *size = said.decode("utf-8", "replace").split("\n")[0].split(" ")
        return (kind, TreeEntry(link.path, "100644", first, int(size[0]))) if size else (first, link)

    def _git(self, *arguments: str, accepted: tuple[int, ...] = ()) -> str:
        return os.fsdecode(self._bytes(*arguments, accepted=accepted))

    def _bytes(self, *arguments: str, accepted: tuple[int, ...] = (), given: Iterable[str] = ()) -> bytes:
        """What git answers. `accepted` are exit codes that are answers, too."""
        environment = {name: value for name, value in os.environ.items() if name not in _DROPPED}
        # If .git is no repository, git must not look for one above.
        environment |= {**_FIXED, "GIT_CEILING_DIRECTORIES": str(self.root.parent)}
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        command = ["git", "-C", str(self.root), "--no-pager", "--literal-pathspecs", *settings, *arguments]
        lines = b"".join(os.fsencode(f"{line}\n") for line in given)
        try:
            done = subprocess.run(command, capture_output=True, check=False, env=environment, input=lines)
        except OSError as error:
            raise GitError(f"git cannot be started for {self.root}: {error.strerror}") from None
        if done.returncode not in (0, *accepted):
            words = " ".join(os.fsdecode(done.stderr).split())
            raise GitError(f"git does not read the repository {self.root}: {words}")
        return done.stdout


def file_times(
    catalog: Path, as_of: int, committed: Callable[[Repository], dict[str, int]] = Repository.committed
) -> FileTimes:
    """When each file changed, as far as git knows it; nothing where there is no git or no commit.

    A file that is not as it was committed changed at the later of its last commit and its own time, and not after
    `as_of`. The time of any other file is not looked at: a clone writes all files anew.
    """
    try:
        repository = Repository.around(catalog)
        if not (repository and repository.head):
            return FileTimes({}, [])
        times = dict(committed(repository))
        for path in repository.uncommitted():
            if os.path.lexists(file := catalog / path):
                times[path] = min(as_of, max(times.get(path, 0), os.lstat(file).st_mtime_ns // 10**9))
    except GitError as error:
        return FileTimes({}, [f"{catalog}: {error}; each file counts as changed when it was written"])
    return FileTimes(times, [], repository.is_shallow)


def _batches(files: Iterable[TreeEntry]) -> Iterator[list[TreeEntry]]:
    batch, size = list[TreeEntry](), 0
    for file in files:
        batch.append(file)
        size += file.size
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    yield batch


def _contents(said: bytes, count: int) -> Iterator[bytes | None]:
    """The content of each object; None if git does not have it."""
    start = 0
    for _ in range(count):
        end = said.index(b"\n", start)
        *_, kind, size = said[start:end].split(b" ")
        start = end + 1
        if kind == b"blob":
            yield said[start : start + int(size)]
            start += int(size) + 1
        else:
            yield None
