"""`views` reads at most the length of a valid line into memory, however long a line is."""

import gzip
import tracemalloc
from collections.abc import Callable

import pytest

from generator.authoring import view_counts
from tests.conftest import Site
from tests.support.author_catalogs import Run, counts, line, lines

MIB = 1 << 20
# Of zeros: 32 MiB make a gzip of 32 kB.
LONG = bytes(16 * MIB)


@pytest.mark.bounds
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("before", "after", "counted"),
    [("", "", 0), (line(1), "", 1), ("", "\n" + line(1), 1), (line(1)[:-1], "\n" + line(2), 1)],
    ids=["nothing else", "after a view", "before a view", "in a view"],
)
def test_a_line_without_end_takes_no_memory(
    counting: Site, add_views: Run, pack: Callable[[bytes], bytes], before: str, after: str, counted: int
) -> None:
    """It is one invalid line; the lines before and after it are counted."""
    packed = pack(before.encode() + LONG + after.encode())
    add_views(lines(9, chapter=2))
    tracemalloc.start()
    result = add_views(packed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert result.exit_code == 0
    assert f"{counted} view{'s' * (counted != 1)} added" in result.stdout
    assert "views.log.0: 1 line invalid, skipped" in result.stderr
    assert counts(counting) == ("1: 1\n" if counted else "") + "2: 1\n"
    assert peak < 8 * MIB


@pytest.mark.parametrize("length", [1, 254, 255, 256, 257, 65_536 + 255, 65_536 + 256, 65_536 + 257])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_each_line_is_read_once(tmp_path_factory: pytest.TempPathFactory, length: int, end: bytes) -> None:
    """For all sizes of blocks."""
    path = tmp_path_factory.mktemp("lines") / "log"
    path.write_bytes(b"a\n" + b"x" * length + b"\n" + b"b\n" + b"y" * length + end)
    with path.open("rb") as log:
        lines = list(view_counts.log_lines(log))

    assert [line[:1] for line in lines] == [b"a", b"x", b"b", b"y"]
    assert max(map(len, lines)) <= 256
