"""The files of a catalog at a commit, chosen from git's tree without a checkout."""

from collections.abc import Iterator
from pathlib import Path

from ..errors import FlatpanelError
from . import bare_repositories, confined_folder
from .git import Repository, TreeEntry

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
        bare_repositories.refuse_in_files(label, (entry.path for entry in entries))
        self.files = [file for entry in entries for file in self._files(entry)]

    def _files(self, entry: TreeEntry) -> Iterator[TreeEntry]:
        parts = entry.path.split("/")
        if not {"", ".", ".."}.isdisjoint(parts):
            raise self._refusal(entry, "is not a path that git checks out")
        if any(part.startswith(".") for part in parts):
            return  # as in a folder, hidden files are not read
        if entry.mode == _SUBMODULE:
            self.warnings.append(self._sentence(entry, "is a submodule; skipped"))
            return
        if entry.mode == _LINK:
            kind, entry = self.repository.link_target(self.tree, entry)
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
