"""The files of a catalog at a commit that a build reads. They are chosen from git's tree, without a checkout."""

from collections.abc import Iterator
from pathlib import Path

from ..errors import FlatpanelError
from . import bare_repositories, confined_folder
from .git import Repository, TreeEntry

_LINK, _SUBMODULE = "120000", "160000"
_REFUSED = {
    "symlink": "leads out of the catalog; of a commit it is not followed",
    "tree": "is a link to a folder; of a commit it is not followed",
}


class CommittedFiles:
    """Regular files, and those that links inside the catalog lead to. `called` is the name of the catalog in messages.

    Anything else is refused: who writes a commit may not have files of the machine told that compares it.
    """

    def __init__(self, repository: Repository, tree: str, called: Path) -> None:
        self.repository, self.tree, self.called = repository, tree, called
        self.warnings: list[str] = []
        items = repository.items(tree)
        bare_repositories.refuse_in_files(called, (item.path for item in items))
        self.files = [file for item in items for file in self._files(item)]

    def _files(self, item: TreeEntry) -> Iterator[TreeEntry]:
        parts = item.path.split("/")
        if not {"", ".", ".."}.isdisjoint(parts):
            raise self._refusal(item, "is no path that git checks out")
        if any(part.startswith(".") for part in parts):
            return  # as in a folder, hidden files are not read
        if item.mode == _SUBMODULE:
            self.warnings.append(self._sentence(item, "is a submodule; of a commit it is left out"))
            return
        if item.mode == _LINK:
            kind, item = self.repository.linked(self.tree, item)
            if kind != "blob":
                raise self._refusal(item, _REFUSED.get(kind, "is a link that leads nowhere"))
        if item.path.endswith((".yaml", ".yml")):
            if item.size > confined_folder.MAX_SIZE:
                raise self._refusal(item, f"has more than {confined_folder.MAX_SIZE >> 20} MiB; divide it")
            yield item

    def _refusal(self, item: TreeEntry, message: str) -> FlatpanelError:
        return FlatpanelError(self._sentence(item, message))

    def _sentence(self, item: TreeEntry, message: str) -> str:
        return f"{self.called / item.path}: {message}"
