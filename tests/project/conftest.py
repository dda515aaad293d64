"""The archives of the project, and an environment with the wheel. All tests of a worker only read them."""

from pathlib import Path

import pytest

from tests.support import archives


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return archives.packages(tmp_path_factory.mktemp("archives"), umask=0o022, date=1_600_000_000, seed="1")


@pytest.fixture(scope="session")
def commands(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of a virtual environment with the wheel installed."""
    return archives.installed(archives.named(packages, ".whl"), tmp_path_factory.mktemp("installed"))
