"""The status of `serve --preview`: files that nginx serves at /preview/, for the script of the pages in a browser."""

from pathlib import Path
from typing import Any

from .. import encoding, filesystem
from ..errors import FlatpanelError
from ..escaping import escaped
from ..templating import Templates
from .reporting import problem_records, sentences

_FILES = Path(__file__).parent / "preview_files"
_TEMPLATES = Templates(_FILES)
_WITHOUT_PLACE: dict[str, Any] = {"file": "", "line": 0, "column": 0, "field": ""}


class PreviewStatus:
    """The release that is live, whether a build is running, and the problems of the catalog."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.release = folder, ""
        self.problems: list[dict[str, Any]] = []
        for name in ("preview.css", "preview.js"):
            filesystem.write(folder / name, (_FILES / name).read_bytes())
        self._write(building=True)

    def begin_build(self) -> None:
        self._write(building=True)

    def succeed(self, release: str) -> None:
        self.release, self.problems = release, []
        self._write()

    def fail(self, error: FlatpanelError | OSError) -> None:
        """The last release stays live; without any, nginx serves a page with the problems."""
        records = problem_records(error) or [_WITHOUT_PLACE | {"message": sentence} for sentence in sentences(error)]
        # A file name may have bytes that are no text.
        self.problems = [
            {name: escaped(value) if isinstance(value, str) else value for name, value in record.items()}
            for record in records
        ]
        self._write()

    def _write(self, *, building: bool = False) -> None:
        page = _TEMPLATES.render("problems.html", {"problems": self.problems})
        filesystem.replace(self.folder / "problems.html", page)
        state = {"release": self.release, "building": building, "problems": self.problems}
        filesystem.replace(self.folder / "state.json", encoding.json(state))
