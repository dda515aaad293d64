"""One store of each kind for the tests of a worker; each test has a prefix of its own."""

from collections.abc import Iterator

import pytest

from tests.support import object_stores
from tests.support.node_tools import S3RVER
from tests.support.object_stores import ObjectStore


@pytest.fixture(scope="session")
def seaweed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_stores.seaweed(tmp_path_factory.mktemp("stores") / "seaweed") as store:
        yield store


@pytest.fixture(scope="session")
def moto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_stores.moto(tmp_path_factory.mktemp("stores") / "moto") as store:
        yield store


@pytest.fixture(scope="session")
def s3rver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    assert S3RVER.exists()
    with object_stores.s3rver(tmp_path_factory.mktemp("stores") / "s3rver") as store:
        yield store
