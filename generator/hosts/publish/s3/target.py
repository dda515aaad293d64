"""The target of a publish: a bucket, a prefix in it, and how to reach the store."""

import re
from typing import NamedTuple

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX = re.compile(r"(?!\.{1,2}(?:/|\Z))[-\w.~ ]+(?:/(?!\.{1,2}(?:/|\Z))[-\w.~ ]+)*")


class BucketTarget(NamedTuple):
    """A bucket and a prefix, without slashes around it."""

    bucket: str
    prefix: str

    @classmethod
    def of(cls, url: str) -> "BucketTarget":
        """Parse s3://bucket/prefix. Raises ValueError; its message continues the URL."""
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        prefix = prefix.removesuffix("/")
        if not _BUCKET.fullmatch(bucket):
            raise ValueError("should name a bucket: 3 to 63 lowercase letters, digits, dots and hyphens")
        if prefix and not _PREFIX.fullmatch(prefix):
            raise ValueError("should have a prefix of letters, digits and - . _ ~, with single slashes")
        return cls(bucket, prefix)

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".removesuffix("/")


class Connection(NamedTuple):
    """How requests are made. An empty endpoint or region is that of the environment."""

    endpoint: str = ""
    region: str = ""
    seconds: int = 60
    retries: int = 6
