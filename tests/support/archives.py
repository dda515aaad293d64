"""The archives that the project is handed on as, and a Python into which one of them is installed."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.paths import ROOT

needs_hatchling = pytest.mark.skipif(not find_spec("hatchling"), reason="hatchling comes with requirements/dev.txt")
BUILD = (
    "import sys; from hatchling import build;"
    "print(build.build_sdist(sys.argv[1])); print(build.build_wheel(sys.argv[1]))"
)


def packages(folder: Path, *, umask: int, date: int, seed: str) -> dict[str, Path]:
    """The two archives, built from a copy of the project in another environment."""
    before = os.umask(umask)
    try:
        copied = folder / "sources"
        for name in ("generator", "catalog_src"):
            shutil.copytree(
                ROOT / name, copied / name, ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copyfile
            )
        for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "build.py"):
            shutil.copyfile(ROOT / name, copied / name)
        for path in copied.rglob("*"):
            os.utime(path, (date, date))
        return made_of(copied, folder / "out", PYTHONHASHSEED=seed, TZ=f"XYZ{seed}")
    finally:
        os.umask(before)


def made_of(sources: Path, folder: Path, **environment: str) -> dict[str, Path]:
    """The two archives that a folder of sources becomes, by their names. No other program is needed, such as git."""
    folder.mkdir()
    # Run from sources first, so that imports leave their files there.
    compiled = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)],
        cwd=sources,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1795266000", "PATH": "", **environment},
    )
    return {name: folder / name for name in compiled.stdout.split()}


def installed(wheel: Path, folder: Path) -> Path:
    """The folder of the commands of a new virtual environment with this wheel, made without a network.

    What the wheel depends on is not installed again: the environment looks for it where we have it.
    """
    run = {"check": True, "capture_output": True, "env": unmeasured()}
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], **run)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet"]
    subprocess.run([*pip, "--no-index", "--no-deps", "--disable-pip-version-check", wheel], **run)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    ours = dict.fromkeys(sysconfig.get_path(one) for one in ("purelib", "platlib"))
    (site_packages / "ours.pth").write_text("".join(f"{path}\n" for path in ours))
    return folder / "bin"


def copy_example(folder: Path) -> None:
    """The example catalog for a public site: a build warns of the address that it has here."""
    shutil.copytree(ROOT / "catalog_src", folder / "catalog_src")
    settings = folder / "catalog_src/site.yaml"
    text = settings.read_text(encoding="utf-8")
    assert text.count("base_url: http://localhost:8000\n") == 1
    settings.write_text(text.replace("http://localhost:8000", "https://comics.example"), encoding="utf-8")


def unpack(archive: Path, folder: Path) -> None:
    """The content of an archive of sources. Python 3.11.2 has no filters, and takes no argument for one."""
    with tarfile.open(archive) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", None)
        opened.extractall(folder)


def named(archives: dict[str, Path], end: str) -> Path:
    """The archive whose name ends like this."""
    (found,) = (path for name, path in archives.items() if name.endswith(end))
    return found


def unmeasured() -> dict[str, str]:
    """The environment for what is no part of what is tested here line by line."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("COVERAGE_", "PYTHONPATH"))}
