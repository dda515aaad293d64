"""The original service and its database, for imports into an empty project."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.import_project import FirstImports, Project, project, recorded_database
from tests.support.real_service import RealService, real_service


@pytest.fixture(scope="session")
def replay() -> Iterator[RealService]:
    with real_service() as service:
        yield service


@pytest.fixture(scope="session")
def first_import(replay: RealService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FirstImports]:
    with ExitStack() as stack:
        yield FirstImports(replay, tmp_path_factory.mktemp("first"), stack)


@pytest.fixture
def service(replay: RealService) -> RealService:
    """The usual site."""
    replay.reset()
    return replay


@pytest.fixture
def fresh(service: RealService, tmp_path: Path) -> Project:
    """An empty project, and the usual site."""
    return project(tmp_path / "project", service)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return recorded_database(tmp_path)
