"""Runs the program in a process of its own, and measures the whole process."""

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
    # Processor time of the process and of its children.
    processor: float
    # Peak memory of the largest process, in bytes. Linux reports a child as at least as large as its parent was at
    # the start, so this package must stay small until the last build is measured.
    peak: int


@dataclass(frozen=True)
class Site:
    """A folder with a catalog and its build."""

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
        """Write the catalog; return its size."""
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


def run(*command: str, quiet: bool = False) -> Run:
    # As on most machines, Python stores compiled modules.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    output = subprocess.DEVNULL if quiet else None
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def remove(*paths: Path) -> None:
    subprocess.run(["rm", "-rf", *paths], check=True)


@cache
def has_cache() -> bool:
    """Whether this version of the program has a cache."""
    help_text = subprocess.run(
        [sys.executable, "build.py", "build", "--help"], cwd=ROOT, capture_output=True, text=True
    )
    return "--cache" in help_text.stdout
