"""Read the git repository of a catalog: commit times of its files, and its files at a commit. The only caller of git.

git obeys the configuration of the repository in which it runs, so this module and not git chooses the repository: the
first folder with a `.git`, from the real path of the catalog upwards. No commit can contain a `.git`.
The files of a commit are read from git's tree, without a checkout.
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from .. import bounds, filesystem
from ..errors import CatalogError, FlatpanelError, Problem
from . import confined_folder

# Variables that name a repository; git sets them for hooks. Variables that configure git are kept.
_DROPPED_VARIABLES = {
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE"),
    *("GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF"),
}
# No network, no lock, no prompt. An empty list of protocols allows none in every version of git.
_SET_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
# Passed with -c, which leaves GIT_CONFIG_COUNT to the user. The first two lines prevent git from starting programs;
# before git 2.36, core.fsmonitor=false would name a program. The other lines fix the output format.
_SETTINGS = (
    *("safe.bareRepository=explicit", f"core.hooksPath={os.devnull}", "core.fsmonitor=", "log.showSignature=false"),
    *("submodule.recurse=false", "diff.ignoreSubmodules=all", "status.submoduleSummary=false"),
    *("core.fileMode=false", "diff.relative=false", "log.follow=false", "log.showRoot=true"),
    *("log.diffMerges=separate", "status.showStash=false"),
)
_HEAD = re.compile(r"(?P<top>.*)\n(?P<shallow>true|false)\n(?P<head>[0-9a-f]*)\n?", re.DOTALL)
_ID = re.compile(rb"""\bid['"]?[ \t]*:[ \t]*([0-9]{1,10})\b""")
_PART = re.compile(rb"[^\0]+")
# Digits of a time; git prints those of a commit, which may be any number.
_TIME = re.compile("//([0-9]{1,12})")
# Bytes of file contents in one call of git, and of all files of a commit.
BATCH_BYTES, MAX_COMMIT = 32 << 20, 1 << 30
# Bytes that git may print, of patches and of anything else, bytes that it may allocate, and seconds of processor time:
# a few objects can be trees of any number of files or empty folders.
MAX_PATCHES, MAX_OUTPUT, MAX_MEMORY, MAX_SECONDS = 1 << 30, 128 << 20, 1 << 30, 300
_MAX_MESSAGES, _BLOCK = 1 << 16, 1 << 20


class GitError(FlatpanelError):
    """git cannot read the repository of a catalog."""


class FileTimes(NamedTuple):
    """The time of the last change of each file, by its path in the catalog; `warnings` say why there are none."""

    times: dict[str, int]
    warnings: list[str]
    is_shallow: bool = False


class TreeEntry(NamedTuple):
    """A file, a link or a submodule in a tree, by its path in the catalog."""

    path: str
    mode: str
    oid: str
    size: int


class Repository:
    """The repository around a catalog. Runs git in it, with fixed settings."""

    def __init__(self, root: Path, catalog: Path) -> None:
        self.root = root
        self.prefix = f"{catalog.relative_to(root)}/" if catalog != root else ""
        if is_bare(name for name in ("HEAD", "objects", "refs", "commondir") if os.path.lexists(root / name)):
            raise GitError(f"git is not started in {root}: it may use this folder as a repository instead of its .git")
        # `status --branch` prints neither whether the clone is shallow nor the root: git is called twice.
        # Before the first commit, the last line is missing.
        options = ("--show-toplevel", "--is-shallow-repository", "--verify", "--quiet", "HEAD")
        head = _HEAD.fullmatch(self._text("rev-parse", *options, accepted=(1,)))
        if not head or os.path.realpath(head["top"]) != str(root):
            raise GitError(f"the repository in {root} has its files in another folder")
        self.is_shallow, self.head = head["shallow"] == "true", head["head"]

    @classmethod
    def around(cls, catalog: Path) -> "Repository | None":
        """The repository of a catalog; None if there is none. Raises GitError if git cannot read it."""
        refuse_bare_folders(catalog)
        real_path = Path(os.path.realpath(catalog))
        folders = (real_path, *real_path.parents)
        root = next((folder for folder in folders if os.path.lexists(folder / ".git")), None)
        return cls(root, real_path) if root else None

    def commit_times(self, commit: str = "HEAD") -> dict[str, int]:
        """The time of the last commit of each file, up to `commit`."""
        times: dict[str, int] = {}
        moment = 0
        options = ("-z", "--format=//%ct", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=all")
        # One after the other: names take more memory than their bytes.
        for match in _PART.finditer(self._output("log", *options, commit, "--", self.prefix or ".")):
            part = os.fsdecode(match[0])
            if part.startswith("//"):
                # git prints an empty time for a commit whose time it cannot parse.
                moment = int(time[1]) if (time := _TIME.fullmatch(part)) else 0
            else:
                times.setdefault(self._path_in_catalog(part.removeprefix("\n")), moment)
        return times

    def uncommitted_files(self) -> Iterator[str]:
        """Files that are new, edited or staged. A change of permissions alone does not count."""
        options = ("--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
        status = self._output("status", *options, "--", self.prefix or ".", settings=self._without_filters())
        for line in os.fsdecode(status).split("\0"):
            kind, _, rest = line.partition(" ")
            fields = rest.split(" ", {"1": 7, "u": 9}.get(kind, 0))
            only_mode = kind == "1" and fields[0] == "M." and fields[5] == fields[6]
            if not only_mode and (path := self._path_in_catalog(fields[-1])):
                yield path

    def _without_filters(self) -> Iterator[str]:
        """Settings without the programs of filters, if an editor of the catalog could have written its `.git`."""
        if self.prefix:
            return
        keys = self._text("config", "--null", "--name-only", "--get-regexp", r"^filter\.", accepted=(1,)).split("\0")
        for filter in sorted({key.rpartition(".")[0] for key in keys if key}):
            if "=" in filter:  # git would take another name
                raise GitError(f"{self.root}: git has a filter with = in its name; rename it")
            yield from (f"{filter}.clean=", f"{filter}.process=", f"{filter}.required=false")

    def is_tracked(self, file: str) -> bool:
        """Whether a file of the catalog is committed or staged."""
        return bool(self._text("ls-files", "-z", "--", f"{self.prefix}{file}"))

    def _path_in_catalog(self, path: str) -> str:
        """The path relative to the catalog; empty for a file outside it."""
        return path[len(self.prefix) :] if path.startswith(self.prefix) else ""

    def ids_in_history(self) -> set[int]:
        """Every number that a line in series/ has had as an id in any commit."""
        plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--text", "--unified=0", "--format=", "--no-renames")
        if not self.head:
            return set()
        options = ("--patch", "-m", "--ignore-submodules=all", "--submodule=short", *plain)
        patches = self._output("log", *options, "--", f"{self.prefix}series", most=MAX_PATCHES)
        return {int(match[1]) for match in _ID.finditer(patches)}

    def object_id(self, name: str) -> str | None:
        """The id of the object with this name; None if there is none."""
        options = ("--verify", "--quiet", "--end-of-options")
        text = self._text("rev-parse", *options, name, accepted=(1, 128)).strip()
        # For a range such as main..topic, git prints two ids.
        return text if text.isalnum() else None

    def tree(self, commit: str) -> str | None:
        """The id of the catalog's tree at a commit."""
        return self.object_id(f"{commit}:{self.prefix}")

    def beside(self, commit: str, name: str) -> TreeEntry | None:
        """What lies beside the catalog at a commit; None if there is nothing, or if that is outside the repository."""
        if not self.prefix:
            return None
        path = str(Path(self.prefix).parent / name)
        fields = self._text("ls-tree", "-z", "--full-tree", commit, "--", path).partition("\t")[0].split()
        return TreeEntry(name, fields[0], fields[2], 0) if fields else None

    def entries(self, tree: str) -> list[TreeEntry]:
        """All entries of a tree. Nothing is checked out, so no filter, hook or attribute applies."""
        entries = []
        for line in self._text("ls-tree", "-r", "-l", "-z", tree).split("\0")[:-1]:
            fields, _, path = line.partition("\t")
            mode, _, oid, size = fields.split()
            entries.append(TreeEntry(path, mode, oid, int(size) if size.isdecimal() else 0))
        return entries

    def contents(self, files: Iterable[TreeEntry]) -> Iterator[tuple[str, bytes]]:
        """The path and the committed content of each file."""
        batches, size = [list[TreeEntry]()], 0
        for file in files:
            batches[-1].append(file)
            size += file.size
            if size >= BATCH_BYTES:
                batches.append([])
                size = 0
        for batch in batches:
            output = self._output("cat-file", "--batch", lines=[file.oid for file in batch])
            for file, content in zip(batch, _contents(output, len(batch)), strict=True):
                if content is None:
                    raise GitError(f"git has no content of {self.prefix}{file.path} in {self.root}; fetch it all")
                yield file.path, content

    def link_targets(self, tree: str, links: Iterable[TreeEntry]) -> list[tuple[str, TreeEntry]]:
        """The type and the entry of each link's target: `blob`, `tree`, or `symlink` if it is outside the tree.

        For a broken link, git gives another word. The first link without an object in the tree is the last one.
        """
        lines = [f"{tree}:{link.path}" for link in links]
        output = self._output("cat-file", "--batch-check", "--follow-symlinks", lines=lines) if lines else b""
        targets: list[tuple[str, TreeEntry]] = []
        for link, line in zip(links, output.decode("utf-8", "replace").split("\n"), strict=False):
            first, kind, *size = line.split(" ")
            if not size:  # the next line has more about it
                return [*targets, (first, link)]
            targets.append((kind, TreeEntry(link.path, "100644", first, int(size[0]))))
        return targets

    def _text(self, *arguments: str, accepted: tuple[int, ...] = ()) -> str:
        return os.fsdecode(self._output(*arguments, accepted=accepted))

    def _output(
        self,
        *arguments: str,
        accepted: tuple[int, ...] = (),
        lines: Iterable[str] = (),
        settings: Iterable[str] = (),
        most: int = 0,
    ) -> bytes:
        """The output of a command that reads `lines`. Exit codes other than 0 and `accepted` are errors."""
        most = most or MAX_OUTPUT
        environment = {name: value for name, value in os.environ.items() if name not in _DROPPED_VARIABLES}
        # If .git is not a repository, git must not look for one in the folders above.
        environment |= {**_SET_VARIABLES, "GIT_CEILING_DIRECTORIES": str(self.root.parent)}
        configured = [part for setting in (*_SETTINGS, *settings) for part in ("-c", setting)]
        command = ["git", "-C", str(self.root), "--no-pager", "--literal-pathspecs", *configured, *arguments]
        output = bytearray()
        with ExitStack() as opened:
            try:
                stdin, messages = (opened.enter_context(filesystem.unnamed_file()) for _ in range(2))
                stdin.writelines(os.fsencode(f"{line}\n") for line in lines)
                stdin.seek(0)
                process = opened.enter_context(
                    subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=messages, env=environment)
                )
            except OSError as error:
                raise GitError(f"git cannot be started for {self.root}: {error.strerror}") from None
            bounds.limit(process.pid, MAX_MEMORY, MAX_SECONDS)
            assert process.stdout
            while part := os.read(process.stdout.fileno(), _BLOCK):
                output += part
                if len(output) > most:
                    process.kill()
                    fault = f"git {arguments[0]} prints more than {most >> 20} MiB"
                    raise GitError(f"the repository {self.root} has too many files or changes: {fault}")
            if process.wait() < 0:
                fault = f"git {arguments[0]} was ended by signal {-process.returncode}"
                limit = f"it may take {MAX_SECONDS} seconds of processor time"
                raise GitError(f"git cannot read the repository {self.root}: {fault}; {limit}")
            if process.returncode not in (0, *accepted):
                messages.seek(0)
                message = " ".join(os.fsdecode(messages.read(_MAX_MESSAGES)).split())
                raise GitError(f"git cannot read the repository {self.root}: {message}")
        return bytes(output)


def file_times(
    catalog: Path, as_of: int, commit_times: Callable[[Repository], dict[str, int]] = Repository.commit_times
) -> FileTimes:
    """The time of the last change of each file, according to git; empty without a repository or a commit.

    An uncommitted file changed at the later of its last commit and its mtime, at most `as_of`. The mtime of any other
    file is ignored: a clone sets it for all files.
    """
    try:
        repository = Repository.around(catalog)
        if not (repository and repository.head):
            return FileTimes({}, [])
        times = dict(commit_times(repository))
        for path in repository.uncommitted_files():
            if os.path.lexists(file := catalog / path):
                times[path] = min(as_of, max(times.get(path, 0), os.lstat(file).st_mtime_ns // 10**9))
    except GitError as error:
        return FileTimes({}, [f"{catalog}: {error}; each file counts as changed at its mtime"])
    return FileTimes(times, [], repository.is_shallow)


def _contents(output: bytes, count: int) -> Iterator[bytes | None]:
    """The content of each object in the output of `cat-file --batch`; None for a missing object."""
    start = 0
    for _ in range(count):
        end = output.index(b"\n", start)
        *_, kind, size = output[start:end].split(b" ")
        start = end + 1
        if kind == b"blob":
            yield output[start : start + int(size)]
            start += int(size) + 1
        else:
            yield None


FOLDER_MODE, _LINK, _SUBMODULE = "040000", "120000", "160000"
_REFUSALS = {
    "symlink": "leads out of the catalog; links in a commit are not followed out of it",
    "tree": "is a link to a folder; links to folders are not followed in a commit",
}


class CommittedFiles:
    """The files of a tree with these suffixes, and the targets of links inside it. `label` is its name in messages.

    Any other link raises: a commit must not disclose files of the machine that compares it.
    """

    def __init__(
        self,
        repository: Repository,
        tree: str,
        label: Path,
        suffixes: tuple[str, ...] = (".yaml", ".yml"),
        max_size: int = confined_folder.MAX_SIZE,
    ) -> None:
        self.repository, self.tree, self.label = repository, tree, label
        self.suffixes, self.max_size = suffixes, max_size
        self.warnings: list[str] = []
        entries = repository.entries(tree)
        refuse_bare_files(label, (entry.path for entry in entries))
        visible = list(filter(self._is_visible, entries))
        targets = repository.link_targets(tree, [entry for entry in visible if entry.mode == _LINK])
        remaining = iter(targets)
        self.files = [file for entry in visible for file in self._files(entry, remaining)]
        if sum(file.size for file in self.files) > MAX_COMMIT:
            raise FlatpanelError(f"{label}: has files of more than {MAX_COMMIT >> 30} GiB together")

    def _is_visible(self, entry: TreeEntry) -> bool:
        """Whether a file is read: as in a folder, hidden ones are not."""
        parts = entry.path.split("/")
        if not {"", ".", ".."}.isdisjoint(parts):
            raise self._refusal(entry, "is not a path that git checks out")
        return not any(part.startswith(".") for part in parts)

    def _files(self, entry: TreeEntry, targets: Iterator[tuple[str, TreeEntry]]) -> Iterator[TreeEntry]:
        """The file of an entry, if it is read. `targets` are those of the next links."""
        if entry.mode == _SUBMODULE:
            self.warnings.append(self._sentence(entry, "is a submodule; skipped"))
            return
        if entry.mode == _LINK:
            if "\n" in entry.path:  # would be two queries
                raise self._refusal(entry, _REFUSALS["symlink"])
            kind, entry = next(targets)
            if kind != "blob":
                raise self._refusal(entry, _REFUSALS.get(kind, "is a broken link"))
        if entry.path.endswith(self.suffixes):
            if entry.size > self.max_size:
                raise self._refusal(entry, f"has more than {self.max_size >> 20} MiB; split it")
            yield entry

    def _refusal(self, entry: TreeEntry, message: str) -> FlatpanelError:
        return FlatpanelError(self._sentence(entry, message))

    def _sentence(self, entry: TreeEntry, message: str) -> str:
        return f"{self.label / entry.path}: {message}"


# Folders that git would use as a repository although they have no `.git`: their `config` can run programs

_BARE = "makes git use this folder as a repository and run the programs that its config names; remove it"


def is_bare(names: Iterable[str]) -> bool:
    """Whether git may use a folder with these entries as a repository.

    `commondir` names another folder with `objects` and `refs`. Some file systems ignore case.
    """
    lowered = {name.lower() for name in names}
    return "head" in lowered and (lowered >= {"objects", "refs"} or "commondir" in lowered)


def refuse_bare_folders(catalog: Path) -> None:
    """Raise if git would use the catalog, or a folder in it, as a repository."""
    _refuse(catalog, _walk(os.path.realpath(catalog)))


def refuse_bare_files(catalog: Path, files: Iterable[str]) -> None:
    """The same for a catalog that is not on the disk, given the paths of its files."""
    folders: dict[str, set[str]] = {}
    for path in files:
        name = path
        while name:
            path, _, name = path.rpartition("/")
            if name in folders.setdefault(path, set()):
                break
            folders[path].add(name)
    _refuse(catalog, folders.items())


def _refuse(catalog: Path, folders: Iterable[tuple[str, Iterable[str]]]) -> None:
    heads = [str(catalog / folder / "HEAD") for folder, names in folders if is_bare(names)]
    if heads:
        raise CatalogError(Problem(file, 1, 1, "", _BARE) for file in heads)


def _walk(root: str) -> Iterator[tuple[str, list[str]]]:
    """Each folder with the names in it, hidden ones included. Links and `.git`, which no commit has, are skipped."""
    pending = ["."]
    while pending:
        folder, entries = pending.pop(), list[os.DirEntry[str]]()
        with suppress(OSError), os.scandir(os.path.join(root, folder)) as scan:
            entries += scan
        yield folder, [entry.name for entry in entries]
        subfolders = (entry.name for entry in entries if entry.name != ".git" and entry.is_dir(follow_symlinks=False))
        pending += (os.path.normpath(os.path.join(folder, name)) for name in subfolders)
