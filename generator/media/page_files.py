"""The pages of a new chapter: read from a folder or an archive, checked, and put into the folder of the media.

Archives may be hostile: sizes are limited, and links, passwords and repeated names are refused.
"""

import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import IO

from .. import filesystem
from ..catalog import confined_folder
from ..catalog.confined_folder import ConfinedFolder
from ..errors import FlatpanelError, counted
from . import image_content, page_images
from .page_images import PageImages

# A page of 40 megapixels has less; a chapter of 1,000 such pages has less.
MAX_PAGE = 64 << 20
MAX_CHAPTER = 4 << 30
# Names that a message quotes.
_QUOTED = 3


@dataclass(frozen=True, slots=True)
class PageFiles:
    """The pages of a folder or an archive, and the folder below the media that gets them."""

    source: ConfinedFolder
    images: PageImages
    media: ConfinedFolder
    folder: str
    # The pages of other versions of the chapter, which has one folder for all of them.
    shared: frozenset[str]

    def check(self) -> None:
        """Raise all problems at once: pages that are no complete image, and files that would be replaced."""
        existing = self._existing()
        problems = [self._other_files(existing - set(self.images.pages) - self.shared)]
        for name, data in self._pages():
            place = f"{self.source}: {name}"
            if fault := image_content.examine(BytesIO(data)).fault:
                problems.append(f"{place}: {fault}; replace it")
            if name in existing and self.media.content(f"{self.folder}{name}", MAX_PAGE)[0] != data:
                file = self.media / f"{self.folder}{name}"
                advice = "move it away, or use another --number"
                if name in self.shared:
                    advice = "it is a page of another version of the chapter, so rename the image in the new pages"
                problems.append(f"{file}: already exists with other content; {advice}")
        if any(problems):
            raise FlatpanelError(*filter(None, problems))

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Write the pages; remove those that did not exist before, if the block or a write fails."""
        filesystem.make_folder(self.media.path)
        with ExitStack() as undo:
            for name, data in self._pages():
                file = f"{self.folder}{name}"
                if not os.path.lexists(self.media / file):
                    undo.callback(self.media.delete, file)
                self.media.write(file, data)
            yield
            undo.pop_all()

    def _existing(self) -> set[str]:
        try:
            return set(self.media.names(self.folder.rstrip("/")))
        except FileNotFoundError:
            return set()

    def _other_files(self, names: set[str]) -> str:
        if not names:
            return ""
        examples = ", ".join(sorted(names)[:_QUOTED])
        advice = "move them away, or use another --number"
        others = counted(len(names), "other file")
        return f"{self.media / self.folder}: already contains {others}, such as {examples}; {advice}"

    def _pages(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the content of each page."""
        path = self.source.path
        remaining = MAX_CHAPTER
        with page_images.readable(path):
            for name, data in self._folder_pages() if path.is_dir() else self._archive_pages():
                remaining -= len(data)
                if remaining < 0:
                    raise FlatpanelError(f"{path}: pages have more than {MAX_CHAPTER >> 30} GiB; split the chapter")
                yield name, data

    @property
    def _prefix(self) -> str:
        return "" if self.images.folder == "." else f"{self.images.folder}/"

    def _folder_pages(self) -> Iterator[tuple[str, bytes]]:
        for name in self.images.pages:
            with confined_folder.reading(self.source, self._prefix + name) as file:
                yield name, self._limited(name, file)

    def _archive_pages(self) -> Iterator[tuple[str, bytes]]:
        with page_images.open_archive(self.source.path) as archive:
            members: dict[str, list[zipfile.ZipInfo]] = {}
            for member in archive.infolist():
                members.setdefault(member.filename, []).append(member)
            for name in self.images.pages:
                with archive.open(name=self._only(name, members.get(self._prefix + name, []))) as file:
                    yield name, self._limited(name, file)

    def _only(self, name: str, members: list[zipfile.ZipInfo]) -> zipfile.ZipInfo:
        fault = ""
        if len(members) != 1:
            fault = f"is {len(members)} times in the archive"
        elif not page_images.is_streamed(members[0]):
            fault = "is encrypted or has an unsupported compression"
        elif stat.S_ISLNK(members[0].external_attr >> 16):
            fault = "is a link"
        if fault:
            raise FlatpanelError(f"{self.source}: {name}: {fault}; pack the archive again")
        return members[0]

    def _limited(self, name: str, file: IO[bytes]) -> bytes:
        data = file.read(MAX_PAGE + 1)
        if len(data) > MAX_PAGE:
            raise FlatpanelError(f"{self.source}: {name}: has more than {MAX_PAGE >> 20} MiB; make the image smaller")
        return data
