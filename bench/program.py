"""The program, run as people run it: a process of its own, from its first instruction to its last."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from . import catalogs

ROOT = Path(__file__).parents[1]
AS_OF = "2026-06-01"


@dataclass(frozen=True)
class Run:
    seconds: float
    # What the largest of its processes held at once, in bytes. Linux reports a process that was started by a large
    # one as at least as large, so nothing in this package may grow before the last build is measured.
    peak: int


@dataclass(frozen=True)
class Site:
    """A folder with a catalog and what is built from it."""

    folder: Path
    series: int
    chapters: int

    @property
    def catalog(self) -> Path:
        return self.folder / "catalog"

    @property
    def dist(self) -> Path:
        return self.folder / "dist"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    def write(self) -> int:
        """The catalog; answers with its size."""
        return catalogs.write(self.catalog, series=self.series, chapters=self.chapters)

    def build(self, jobs: int = 1) -> Run:
        command = [sys.executable, "build.py", "build", "--quiet", "--as-of", AS_OF, "--jobs", str(jobs)]
        command += ["--catalog", str(self.catalog), "--out", str(self.dist), "--nginx", str(self.folder / "nginx.conf")]
        if has_cache():
            command += ["--cache", str(self.cache)]
        return run(*command)

    def build_from_nothing(self, jobs: int = 1) -> Run:
        remove(self.dist, self.cache)
        return self.build(jobs)


def run(*command: str) -> Run:
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Run(seconds, usage.ru_maxrss * 1024)


def remove(*paths: Path) -> None:
    subprocess.run(["rm", "-rf", *paths], check=True)


@cache
def has_cache() -> bool:
    """Whether this program's builds can start from what the last one kept."""
    said = subprocess.run([sys.executable, "build.py", "build", "--help"], cwd=ROOT, capture_output=True, text=True)
    return "--cache" in said.stdout
