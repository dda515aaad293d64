"""The target of a publish and the objects in its bucket. The only importer of obstore, which is an optional library."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, NamedTuple

from .... import installation
from ....errors import FlatpanelError

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


# Keys in one request; the limit of S3.
DELETED_AT_ONCE = 1000
_BACKOFF: Any = {"init_backoff": timedelta(milliseconds=200), "max_backoff": timedelta(seconds=10), "base": 2}


class Conflict(FlatpanelError):
    """An object was changed by another publisher."""


class Stored(NamedTuple):
    """An object of the bucket, and the tag that names this version of it."""

    data: bytes
    tag: str


class Bucket:
    """The objects below the prefix of a target.

    A conditional write changes an object only if it still is what it was. Some stores ignore the condition.
    """

    def __init__(self, target: BucketTarget, connection: Connection) -> None:
        try:
            import obstore
            from obstore.store import S3Store
        except ImportError:
            raise FlatpanelError(
                f"publishing to a bucket needs the library obstore; install it: {installation.how_to_add('obstore')}"
            ) from None
        self.target, self._api, self._endpoint = target, obstore, connection.endpoint
        # False for a store that refuses or ignores conditions.
        self.is_conditional = True
        settings: dict[str, Any] = {"endpoint": connection.endpoint, "region": connection.region}
        with self._translated():
            self._store = S3Store(
                target.bucket,
                prefix=target.prefix or None,
                client_options={
                    "allow_http": True,
                    "timeout": f"{connection.seconds}s",
                    "connect_timeout": "10s",
                },
                retry_config={
                    "max_retries": connection.retries,
                    "retry_timeout": timedelta(minutes=4),
                    "backoff": _BACKOFF,
                },
                **{name: value for name, value in settings.items() if value},
            )

    def get(self, key: str) -> Stored | None:
        """The object of a key, or None."""
        with self._translated(), suppress(FileNotFoundError):
            result = self._get(key)
            return Stored(bytes(result.bytes()), _tag(result.meta["e_tag"]))
        return None

    def attributes(self, key: str) -> Mapping[str, str]:
        """The headers that the store sends with an object; none for a missing one."""
        with self._translated(), suppress(FileNotFoundError):
            return dict(self._get(key, {"head": True}).attributes)
        return {}

    def put(self, key: str, data: bytes, headers: Mapping[str, str]) -> str:
        """Write an object in one part, and return its tag."""
        with self._translated():
            return self._put(key, data, headers, "overwrite")

    def swap(self, key: str, data: bytes, headers: Mapping[str, str], old: str | None) -> str:
        """Write an object that still has the tag `old`, or that does not exist yet, and return its tag."""
        if not self.is_conditional:
            return self.put(key, data, headers)
        with self._translated():
            try:
                return self._put(key, data, headers, {"e_tag": f'"{old}"'} if old else "create")
            except (self._api.exceptions.AlreadyExistsError, self._api.exceptions.PreconditionError):
                pass
        # A repeated request meets its own first try, whose response was lost.
        stored = self.get(key)
        if stored and stored.data == data:
            return stored.tag
        raise Conflict(f"{self.target}: another publish has changed {key}")

    def delete(self, keys: Sequence[str]) -> None:
        """Remove up to DELETED_AT_ONCE objects; missing ones are no error."""
        with self._translated(), suppress(FileNotFoundError):
            self._api.delete(self._store, list(keys))

    def tags(self) -> Iterator[tuple[str, str]]:
        """The key and the tag of every object below the prefix."""
        with self._translated():
            for objects in self._api.list(self._store):
                for meta in objects:
                    yield meta["path"], _tag(meta["e_tag"])

    def _get(self, key: str, options: Any = None) -> Any:
        try:
            return self._api.get(self._store, key, options=options)
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise _explained(error, self.target, self._endpoint) from None
            raise

    def _put(self, key: str, data: bytes, headers: Mapping[str, str], mode: Any) -> str:
        # The ETag of several parts is no MD5, and clients would get another ETag than from nginx.
        result = self._api.put(self._store, key, data, attributes=dict(headers), mode=mode, use_multipart=False)
        return _tag(result["e_tag"])

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Errors of the library as sentences."""
        try:
            yield
        except (self._api.exceptions.BaseError, FileNotFoundError, ValueError) as error:
            raise _explained(error, self.target, self._endpoint) from None


def _tag(header: str | None) -> str:
    """A tag without quotes; empty if the store sends none."""
    return (header or "").strip('"')


# The library describes an error in many lines. Its parts make one sentence.

_STATUS = re.compile(r"status code: (\d+)")
_CODE = re.compile(r"<Code>([^<]+)</Code>")
_MESSAGE = re.compile(r"<Message>([^<]+)</Message>")
# The address of the service that gives credentials to machines in a cloud. It is asked if the environment has none.
_MACHINE = "169.254.169.254"
_REFUSED = {401, 403}
_BUSY = {429, 500, 502, 503, 504}


def _explained(error: Exception, target: BucketTarget, endpoint: str) -> FlatpanelError:
    return FlatpanelError(f"{target}: {_sentence(str(error), target, endpoint or 'the endpoint of the environment')}")


def _sentence(text: str, target: BucketTarget, store: str) -> str:
    status, code, message = (_first(pattern, text) for pattern in (_STATUS, _CODE, _MESSAGE))
    answer = ": ".join(filter(None, (status, code, message)))
    if _MACHINE in text:
        return "no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    if code == "NoSuchBucket":
        return f"the bucket {target.bucket} does not exist at {store}; create it, or check the endpoint"
    if status and int(status) in _REFUSED:
        return f"the store refuses this ({answer}); check the credentials and what they permit in the bucket"
    if status and int(status) in _BUSY:
        return f"the store is busy or broken ({answer}); run it again later, what was sent is not sent again"
    if "redirect" in text:
        return f"{store} sends this to another place; check --region and --endpoint"
    if status:
        return f"{store} does not answer like an object store ({answer}); check --endpoint and --region"
    if "error sending request" in text or "timed out" in text:
        return f"no connection to {store}; check --endpoint and the network"
    return text.partition("\n")[0]


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""
